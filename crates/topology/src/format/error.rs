//! What can be wrong with a file, said so that its owner can mend it.

use std::fmt;

/// Why a text is not a fabric: where, what, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatError {
    /// Line, from 1; 0 where the whole file is meant.
    pub line: u32,
    /// Column in characters, from 1, where one can be named.
    pub column: Option<u32>,
    /// What was wrong.
    pub message: String,
    /// What was expected, or how to mend it.
    pub expected: String,
}

impl FormatError {
    pub(crate) fn whole(message: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { line: 0, column: None, message: message.into(), expected: expected.into() }
    }

    pub(crate) fn at(
        line: u32,
        column: Option<u32>,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        assert!(line > 0, "lines count from 1");
        Self { line, column, message: message.into(), expected: expected.into() }
    }

    /// An error at a byte offset of `text`.
    pub(super) fn at_offset(
        text: &str,
        offset: usize,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        let (line, column) = position(text, offset);
        Self::at(line, Some(column), message, expected)
    }
}

impl std::error::Error for FormatError {}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}", self.line)?;
            if let Some(column) = self.column {
                write!(f, ", column {column}")?;
            }
            f.write_str(": ")?;
        }
        write!(f, "{}; {}", self.message, self.expected)
    }
}

/// Why a fabric cannot be written in a format at all. What a format merely leaves out is a
/// note of `Written` instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {expected}")]
pub struct WriteError {
    /// What cannot be written.
    pub message: String,
    /// What to do instead.
    pub expected: String,
}

/// Line and column, both from 1, of a byte offset. Offsets beyond the end mean the end.
fn position(text: &str, offset: usize) -> (u32, u32) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (count(before.matches('\n').count() + 1), count(before[start..].chars().count() + 1))
}

/// A count of lines or columns; nobody reads a file that overflows it.
pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_become_lines_and_columns_of_characters() {
        let text = "ab\nä€c\n";
        let places: Vec<_> = [0, 2, 3, 5, 8, 9, 99].map(|at| position(text, at)).into();
        assert_eq!(places, [(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (2, 4), (3, 1)]);
    }

    #[test]
    fn an_error_names_its_place_and_its_cure() {
        let error = FormatError::at(3, Some(7), "no such port", "expected a port from 1");
        assert_eq!(error.to_string(), "line 3, column 7: no such port; expected a port from 1");
        let error = FormatError::whole("the file is empty", "expected a fabric");
        assert_eq!(error.to_string(), "the file is empty; expected a fabric");
    }
}
