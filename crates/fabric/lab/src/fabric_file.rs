//! Loading of fabric files.

use gingham_input::{InputError, digest, read, unpack, unpacked_name};
use gingham_topology::format::{self, Faults, Format, FormatError};
use gingham_topology::{Fabric, Finding, FindingKind};
use std::path::Path;

/// A fabric and the problems found in its file.
#[derive(Clone, Debug)]
pub struct LoadedFabric {
    /// The fabric.
    pub fabric: Fabric,
    /// Problems found: content that parses but is wrong or unusual.
    pub findings: Vec<Finding>,
    /// SHA-256 digest of the file in hexadecimal; empty without a file.
    pub digest: String,
    /// Whether the file is an ibnetdiscover dump.
    pub is_dump: bool,
}

impl LoadedFabric {
    pub(crate) const fn without_file(fabric: Fabric, findings: Vec<Finding>) -> Self {
        Self { fabric, findings, digest: String::new(), is_dump: false }
    }
}

/// Reads a fabric file in any supported format, compressed or not. The content determines the
/// format, or else the extension of the file name; a contradiction between the two is a finding.
pub fn load_fabric(path: &Path) -> Result<LoadedFabric, InputError> {
    let name = path.display().to_string();
    let bytes = read(path)?;
    let of_format = |error: FormatError| from_format(&name, &error);
    let unpacked = unpack(&name, &bytes)?;
    let decoded = format::decode(&unpacked).map_err(of_format)?;
    let ending = unpacked_name(&name).rsplit_once('.').map(|(_, ending)| ending);
    let format = Format::of_file(ending, &decoded.text).unwrap_or(Format::Ibnetdiscover);
    let reading =
        format::read(&decoded.text, format).map_err(|faults| from_faults(&name, &faults))?;
    let mut findings = reading.findings;
    findings.extend(decoded.finding);
    findings.extend(ending.and_then(|ending| wrong_ending(ending, format)));
    findings.sort();
    Ok(LoadedFabric {
        fabric: reading.fabric,
        findings,
        digest: digest(&bytes),
        is_dump: matches!(format, Format::Ibnetdiscover | Format::Lst),
    })
}

fn wrong_ending(ending: &str, format: Format) -> Option<Finding> {
    let named = Format::from_extension(ending).filter(|named| *named != format)?;
    let text =
        format!("the extension is that of {named}, but the content is {format}; read as {format}");
    Some(Finding { line: None, kind: FindingKind::Assumption, text })
}

fn from_faults(name: &str, faults: &Faults) -> InputError {
    let mut named: Vec<InputError> =
        faults.named().iter().map(|fault| from_format(name, fault)).collect();
    let unnamed = faults.total() - named.len();
    named.remove(0).with_others(named, unnamed)
}

pub(crate) fn from_format(name: &str, error: &FormatError) -> InputError {
    let line = (error.line > 0).then_some(error.line);
    let (message, expected) = match error.expected.strip_prefix("expected ") {
        Some(expected) => (error.message.clone(), Some(expected.to_owned())),
        None => (format!("{}; {}", error.message, error.expected), None),
    };
    InputError::from_parts(name, line, error.column, None, message, expected, None)
        .coded(error.code.name())
}
