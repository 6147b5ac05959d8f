//! Entry queue: hand-traced scenarios, and properties of every run.

mod always;
mod fairness;
mod limits;
mod support;
