//! Errors in fabric files, with position and remedy.

use std::fmt;

/// Category of an error, with a stable name for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultCode {
    /// The file is empty.
    Empty,
    /// The file lacks the expected content.
    Nothing,
    /// The file is not text.
    Binary,
    /// The text encoding is not supported.
    Encoding,
    /// The end of the file is missing.
    Truncated,
    /// The file violates its format.
    Syntax,
    /// The file contradicts itself or its fabric.
    Contradiction,
    /// The format is output-only.
    WrittenOnly,
    /// The file belongs to another program, which the code names.
    Foreign(&'static str),
}

impl FaultCode {
    /// Returns the stable name, such as `file-syntax` or `foreign-iblinkinfo`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "file-empty",
            Self::Nothing => "file-without-content",
            Self::Binary => "file-binary",
            Self::Encoding => "file-encoding",
            Self::Truncated => "file-truncated",
            Self::Syntax => "file-syntax",
            Self::Contradiction => "file-contradiction",
            Self::WrittenOnly => "file-write-only",
            Self::Foreign(name) => name,
        }
    }
}

/// Error in a fabric file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatError {
    /// Category of the error.
    pub code: FaultCode,
    /// 1-based line number; 0 for the whole file.
    pub line: u32,
    /// 1-based column in characters; `None` if unknown.
    pub column: Option<u32>,
    /// Description of the fault.
    pub message: String,
    /// Expected content or remedy.
    pub expected: String,
}

impl FormatError {
    pub(crate) fn whole(message: impl Into<String>, expected: impl Into<String>) -> Self {
        let (message, expected) = (message.into(), expected.into());
        Self { code: FaultCode::Syntax, line: 0, column: None, message, expected }
    }

    pub(crate) fn at(
        line: u32,
        column: Option<u32>,
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        assert!(line > 0, "lines count from 1");
        let (message, expected) = (message.into(), expected.into());
        Self { code: FaultCode::Syntax, line, column, message, expected }
    }

    pub(crate) fn coded(self, code: FaultCode) -> Self {
        Self { code, ..self }
    }

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

/// Reason why a format cannot represent a fabric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {expected}")]
pub struct WriteError {
    /// Description of the obstacle.
    pub message: String,
    /// Suggested remedy.
    pub expected: String,
}

fn position(text: &str, offset: usize) -> (u32, u32) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (count(before.matches('\n').count() + 1), count(before[start..].chars().count() + 1))
}

pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_map_to_lines_and_character_columns() {
        let text = "ab\nä€c\n";
        let places: Vec<_> = [0, 2, 3, 5, 8, 9, 99].map(|at| position(text, at)).into();
        assert_eq!(places, [(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (2, 4), (3, 1)]);
    }

    #[test]
    fn format_error_shows_position_and_expectation() {
        let error = FormatError::at(3, Some(7), "no such port", "expected a port from 1");
        assert_eq!(error.to_string(), "line 3, column 7: no such port; expected a port from 1");
        let error = FormatError::whole("the file is empty", "expected a fabric");
        assert_eq!(error.to_string(), "the file is empty; expected a fabric");
    }
}
