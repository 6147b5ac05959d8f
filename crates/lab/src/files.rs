//! Files that a scenario names, and their digests, for the record of a run.

use crate::fabric_file::digest;
use serde::Serialize;
use std::fs;
use std::io;
use std::path::Path;

/// A file that a scenario names, as it was read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FileRead {
    /// The key that names it, such as `topology.file`.
    pub key: String,
    /// Where it stood.
    pub path: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

impl FileRead {
    /// Reads a file that the scenario names under `key`.
    pub(crate) fn open(key: &str, path: &Path) -> io::Result<(Self, Vec<u8>)> {
        let bytes = fs::read(path)?;
        let path = path.display().to_string();
        let read = Self { key: key.to_owned(), path, sha256: digest(&bytes) };
        Ok((read, bytes))
    }
}
