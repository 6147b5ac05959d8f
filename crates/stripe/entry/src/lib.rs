//! Entry queue of a tunnel: holds packets before a scheduler that is slower than their arrival.
//!
//! ```text
//!   enqueue ──► flow by its hash        new, old: deficit round robin       dequeue
//!               ┌─ ▒▒▒▒▒▒▒▒ ─┐                                           ┌──────────►
//!               ├─ ▒ ────────┼───► one whose turn it is ──► CoDel ───────┤ a mark, or a drop
//!               └─ ▒▒▒▒ ─────┘                                           └──────────►
//! ```
//!
//! A tail-drop queue keeps a TCP flow waiting for its whole length or, if it is short, at a
//! fraction of the rate. This queue absorbs bursts, marks or drops packets of flows with a standing
//! queue, and serves flows that send little first.
//!
//! Source: RFC 8290 (FQ-CoDel), RFC 8289 (CoDel), RFC 6040 (ECN in tunnels), with their names.
//!
//! Invariants: no clock, no I/O, no randomness except a seed; no allocation after set-up; backlog
//! in bytes and packets never exceeds the limits; each packet leaves exactly once, forwarded or
//! dropped; the packets of a flow leave in order.

mod codel;
mod ecn;
mod flows;
mod fq_codel;
mod slab;

pub use codel::CoDelPlan;
pub use ecn::{Ecn, TunnelMode, Unexpected, decapsulate, encapsulate};
pub use fq_codel::{Counters, Dequeued, DropReason, Dropped, FqCodel, FqCodelPlan, Offered};
