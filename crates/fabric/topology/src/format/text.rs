//! Results of reading and writing files.

use crate::{Fabric, Finding};

/// Fabric with findings about its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// Fabric in canonical order.
    pub fabric: Fabric,
    /// Findings in order of lines.
    pub findings: Vec<Finding>,
}

/// Written file with notes on omissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// File contents.
    pub text: String,
    /// Sentences about omitted properties of the fabric.
    pub notes: Vec<String>,
}
