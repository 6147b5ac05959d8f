//! Virtual lanes, traced by hand to the picosecond against `docs/concepts/timing.md`.
//!
//! Unless stated otherwise, a flit of 16 bytes takes 10 ps, and a cycle T = 10 ps; a cable delays
//! by 25 ps, D = 3 cycles; a head is routed in R = 1 cycle, packets have only payload, and lane
//! buffers and output lanes hold ten flits.
//!
//! In the comments, at ticks, a flit is *there* (in a lane buffer), a head is *granted* an output
//! lane, and a flit *crosses* and is *on* a link. Without delays a head on a cable at t is there at
//! t + 1 + D = t + 4, granted at t + 6, crosses at t + 7, is on the next link at t + 8 and, if that
//! ends at a host, *whole* at 10 (t + 8) + 35 ps. Behind another packet a head crosses three ticks
//! after that tail. The comments leave these steps out.
//!
//! The engine runs these cases too (`crates/fabric/lab/tests/lane_stories`): each caller passes its
//! own `start`.

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
