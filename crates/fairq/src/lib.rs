//! Fair queueing schedulers, shared by the switches of the laboratory and by the striping
//! protocol.
//!
//! Invariants: `no_std`, no I/O, no allocation after construction, no clock.

#![no_std]

mod round_robin;

pub use round_robin::RoundRobin;
