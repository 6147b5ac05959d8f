//! Input files and their digests for the run record.

use crate::InputError;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

/// Input file of a scenario.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FileRead {
    /// Key that holds the path, such as `topology.file`.
    pub key: String,
    /// Path of the file.
    pub path: String,
    /// Hexadecimal SHA-256 of the contents.
    pub sha256: String,
}

impl FileRead {
    /// Reads the file that `key` names, and computes its digest.
    pub fn open(key: &str, path: &Path) -> io::Result<(Self, Vec<u8>)> {
        let bytes = fs::read(path)?;
        let path = path.display().to_string();
        let read = Self { key: key.to_owned(), path, sha256: digest(&bytes) };
        Ok((read, bytes))
    }
}

/// Reads an input file.
pub fn read(path: &Path) -> Result<Vec<u8>, InputError> {
    fs::read(path).map_err(|error| {
        let message = format!("the file cannot be read: {error}");
        InputError::from_parts(&path.display().to_string(), None, None, None, message, [], None)
            .coded("file-unreadable")
    })
}

/// Returns the hexadecimal SHA-256 of `bytes`.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes any text");
        text
    })
}
