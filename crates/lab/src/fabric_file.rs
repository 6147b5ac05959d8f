//! Fabric files: one of the places where a path is opened (others: the scenario, the files beside
//! it, and `subnet_files`).

use gingham_input::{InputError, digest, read};
use gingham_topology::format::{self, Format, FormatError};
use gingham_topology::{Fabric, Finding};
use std::path::Path;

/// A fabric and what its file had to say.
#[derive(Clone, Debug)]
pub struct LoadedFabric {
    /// The fabric.
    pub fabric: Fabric,
    /// What reads well and cannot be right.
    pub findings: Vec<Finding>,
    /// SHA-256 of the file's bytes, in hexadecimal.
    pub digest: String,
}

/// Reads a fabric in any format; the ending of the name decides, else the content.
pub fn load_fabric(path: &Path) -> Result<LoadedFabric, InputError> {
    let name = path.display().to_string();
    let bytes = read(path)?;
    let of_format = |error: FormatError| from_format(&name, &error);
    let text = format::decode(&bytes).map_err(of_format)?;
    let ending = path.extension().and_then(|ending| ending.to_str());
    let format = ending.and_then(Format::from_extension).or_else(|| Format::detect(text));
    let format = format.unwrap_or(Format::Ibnetdiscover);
    let reading = format::read(text, format).map_err(of_format)?;
    Ok(LoadedFabric { fabric: reading.fabric, findings: reading.findings, digest: digest(&bytes) })
}

/// A format error in the form that all input errors have. What was expected goes where they
/// keep it; other advice stays with the message.
pub(crate) fn from_format(name: &str, error: &FormatError) -> InputError {
    let line = (error.line > 0).then_some(error.line);
    let (message, expected) = match error.expected.strip_prefix("expected ") {
        Some(expected) => (error.message.clone(), Some(expected.to_owned())),
        None => (format!("{}; {}", error.message, error.expected), None),
    };
    InputError::from_parts(name, line, error.column, None, message, expected, None)
}
