//! What comes of reading a text and of writing one.

use crate::{Fabric, Finding};

/// A fabric, and what is wrong with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The fabric, in canonical order.
    pub fabric: Fabric,
    /// What reads well and cannot be right, by line.
    pub findings: Vec<Finding>,
}

/// A text, and what it could not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub text: String,
    /// One sentence for each thing of the fabric that the format cannot hold.
    pub notes: Vec<String>,
}
