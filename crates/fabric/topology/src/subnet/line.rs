//! Parsing steps shared by the readers in this module.
//!
//! Error messages quote the whole line, because the input consists of columns of numbers.

use crate::Guid;
use crate::format::{FaultCode, FormatError, count};

#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) number: u32,
    /// Text without trailing whitespace.
    pub(super) text: &'a str,
}

pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.lines()
        .enumerate()
        .map(|(index, text)| Line { number: count(index + 1), text: text.trim_end() })
}

impl<'a> Line<'a> {
    pub(super) fn error(&self, expected: &str) -> FormatError {
        let shown = shown(self.text.trim_start());
        self.says(format!("cannot read {shown:?}"), format!("expected {expected}"))
    }

    pub(super) fn says(
        &self,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> FormatError {
        FormatError::at(self.number, None, message, expected)
    }

    pub(super) fn after(&self, word: &str) -> Option<&'a str> {
        self.text.find(word).map(|at| &self.text[at + word.len()..])
    }

    pub(super) fn guid_after(&self, word: &str) -> Option<Guid> {
        let after = self.after(word)?.trim_start();
        let end = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
        Guid::from_hexadecimal(&after[..end])
    }
}

/// Parses a decimal number, or a hexadecimal number with the prefix `0x`.
pub(super) fn number(word: &str) -> Option<u64> {
    let (digits, radix) = word.strip_prefix("0x").map_or((word, 10), |digits| (digits, 16));
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    is_number.then(|| u64::from_str_radix(digits, radix).ok()).flatten()
}

pub(super) fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    let mut shown: String = text.chars().take(SHOWN_MAX).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

/// Replaces control characters with blanks, for formats with one entry per line.
pub(super) fn on_one_line(description: &str) -> String {
    description.replace(char::is_control, " ")
}

pub(super) fn truncated(line: u32, what: &str) -> FormatError {
    FormatError::at(
        line,
        None,
        format!("the text looks truncated: {what}"),
        "take it again, and compare its length with the output of the program",
    )
    .coded(FaultCode::Truncated)
}

/// Rejects empty text and an incomplete last line.
pub(super) fn refuse_cut(text: &str, expected: &str) -> Result<(), FormatError> {
    if text.trim().is_empty() {
        return Err(FormatError::whole("the file is empty", expected).coded(FaultCode::Empty));
    }
    if text.ends_with('\n') {
        return Ok(());
    }
    let last = count(text.lines().count());
    Err(truncated(last, "its last line has no line break"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_decimal_or_hexadecimal_numbers_are_read() {
        let read = ["7", "0x1F", "007", "", "0x", "-1", "+1", "7a", "0xg", "99999999999999999999"]
            .map(number);
        let expected = [Some(7), Some(31), Some(7), None, None, None, None, None, None, None];
        assert_eq!(read, expected);
    }

    #[test]
    fn guid_ends_at_its_last_digit() {
        let line = Line { number: 3, text: "x guid 0x00aF (s1)" };
        assert_eq!(line.guid_after("guid"), Some(Guid(0xaf)));
        assert_eq!(line.guid_after("portguid"), None);
        let error = line.error("a number").to_string();
        assert_eq!(error, "line 3: cannot read \"x guid 0x00aF (s1)\"; expected a number");
    }

    #[test]
    fn text_without_final_newline_is_truncated() {
        assert!(refuse_cut("a\nb\n", "tables").is_ok());
        assert_eq!(refuse_cut("a\nb", "tables").unwrap_err().line, 2);
        assert_eq!(refuse_cut(" \n", "tables").unwrap_err().message, "the file is empty");
    }
}
