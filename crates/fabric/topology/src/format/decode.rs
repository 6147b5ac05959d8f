//! Decoding of file contents.
//!
//! Dumps are UTF-8, except for node names set in another terminal encoding. Lines that are not
//! valid UTF-8 are read as Latin-1 (ISO 8859-1), since there every byte is a character.

use super::error::{FaultCode, FormatError, count};
use super::foreign;
use crate::{Finding, FindingKind};
use std::borrow::Cow;

/// Text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// Decoded text.
    pub text: Cow<'a, str>,
    /// Finding about lines that are not UTF-8.
    pub finding: Option<Finding>,
}

/// Decodes a file; fails if it is not text.
pub fn decode(bytes: &[u8]) -> Result<Decoded<'_>, FormatError> {
    foreign::binary(bytes).map_or(Ok(()), Err)?;
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let cure = "save it in UTF-8: `iconv -f UTF-16 -t UTF-8 FILE`";
        let error = FormatError::whole("the file is in UTF-16", cure);
        return Err(error.coded(FaultCode::Encoding));
    }
    if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
        let before = String::from_utf8_lossy(&bytes[..offset]);
        let message = format!("a NUL byte at offset {offset}: this looks like a binary file");
        let error = FormatError::at_offset(&before, before.len(), message, "expected a text file");
        return Err(error.coded(FaultCode::Binary));
    }
    Ok(match std::str::from_utf8(bytes) {
        Ok(text) => Decoded { text: text.into(), finding: None },
        Err(_) => by_line(bytes),
    })
}

fn by_line(bytes: &[u8]) -> Decoded<'static> {
    let (mut text, mut first, mut lines) = (String::with_capacity(bytes.len()), None, 0);
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if let Ok(line) = std::str::from_utf8(line) {
            text.push_str(line);
        } else {
            first.get_or_insert(count(index + 1));
            lines += 1;
            text.extend(line.iter().copied().map(char::from));
        }
    }
    let found = format!("not in UTF-8, and read as Latin-1: {}", super::lines(lines));
    let finding = Finding { line: first, kind: FindingKind::Encoding, text: found };
    Decoded { text: text.into(), finding: Some(finding) }
}
