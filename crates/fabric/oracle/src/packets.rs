//! Networks of whole packets: input buffers with credits or pauses, every packet by itself.
//!
//! ```text
//!   Create ─► Start ─► ReadHead ─► Ready ─► Start ─► ... ─► Arrived
//!   (a host)    ▲ └───────────────────────────┘ └─► Left: space of the buffer is free
//!               │                                     │
//!               └──────────── Known ◄─────────────────┘ a credit delay later, at the sender
//! ```
//!
//! A packet is in a buffer from its start on the channel before it, when it takes its space, until
//! its tail has left. `buffer` is what it is there, `output` what a channel knows where it begins:
//! what it carries and the credits of the buffer at its end. `order` says which packet of a switch
//! comes first, `switch` which one starts, `overtaking` what that does to those that it passes.
//! In place of credits `pausing` lets receivers hold lanes back. Where outputs have buffers,
//! `crossing` fills and empties them. Whatever happens at a switch makes all its outputs choose
//! again, since most of it may let any of them start something.
//!
//! Source: Santos, Turner and Janakiraman 2002, section III, as `docs/concepts/timing-packets.md`
//! has it.
//!
//! Invariants, checked by `Simulation::assert_invariants` after any event: packets in = received +
//! in buffers + on channels to hosts; of each lane, blocks that the sender knows to be free + blocks
//! taken + blocks of updates under way = what the buffer holds, or with pauses no buffer overflows; as many packets of an input are
//! being read as have started and not left, at most one where ports are read by one.

mod buffer;
mod event;
mod host;
mod journey;
mod output;
mod simulation;
mod switch;
mod waits;

pub(crate) use simulation::Simulation;
