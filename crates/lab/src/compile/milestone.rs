//! How far a compilation has come, for who wants to know what each part of it costs.
//!
//! ```text
//!   compile: file or generator ──► Fabric ──► Routes ──► Proof ──► Plan
//! ```
//!
//! It is told and not timed here: clocks are for whoever is told.
//!
//! Invariant: each is told once, in this order, when it is reached; what is refused tells nothing
//! of what it did not reach.

/// What a scenario has been made into so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Milestone {
    /// Its fabric is there, read or generated.
    Fabric,
    /// Its routes are there, with the lanes that packets may take on them.
    Routes,
    /// Its routes are proven free of deadlock, or a cycle is allowed.
    Proof,
    /// Its plan is there, and with it all that a run needs.
    Plan,
}
