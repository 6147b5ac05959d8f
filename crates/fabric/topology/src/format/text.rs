//! Results of reading and writing.

use crate::{Fabric, Finding};

/// A fabric, with findings on its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// Fabric in canonical order.
    pub fabric: Fabric,
    /// Findings by line.
    pub findings: Vec<Finding>,
}

/// A text, with notes on omissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Content of the file.
    pub text: String,
    /// One sentence for each kind of omission.
    pub notes: Vec<String>,
}
