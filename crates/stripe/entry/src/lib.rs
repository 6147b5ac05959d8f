//! Entry queue of a tunnel, in front of a slower scheduler.
//!
//! ```text
//!   enqueue ──► flow by its hash        new, old: deficit round robin       dequeue
//!               ┌─ ▒▒▒▒▒▒▒▒ ─┐                                           ┌──────────►
//!               ├─ ▒ ────────┼───► one whose turn it is ──► CoDel ───────┤ a mark, or a drop
//!               └─ ▒▒▒▒ ─────┘                                           └──────────►
//! ```
//!
//! A tail-drop queue delays TCP flows by its whole length or, if short, costs rate; this one
//! signals standing queues and serves sparse flows first.
//!
//! Source: RFC 8290 (FQ-CoDel), RFC 8289 (CoDel), RFC 6040 (ECN in tunnels).
//!
//! Invariants: no clock, no I/O, no randomness except a seed; no allocation after set-up; each
//! packet leaves exactly once, forwarded or dropped; the packets of a flow leave in order.

mod codel;
mod ecn;
mod flows;
mod fq_codel;
mod slab;

pub use codel::CoDelPlan;
pub use ecn::{Ecn, TunnelMode, Unexpected, decapsulate, encapsulate};
pub use fq_codel::{Counters, Dequeued, DropReason, Dropped, FqCodel, FqCodelPlan, Offered};
