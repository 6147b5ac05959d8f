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
//! else. Who looks at all of the network between ticks sees it as ports ([`settle`]).
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
mod settle;
mod table;
mod traversal;
mod turn;
mod wires;

use crate::lanes::context::Context;
use crate::lanes::layout::Layout;
use crate::lanes::links::Links;
use crate::lanes::network::Network;
use crate::lanes::switches::Switches;
use gingham_net::{PipelinePlan, Plan};
use table::Table;

pub(crate) use choice::{choose, refusal};

/// The switches of a run, by the number of their lanes.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one in a run, in a box")]
pub(crate) enum Columns {
    One(Table<1>),
    Two(Table<2>),
    Four(Table<4>),
    Eight(Table<8>),
    Sixteen(Table<16>),
}

/// The same for each number of lanes.
macro_rules! each {
    ($columns:expr, $table:ident => $what:expr) => {
        match $columns {
            Columns::One($table) => $what,
            Columns::Two($table) => $what,
            Columns::Four($table) => $what,
            Columns::Eight($table) => $what,
            Columns::Sixteen($table) => $what,
        }
    };
}

impl Columns {
    pub(crate) fn new(
        plan: &Plan,
        lanes: &PipelinePlan,
        layout: &Layout,
        (links, switches): (&Links, &Switches),
        ticks_ahead: u64,
    ) -> Self {
        let parts = (links, switches);
        match plan.lanes.count {
            1 => Self::One(Table::new(plan, lanes, layout, parts, ticks_ahead)),
            2 => Self::Two(Table::new(plan, lanes, layout, parts, ticks_ahead)),
            3..=4 => Self::Four(Table::new(plan, lanes, layout, parts, ticks_ahead)),
            5..=8 => Self::Eight(Table::new(plan, lanes, layout, parts, ticks_ahead)),
            _ => Self::Sixteen(Table::new(plan, lanes, layout, parts, ticks_ahead)),
        }
    }

    /// Whether they have the hops of packets, which need no path of their own.
    pub(crate) fn has_hops(&self) -> bool {
        each!(self, table => table.paths.is_some())
    }

    /// The first tick from `tick` on at which something can happen.
    pub(crate) fn next_due(&self, tick: u64) -> Option<u64> {
        each!(self, table => table.next_due(tick))
    }

    /// Checks that its sets say what is so.
    pub(crate) fn assert_invariants(&self) {
        each!(self, table => table.assert_invariants());
    }
}

/// The stages of a tick, where switches are stepped by columns.
impl Network {
    /// Stage 1: credits that are due count at hosts; at switches they do in the next stage.
    pub(crate) fn receive_credits_by_columns(&mut self, tick: u64) {
        self.by_columns(|columns, network| {
            each!(columns, table => table.receive_host_credits(&mut network.links, tick));
        });
    }

    /// Stage 5.
    pub(crate) fn traverse_links_by_columns(&mut self, context: &mut Context, tick: u64) {
        self.by_columns(|columns, network| {
            each!(columns, table => table.traverse_links(network, context, tick));
        });
    }

    /// Flits of hosts that begin in this tick are on their way.
    pub(crate) fn launch_by_columns(&mut self, tick: u64) {
        self.by_columns(|columns, network| {
            each!(columns, table => table.launch(&mut network.launched, tick));
        });
    }

    /// Stage 2.
    pub(crate) fn route_by_columns(&mut self, context: &mut Context, tick: u64) {
        self.by_columns(|columns, network| {
            each!(columns, table => table.route(network, context, tick));
        });
    }

    /// Stage 3.
    pub(crate) fn allocate_lanes_by_columns(&mut self) {
        self.by_columns(|columns, network| {
            each!(columns, table => table.allocate_lanes(network));
        });
    }

    /// Stage 4.
    pub(crate) fn allocate_by_columns(&mut self, tick: u64) {
        self.by_columns(|columns, network| {
            each!(columns, table => table.traverse_switches(network, tick));
        });
    }

    /// Flits that are due are in the buffers of switches.
    pub(crate) fn receive_flits_by_columns(&mut self, tick: u64) {
        self.by_columns(|columns, _| each!(columns, table => table.receive_flits(tick)));
    }

    /// Writes what is counted of ports to where it is without columns.
    pub(crate) fn settle_counts(&mut self, context: &Context) {
        if self.columns.is_some() {
            self.by_columns(|columns, network| {
                each!(columns, table => table.settle_counts(network, context));
            });
        }
    }

    /// Writes which lanes have no room to where it is without columns.
    pub(crate) fn settle_blocked(&mut self) {
        if self.columns.is_some() {
            self.by_columns(|columns, network| {
                each!(columns, table => table.settle_blocked(network));
            });
        }
    }

    /// Writes to worms how far they have come, where they do not know without columns.
    pub(crate) fn settle_worms(&self, context: &mut Context) {
        if let Some(columns) = &self.columns {
            each!(&**columns, table => table.settle_worms(self, context));
        }
    }

    /// As if it was stepped by ports.
    pub(crate) fn settled(&self, context: &Context) -> std::borrow::Cow<'_, Self> {
        if self.columns.is_none() {
            return std::borrow::Cow::Borrowed(self);
        }
        let mut network = self.clone();
        network.settle_counts(context);
        if let Some(columns) = network.columns.take() {
            let tick = context.clock.ticks_done();
            each!(&*columns, table => table.settle_lanes(&mut network, context));
            each!(&*columns, table => table.settle_rings(&mut network, tick));
        }
        std::borrow::Cow::Owned(network)
    }

    #[inline]
    fn by_columns(&mut self, stage: impl FnOnce(&mut Columns, &mut Self)) {
        let mut columns = self.columns.take().expect("this run is stepped by columns");
        stage(&mut columns, self);
        self.columns = Some(columns);
    }
}
