//! Flows, acknowledgements and replies, hand-traced to the picosecond against
//! `docs/concepts/timing.md`, in the oracle and in the engine.
//!
//! A flit takes 10 ps and a cable delays by 25 ps.
//!
//! - *wormhole*: a flit is a byte, and a switch delays a head by 100 ps. A worm of `W` flits over
//!   `n` switches takes `(W + n) 10 + (n + 1) 25 + n 100` ps.
//! - *lanes*: a flit is 16 B, a cycle 10 ps. A packet of `W` flits over `n` switches takes `(8 n +
//!   W) 10 + 25` ps, from a tick on.

#![allow(clippy::unwrap_used, reason = "a story that cannot be set up has failed")]

mod acks;
mod admission;
#[path = "../../../oracle/tests/common/mod.rs"]
mod common;
mod lone;
mod lost;
mod marks;
mod notices;
mod posts;
mod replies;
mod sharing;
mod support;
mod throttled;
mod throughput;

use gingham_oracle::start;
