//! Plain wording for error messages.

use serde::de::Unexpected;

pub(crate) fn clip(text: &str, characters_max: usize) -> String {
    let mut characters = text.chars();
    let mut clipped: String = characters.by_ref().take(characters_max).map(visible).collect();
    if characters.next().is_some() {
        clipped.push('…');
    }
    clipped
}

pub(crate) fn visible(character: char) -> char {
    match character {
        '\t' | '\n' | '\r' => ' ',
        _ if character.is_control() => '\u{fffd}',
        _ => character,
    }
}

pub(crate) fn count(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

pub(crate) fn found(unexpected: Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Bool(truth) => truth.to_string(),
        Unexpected::Unsigned(number) => number.to_string(),
        Unexpected::Signed(number) => number.to_string(),
        Unexpected::Float(number) => format!("{number:?}"),
        Unexpected::Char(character) => format!("\"{}\"", visible(character)),
        Unexpected::Str(text) => format!("\"{}\"", clip(text, 60)),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

pub(crate) fn expected(words: &str) -> String {
    let count =
        words.strip_prefix("a tuple of size ").or(words.strip_prefix("an array of length "));
    if let Some(count) = count {
        return format!("a list of {count} values");
    }
    if words.starts_with("struct ") {
        return "a table".to_owned();
    }
    let plain = match words {
        "a string" | "a borrowed string" => "text in quotes",
        "a character" => "one character in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table",
        "f32" | "f64" | "a JSON number" => "a number",
        _ => return whole_number(words).unwrap_or_else(|| words.to_owned()),
    };
    plain.to_owned()
}

/// Describes the range of an integer type such as "u8" or "a nonzero u8".
fn whole_number(words: &str) -> Option<String> {
    let (low, kind) = match words.strip_prefix("a nonzero ") {
        Some(kind) => (1, kind),
        None => (0, words),
    };
    let between = |low: i64, high: i64| Some(format!("a whole number from {low} to {high}"));
    match kind {
        "u8" => between(low, u8::MAX.into()),
        "u16" => between(low, u16::MAX.into()),
        "u32" => between(low, u32::MAX.into()),
        "u64" | "u128" | "usize" => Some(format!("a whole number of {low} or more")),
        "i8" => between(i8::MIN.into(), i8::MAX.into()),
        "i16" => between(i16::MIN.into(), i16::MAX.into()),
        "i32" => between(i32::MIN.into(), i32::MAX.into()),
        "i64" | "i128" | "isize" => Some("a whole number".to_owned()),
        _ => None,
    }
}
