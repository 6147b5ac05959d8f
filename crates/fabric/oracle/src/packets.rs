//! Whole-packet networks: input buffers with credits or pauses, each packet simulated individually.
//!
//! ```text
//!   Create ─► Start ─► ReadHead ─► Ready ─► Start ─► ... ─► Arrived
//!   (a host)    ▲ └───────────────────────────┘ └─► Left: space of the buffer is free
//!               │                                     │
//!               └──────────── Known ◄─────────────────┘ a credit delay later, at the sender
//! ```
//!
//! A packet occupies a buffer from its start on the incoming channel until its tail has left. Most
//! events at a switch may let any of its outputs start a packet, so all outputs choose again.
//!
//! Source: Santos, Turner and Janakiraman 2002, section III, as specified in
//! `docs/concepts/timing-packets.md`.
//!
//! Invariants, checked by `Simulation::assert_invariants` after any event: packets in = received +
//! in buffers + on channels to hosts; for each lane, blocks known to the sender as free + occupied
//! blocks + blocks of updates on their way = buffer capacity, or with pauses no buffer overflows;
//! the number of packets being read from an input equals the number of packets that have started
//! but not left, and is at most one if only one output at a time may read a port.

mod buffer;
mod event;
mod host;
mod journey;
mod output;
mod simulation;
mod switch;
mod waits;

pub(crate) use simulation::Simulation;
