//! Whole packets: an event a packet and hop, as it may go on, and more only where somebody waits.
//!
//! ```text
//!              start ──────────── ready ──── start on the next channel
//!   channel    busy until e        │
//!   buffer     space taken         ├─ the output is idle, space is known: at once
//!   credits    known later, as of  ├─ busy: at its end, which is an event from now on
//!              an instant          └─ no space: when credits become known, an event from now on
//! ```
//!
//! Where lanes are paused instead, `pauses` knows what fills buffers; where updates of credits may
//! be lost, `losses` what is not known of them; where outputs have buffers, `crossing` what is in
//! those. Nothing is polled and nothing ticks. A channel knows until when it is busy, and credits on their
//! way from when on they count; both are looked at when somebody asks, and become events only where
//! somebody waits for them. What is to start is done once all else of an instant has happened: where
//! nothing else does, as most often, with the event itself.
//!
//! Specification: `docs/concepts/timing-packets.md`.
//!
//! Invariants: blocks of a buffer are known free, on their way to be known, or taken by a packet
//! that has not left; a packet stands in one list at the most.

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
mod standing;
mod switches;
mod waiters;
mod waiting;
mod waits;

pub(crate) use simulation::Simulation;
