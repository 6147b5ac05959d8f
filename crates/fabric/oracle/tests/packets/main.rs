//! Whole packets, traced by hand to the picosecond against `docs/concepts/timing-packets.md`.
//!
//! Unless stated otherwise, a byte takes 10 ps, a cable d = 25 ps, a head is read F = 100 ps after
//! its first byte, and packets have only payload. A packet that starts at s on a channel into a
//! switch is there at a = s + 25 and ready at s + 125; if it starts at u on the channel to its
//! host, its head is there at u + 35 and, with W bytes, its tail at u + 25 + 10 W.

#![allow(clippy::unwrap_used, reason = "a story that cannot be set up has failed")]

#[path = "../common/mod.rs"]
mod common;

mod by_load;
mod counts;
mod credits;
mod deadlock;
mod ends;
mod figure_1;
mod heads;
mod lanes;
mod lone;
mod lost;
mod marks;
mod order;
mod outputs;
mod overtaking;
mod pauses;
mod random;
mod read;
mod speeds;
mod windows;

use gingham_net::Plan;
use gingham_oracle::start;

/// Source and start on the last channel of the first `count` deliveries.
fn last_starts(plan: &Plan, count: usize) -> Vec<(usize, u64)> {
    let found = common::deliveries(plan.clone(), count);
    let start = |delivery| {
        let (source, _, head_arrived, _) = common::story(delivery);
        (source, head_arrived - common::DELAY - common::packets::BYTE)
    };
    found.iter().map(start).collect()
}
