//! Tunnel entry queue, in front of a slower scheduler.
//!
//! ```text
//!   enqueue ──► flow by its hash        new, old: deficit round robin       dequeue
//!               ┌─ ▒▒▒▒▒▒▒▒ ─┐                                           ┌──────────►
//!               ├─ ▒ ────────┼───► the next in turn ────► CoDel ─────────┤ mark or drop
//!               └─ ▒▒▒▒ ─────┘                                           └──────────►
//! ```
//!
//! A long tail-drop queue delays TCP flows by its full length; a short tail-drop queue reduces
//! their throughput. FQ-CoDel signals standing queues and serves sparse flows first.
//!
//! Invariants: no clock access or I/O; the seed is the only source of randomness; no allocation
//! after construction; each packet is forwarded or dropped exactly once; packets of a flow leave in
//! order.

mod codel;
mod ecn;
mod flows;
mod fq_codel;
mod slab;

pub use codel::CoDelPlan;
pub use ecn::{Ecn, TunnelMode, Unexpected, decapsulate, encapsulate};
pub use fq_codel::{Counters, Dequeued, DropReason, Dropped, FqCodel, FqCodelPlan, Offered};
