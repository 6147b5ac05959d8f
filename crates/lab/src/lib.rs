//! Scenarios, the catalogue of names, one run and its record.

pub mod input;
