//! Stages of a compilation, for callers that measure the cost of each.
//!
//! ```text
//!   compile: file or generator ──► Fabric ──► Routes ──► Proof ──► Plan ──► Bound
//! ```
//!
//! The compiler reports a stage and reads no clock; the callback may.
//!
//! Invariant: each stage is reported once, in this order, when it is complete. A scenario that is
//! refused reports no stage that it did not complete.

/// A completed stage of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Milestone {
    /// The fabric, read or generated.
    Fabric,
    /// The routes, with the lanes that packets may take on them.
    Routes,
    /// The routes are proven free of deadlock, or a cycle is allowed.
    Proof,
    /// The plan of the run.
    Plan,
    /// The bound of the traffic on its routes, with all that a run needs.
    Bound,
}
