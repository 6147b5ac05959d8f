//! Whole-packet switching: one event per packet and hop. Only waiting packets need more events.
//!
//! ```text
//!              start ──────────── ready ──── start on the next channel
//!   channel    busy until e        │
//!   buffer     space taken         ├─ output idle and space known: at once
//!   credits    returned later      ├─ output busy: when it becomes idle, by a scheduled event
//!                                  └─ no space: when credits arrive, by a scheduled event
//! ```
//!
//! Channels that become idle and credits that arrive cause events only if a packet waits for them;
//! otherwise their times are stored and evaluated on demand. Packets start after all other
//! simultaneous events.
//!
//! Specification: `docs/concepts/timing-packets.md`.
//!
//! Invariants: each buffer block is either known to its sender as free, covered by a credit update
//! on its way, or occupied by a packet; a packet is in at most one waiting list.

mod buffer_fills;
mod clock;
mod credits;
mod event;
mod flow_control;
mod hosts;
mod links;
mod network;
mod packet;
mod pauses;
mod reading;
mod simulation;
mod switches;
mod waiters;
mod waiting;
mod waits;

pub(crate) use simulation::Simulation;
