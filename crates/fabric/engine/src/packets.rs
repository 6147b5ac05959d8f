//! Whole-packet switching: one event per packet and hop, and more only while something waits.
//!
//! ```text
//!              start ──────────── ready ──── start on the next channel
//!   channel    busy until e        │
//!   buffer     space taken         ├─ output idle and space known: at once
//!   credits    known from an       ├─ output busy: at its end, by a scheduled event
//!              instant on          └─ no space: when credits become known, by a scheduled event
//! ```
//!
//! Ends of busy times and effective times of credits are stored and evaluated on demand; they
//! become events only if something waits for them. Packets start after all other events of an
//! instant.
//!
//! Specification: `docs/concepts/timing-packets.md`.
//!
//! Invariants: each block of a buffer is known to be free, on its way to be known, or taken by a
//! packet that has not left; a packet is in at most one list.

mod buffer_fills;
mod clock;
mod credits;
mod event;
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
