//! Stages of a compilation, for callers that measure the cost of each.
//!
//! ```text
//!   compile: file or generator ──► Fabric ──► Routes ──► Proof ──► Plan ──► Bound
//! ```
//!
//! The compiler reads no clock; the callback may.
//!
//! Invariant: each stage is reported once, in this order, when it is complete.

/// A completed stage of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Milestone {
    /// Fabric, read or generated.
    Fabric,
    /// Routes, with their lanes.
    Routes,
    /// Proof of deadlock freedom, or an allowed cycle.
    Proof,
    /// Plan of the run.
    Plan,
    /// Load bound of the traffic on its routes; the last stage.
    Bound,
}
