//! Cursor for parsing a line step by step.

use crate::Guid;
use std::str::FromStr;

#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    line: &'a str,
    at: usize,
    end: usize,
}

/// Error with a 1-based column in characters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LineError {
    pub(super) column: u32,
    pub(super) message: String,
    pub(super) expected: String,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        let end = line.trim_end_matches([' ', '\t', '\r']).len();
        let mut cursor = Self { line, at: 0, end };
        cursor.skip_blanks();
        cursor
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.line[self.at..self.end]
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.end
    }

    pub(super) fn skip_blanks(&mut self) {
        self.take_while(|c| c == ' ' || c == '\t');
    }

    pub(super) fn take(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.at += prefix.len();
        }
        found
    }

    pub(super) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    pub(super) fn word(&mut self) -> &'a str {
        self.skip_blanks();
        self.take_while(|c| c != ' ' && c != '\t')
    }

    /// Splits the rest of the line into the part before a byte offset and the part from `skip`
    /// bytes after it.
    pub(super) fn split(&self, offset: usize, skip: usize) -> (Self, Self) {
        let middle = self.at + offset;
        (Self { end: middle, ..*self }, Self { at: middle + skip, ..*self })
    }

    pub(super) fn number<T: FromStr>(&mut self, what: &str) -> Result<T, LineError> {
        let start = *self;
        let digits = self.take_while(|c| c.is_ascii_digit());
        digits.parse().map_err(|_| start.error(what))
    }

    pub(super) fn number_then<T: FromStr>(
        &mut self,
        what: &str,
        closing: &str,
    ) -> Result<T, LineError> {
        let number = self.number(what)?;
        if self.take(closing) { Ok(number) } else { Err(self.error(&format!("\"{closing}\""))) }
    }

    pub(super) fn guid_then_parenthesis(&mut self) -> Result<Guid, LineError> {
        const WHAT: &str = "a GUID in hexadecimal and \")\"";
        let start = *self;
        let digits = self.take_while(|c| c.is_ascii_hexdigit() || c == 'x' || c == 'X');
        let guid = Guid::from_hexadecimal(digits).ok_or_else(|| start.error(WHAT))?;
        if self.take(")") { Ok(guid) } else { Err(start.error(WHAT)) }
    }

    /// Parses a GUID: hexadecimal if it starts with 0x, contains a letter or has all 16 digits,
    /// otherwise decimal, as in ibsim.
    pub(super) fn guid(&mut self, what: &str) -> Result<Guid, LineError> {
        let mut after = *self;
        let digits = after.take_while(|c| c.is_ascii_hexdigit());
        let is_bare = digits.len() == 16 || digits.contains(|c: char| c.is_ascii_alphabetic());
        if is_bare && let Some(guid) = Guid::from_hexadecimal(digits) {
            *self = after;
            return Ok(guid);
        }
        self.hexadecimal(what).map(Guid)
    }

    /// Parses a number: hexadecimal after 0x, otherwise decimal.
    pub(super) fn hexadecimal(&mut self, what: &str) -> Result<u64, LineError> {
        let start = *self;
        let radix = if self.take("0x") || self.take("0X") { 16 } else { 10 };
        let digits = self.take_while(|c| c.is_digit(radix));
        u64::from_str_radix(digits, radix).map_err(|_| start.error(what))
    }

    pub(super) fn quoted_id(&mut self) -> Result<&'a str, LineError> {
        let start = *self;
        let error = || start.error("the id of a node between quotation marks");
        if !self.take("\"") {
            return Err(error());
        }
        let id = self.take_while(|c| c != '"');
        if id.is_empty() || !self.take("\"") { Err(error()) } else { Ok(id) }
    }

    pub(super) fn error(&self, expected: &str) -> LineError {
        let message = match self.rest() {
            "" => "the line ends here".to_owned(),
            rest => format!("cannot read {}", shown(rest)),
        };
        self.error_saying(message, format!("expected {expected}"))
    }

    pub(super) fn error_saying(
        &self,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> LineError {
        let column = super::count(self.line[..self.at].chars().count() + 1);
        LineError { column, message: message.into(), expected: expected.into() }
    }
}

pub(super) fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 40;
    let shown: String = text.chars().take(SHOWN_MAX).collect();
    let more = if shown.len() < text.len() { "..." } else { "" };
    format!("{:?}", shown + more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_steps_consume_tokens_and_errors_point_after_them() {
        let mut cursor = Cursor::new("  [12] (0fF)\t\"a b\" rest \r");
        assert!(cursor.take("["));
        assert_eq!(cursor.number_then::<u16>("a port", "]"), Ok(12));
        cursor.skip_blanks();
        assert!(cursor.take("("));
        assert_eq!(cursor.guid_then_parenthesis(), Ok(Guid(0xff)));
        cursor.skip_blanks();
        assert_eq!(cursor.quoted_id(), Ok("a b"));
        let error = cursor.error("nothing");
        assert_eq!((error.column, error.message.as_str()), (19, "cannot read \" rest\""));
        assert_eq!(cursor.word(), "rest");
        assert!(cursor.is_at_end());
        assert_eq!(cursor.error("more").message, "the line ends here");
    }

    #[test]
    fn out_of_range_numbers_are_refused() {
        assert!(Cursor::new("70000]").number_then::<u16>("a port", "]").is_err());
        assert!(Cursor::new("7").number_then::<u16>("a port", "]").is_err());
        assert!(Cursor::new("11112222333344445)").guid_then_parenthesis().is_err());
        assert_eq!(Cursor::new("0x8f1").hexadecimal("an id"), Ok(0x8f1));
        assert_eq!(Cursor::new("17").hexadecimal("an id"), Ok(17));
        assert!(Cursor::new("0x").hexadecimal("an id").is_err());
    }
}
