//! The entry queue of a tunnel: where packets wait before a scheduler that is slower than they come.
//!
//! ```text
//!   enqueue ──► flow by its hash        new, old: deficit round robin       dequeue
//!               ┌─ ▒▒▒▒▒▒▒▒ ─┐                                           ┌──────────►
//!               ├─ ▒ ────────┼───► one whose turn it is ──► CoDel ───────┤ a mark, or a drop
//!               └─ ▒▒▒▒ ─────┘                                           └──────────►
//! ```
//!
//! A queue that refuses what finds no room keeps a TCP behind it waiting for its whole length, or,
//! where it is short, at a part of the rate. This one lets bursts through, marks or drops packets
//! of a flow whose queue stands, and lets flows that send little go first.
//!
//! Source: RFC 8290 (FQ-CoDel), RFC 8289 (CoDel), RFC 6040 (ECN in tunnels). Names are theirs.
//!
//! Invariants: no clock, no I/O, no randomness but a seed; no allocation after set-up; bytes and
//! packets never exceed their limits; a packet that was enqueued is given out once or dropped once,
//! and a flow's packets in their order.

mod codel;
mod ecn;
mod flows;
mod fq_codel;
mod slab;

pub use codel::CoDelPlan;
pub use ecn::{Ecn, TunnelMode, Unexpected, decapsulate, encapsulate};
pub use fq_codel::{Counters, Dequeued, DropReason, Dropped, FqCodel, FqCodelPlan, Offered};
