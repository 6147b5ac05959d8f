//! Stages of a compilation, for callers that measure the cost of each stage.
//!
//! Each stage is reported once, in the order of the variants, when it is complete. The compiler does
//! not read a clock; the callback may.

/// Completed stage of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Milestone {
    /// Fabric, loaded or generated.
    Fabric,
    /// Routes and their lanes.
    Routes,
    /// Proof of deadlock freedom, or an allowed cycle.
    Proof,
    /// Simulation plan.
    Plan,
    /// Load bound of the traffic; the last stage.
    Bound,
}
