//! Switches stepped 64 at a time, a bit each: what most runs take, where every flit goes in turn.
//!
//! ```text
//!   group    up to 64 switches of about as many ports       column    the ports of one number of them all
//!
//!            column 0                       column 1         ...
//!   lane 0   fill 2 1 0   credit 2 1 0      fill 2 1 0       counts are planes of bits: bit s of
//!   lane 1   fill 2 1 0   credit 2 1 0      fill 2 1 0       plane b is bit b of the count of switch s
//! ```
//!
//! The stages are those of [`crate::lanes`], in their order; each is done by ports there or by
//! columns here. Hosts, packets under way and what endpoints see are the same:
//! columns take the place of what links, buffers and switches hold of switches, and of nothing
//! else. [`View`](crate::lanes::view::View) shows them as ports.
//!
//! ```text
//!   count, turn, ring   counts, round robin and what is to come, of 64 ports at once
//!   places, wires       where ports are, and which cables lead side by side
//!   column, group       lanes of ports; switch allocation
//!   table               all of a run             link, traversal, arrival    its stages
//!   allocation, requests, paths   heads one by one, what they request, and the way of each pair
//!   rules               what sets routers apart, and which lanes an output can give
//!   choice, expected    which runs are stepped so, by what is expected to move
//! ```
//!
//! A flit costs a handful of instructions at the link and as many at the crossbar, a head some
//! more; all else is done for 64 switches at once, whatever stands where. The stages are compiled
//! for the instructions that the machine has, which is asked as a run begins (`Table::arch`).
//!
//! Invariants: those of `column` and `group`, which `Simulation::assert_invariants` checks; every
//! flit moves in the tick in which ports would move it.

#![expect(
    clippy::needless_range_loop,
    reason = "words of several sets go side by side, lane by lane"
)]
#![expect(
    clippy::inline_always,
    reason = "what is not inlined into a stage is not compiled for the instructions of the machine"
)]

mod allocation;
mod arrival;
mod choice;
mod column;
mod count;
mod expected;
mod group;
mod link;
mod paths;
mod places;
mod requests;
mod ring;
mod rules;
mod table;
mod traversal;
mod turn;
mod view;
mod wires;

use crate::lanes::network::ticks_ahead;
use crate::lanes::simulation::SetUp;
use table::Table;

pub(crate) use choice::{choose, refusal};

/// A run that is stepped by columns; tables are compiled for 1, 2, 4, 8 and 16 lanes.
pub(crate) fn start(mut set_up: SetUp) -> Box<dyn gingham_net::Simulation> {
    fn run<const L: usize>(set_up: SetUp) -> Box<dyn gingham_net::Simulation> {
        let SetUp { plan, lanes, layout, network, .. } = &set_up;
        let parts = (&network.links, &network.switches);
        let table = Table::<L>::new(plan, lanes, layout, parts, ticks_ahead(plan, lanes));
        set_up.run(table)
    }
    set_up.network.hand_over();
    match set_up.plan.lanes.count {
        1 => run::<1>(set_up),
        2 => run::<2>(set_up),
        3..=4 => run::<4>(set_up),
        5..=8 => run::<8>(set_up),
        _ => run::<16>(set_up),
    }
}
