//! Virtual lanes, traced by hand to the picosecond against `docs/concepts/timing.md`.
//!
//! Unless a story says otherwise, a flit of 16 bytes takes 10 ps, so that a cycle has T = 10 ps; a
//! cable delays by 25 ps, which is D = 3 cycles; a head is routed in R = 1 cycle, there are no
//! bytes but payload, and lane buffers and output lanes hold ten flits.
//!
//! In the comments a flit is *there* (in a lane buffer) at a tick, *crosses* at a tick and is *on*
//! a link at a tick. With all cables alike a flit that is on a link at tick t is there at t + 1 + D
//! = t + 4.
//!
//! The engine is told the same stories (`crates/fabric/lab/tests/lane_stories`), so that runs begin by the `start` of
//! whoever tells them.

#![allow(clippy::unwrap_used, reason = "a story that cannot be set up has failed")]

#[path = "../common/mod.rs"]
mod common;

mod adaptive;
mod allocators;
mod credits;
mod deadlock;
mod ends;
mod hosts;
mod in_transit;
mod lone;
mod outputs;
mod packets;
mod random;
mod reallocation;
mod trees;
mod vc_allocators;
mod vls;

pub(crate) use common::lanes::{in_turn, lane_plan, lanes, on_lanes, packets, strict};
use gingham_oracle::start;
