//! Tunnel entry queue, in front of a slower scheduler.
//!
//! ```text
//!   enqueue ──► flow by its hash        new, old: deficit round robin       dequeue
//!               ┌─ ▒▒▒▒▒▒▒▒ ─┐                                           ┌──────────►
//!               ├─ ▒ ────────┼───► the next in turn ────► CoDel ─────────┤ mark or drop
//!               └─ ▒▒▒▒ ─────┘                                           └──────────►
//! ```
//!
//! A long tail-drop queue delays TCP flows by its full length, a short one reduces their rate.
//! FQ-CoDel signals standing queues and serves sparse flows first.
//!
//! Source: RFC 8290 (FQ-CoDel), RFC 8289 (CoDel), RFC 6040 (ECN in tunnels).
//!
//! Invariants: no clock access, I/O or randomness except a seed; no allocation after construction;
//! each packet leaves exactly once, forwarded or dropped; packets of a flow leave in order.

mod codel;
mod ecn;
mod flows;
mod fq_codel;
mod slab;

pub use codel::CoDelPlan;
pub use ecn::{Ecn, TunnelMode, Unexpected, decapsulate, encapsulate};
pub use fq_codel::{Counters, Dequeued, DropReason, Dropped, FqCodel, FqCodelPlan, Offered};
