//! TOML syntax errors, explained in plain sentences.
//!
//! ```text
//! scenario.toml:3:8: `80 MB/s` is not a value: only numbers, true and false go without quotes,
//!   expected "80 MB/s"
//!   rate = 80 MB/s
//!          ^
//! ```

use crate::position::Positions;
use crate::{InputError, Origin, words};
use toml::Spanned;
use toml::de::{DeTable, Error};

/// Maximum lengths, in characters, of the excerpt of a long line and of its part before the error.
const EXCERPT_CHARACTERS: usize = 72;
const EXCERPT_CHARACTERS_BEFORE: usize = 40;

/// Fragments of parser messages, each with our wording and the expected text. The first match
/// applies.
const SENTENCES: [(&str, &str, &str); 20] = [
    ("key with no value", "a key stands alone", "`=` and a value after it"),
    ("unquoted keys cannot be empty", "a key is missing", ""),
    ("missing key", "a key is missing", ""),
    ("invalid key-value pair", "a key is missing", ""),
    ("unclosed array table", "the heading is not closed", "`]]`"),
    ("unclosed table", "the heading is not closed", "`]`"),
    ("unclosed array", "the list is not closed", "`]`"),
    ("unclosed inline table", "the table is not closed", "`}`"),
    ("missing comma between array", "the list is not closed, or a comma is missing", ""),
    ("missing comma", "the table is not closed, or a comma is missing", ""),
    ("extra comma", "a comma has nothing before it", ""),
    ("extra `=`", "one `=` is enough", ""),
    ("unexpected leading zero", "a number does not start with 0", ""),
    ("unexpected key or value", "something is left over", "the end of the line"),
    ("missing escaped value", "`\\` in text starts an escape", "`\\\\` for a `\\` itself"),
    ("invalid fraction", "a number needs digits after its point", ""),
    ("invalid mantissa", "a number needs digits before its point", ""),
    ("recursion", "the nesting is too deep", ""),
    ("recurse", "the nesting is too deep", ""),
    ("carriage return", "a carriage return without a line feed", ""),
];

pub(crate) fn parse<'a>(source: &str, text: &'a str) -> Result<Spanned<DeTable<'a>>, InputError> {
    if let Some(offset) = text.find('\0') {
        let message = "a byte of value 0: this is not a text file".to_owned();
        return Err(error(source, text, offset, message, None));
    }
    let (table, slips) = DeTable::parse_recoverable(text);
    let first = slips.into_iter().min_by_key(|slip| start(slip).unwrap_or(text.len()));
    match first {
        None => Ok(table),
        Some(slip) => Err(explain(source, text, &slip)),
    }
}

pub(crate) fn not_text(source: &str, bytes: &[u8], fault: std::str::Utf8Error) -> InputError {
    let offset = fault.valid_up_to();
    let text = str::from_utf8(&bytes[..offset]).expect("UTF-8 up to there");
    let (line, column) = Positions::of(text).at(offset);
    let message = format!("the byte 0x{:02x} is not UTF-8 text", bytes[offset]);
    InputError::from_parts(source, Some(line), Some(column), None, message, [], None)
}

fn start(slip: &Error) -> Option<usize> {
    slip.span().map(|span| span.start)
}

fn explain(source: &str, text: &str, slip: &Error) -> InputError {
    let at = slip.span().and_then(|span| text.get(span)).unwrap_or("");
    let (what, wanted) = slip.message().split_once(", expected ").unwrap_or((slip.message(), ""));
    let (message, expected) = sentence(what, at, wanted);
    let expected = Some(expected).filter(|expected| !expected.is_empty());
    match start(slip) {
        // The comma is missing after the preceding value, often on an earlier line.
        Some(start) if what.starts_with("missing comma") => {
            let written = text.get(..start).map_or(start, |before| before.trim_end().len());
            error(source, text, written, message, expected)
        }
        Some(start) => error(source, text, start, message, expected),
        None => InputError::new(Origin::whole(source), message).expecting(expected),
    }
}

fn sentence(what: &str, at: &str, wanted: &str) -> (String, String) {
    let short = words::clip(at, 60);
    let is_word = at.starts_with(|c: char| c.is_alphabetic());
    if what.starts_with("string values must be quoted")
        || (is_word && (what.starts_with("invalid float") || what.starts_with("invalid boolean")))
    {
        return bare_words(&short);
    }
    let says = |message: &str, expected: &str| (message.to_owned(), expected.to_owned());
    if what == "invalid unquoted key" {
        let colon = at.starts_with(':');
        let legal = if colon { "`=` between key and value" } else { "letters, digits, - or _" };
        (format!("`{short}` needs quotes in a key"), legal.to_owned())
    } else if what == "duplicate key" {
        (format!("`{short}` is given twice"), String::new())
    } else if what.starts_with("cannot extend value") {
        (format!("`{short}` has a value already, which takes no keys"), String::new())
    } else if what.contains("string") && wanted.contains("visible") {
        says("the text contains a control character", "")
    } else if what.contains("string") {
        says("the text is not closed", wanted)
    } else if let Some((_, ours, legal)) = SENTENCES.iter().find(|(part, ..)| what.contains(part)) {
        says(ours, legal)
    } else {
        says(what, if wanted == "nothing" { "" } else { wanted })
    }
}

fn bare_words(at: &str) -> (String, String) {
    if at.is_empty() {
        return ("a value is missing".to_owned(), "a number, or text in quotes".to_owned());
    }
    let truth = at.to_lowercase();
    let expected = match &*truth {
        "true" | "false" => truth,
        _ => format!("\"{}\"", at.replace(['"', '\''], "")),
    };
    (format!("`{at}` is not a value: only numbers, true and false go without quotes"), expected)
}

fn error(
    source: &str,
    text: &str,
    offset: usize,
    message: String,
    expected: Option<String>,
) -> InputError {
    let positions = Positions::of(text);
    let (line, column) = positions.at(offset);
    InputError::from_parts(source, Some(line), Some(column), None, message, expected, None)
        .showing(excerpt(positions.line(offset), column))
}

fn excerpt(line: &str, column: u32) -> String {
    let before = usize::try_from(column).unwrap_or(usize::MAX) - 1;
    let skipped = match line.chars().count() {
        count if count <= EXCERPT_CHARACTERS => 0,
        _ => before.saturating_sub(EXCERPT_CHARACTERS_BEFORE),
    };
    let rest: String = line.chars().skip(skipped).collect();
    let cut = if skipped == 0 { "" } else { "…" };
    let shown = words::clip(&rest, EXCERPT_CHARACTERS);
    let mark = before - skipped + cut.chars().count();
    format!("  {cut}{shown}\n  {:mark$}^", "")
}
