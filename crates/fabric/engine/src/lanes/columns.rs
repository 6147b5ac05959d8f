//! Column stepper: processes 64 switches at once, with one bit per switch. Most runs with
//! flit-level round robin use it.
//!
//! ```text
//!   group    up to 64 switches of similar radix             column   their ports with the same number
//!
//!            column 0                       column 1         ...
//!   lane 0   fill 2 1 0   credit 2 1 0      fill 2 1 0       counts are bit planes: bit s of
//!   lane 1   fill 2 1 0   credit 2 1 0      fill 2 1 0       plane b is bit b of the count of switch s
//! ```
//!
//! The stages are those of [`crate::lanes`]. Columns replace only the parts of links, buffers and
//! switches that belong to switch ports; [`View`](crate::lanes::view::View) presents columns as
//! ports.
//!
//! In addition to operations on whole words, each stage executes a few instructions per flit and
//! head. Stages are compiled for several instruction sets; `Table::arch` selects one at run time.
//!
//! Invariants: those of `column` and `group`; every flit moves in the same tick as under the
//! per-port stepper.

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
mod lane_matching;
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

/// Starts a run. Tables are compiled for 1, 2, 4, 8 and 16 lanes.
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
