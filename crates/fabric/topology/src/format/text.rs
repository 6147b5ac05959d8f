//! Results of reading and of writing a text.

use crate::{Fabric, Finding};

/// A fabric, with findings on its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The fabric, in canonical order.
    pub fabric: Fabric,
    /// Content that parses but cannot be right, by line.
    pub findings: Vec<Finding>,
}

/// A text, with notes on content that it omits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Content of the file.
    pub text: String,
    /// One sentence for each kind of content of the fabric that the format cannot represent.
    pub notes: Vec<String>,
}
