//! Steppers: two ways in which the switches of a network go through the stages of a tick.
//!
//! ```text
//!   Ports             port by port, only where something can move; state in links, buffers, switches
//!   Table (columns)   64 switches at a time, a bit each; state in columns, and `view` shows it as ports
//! ```
//!
//! Both move every flit in the tick in which the oracle moves it. Hosts, packets under way and
//! in-transit hosts belong to neither.

use crate::lanes::context::Context;
use crate::lanes::network::Network;
use std::borrow::Cow;
use std::fmt::Debug;

/// The stages of switches in a tick, in the order in which [`super::simulation`] calls them.
pub(crate) trait Stepper: Debug + Send + Sync {
    /// Stage 1: credits that are due count.
    fn receive_credits(&mut self, network: &mut Network, tick: u64);

    /// Stage 5: free channels of switches take a flit each.
    fn traverse_links(&mut self, network: &mut Network, context: &mut Context, tick: u64);

    /// Flits that hosts began in this tick are on their way.
    fn launch(&mut self, network: &mut Network, tick: u64);

    /// Stage 4: flits cross switches.
    fn traverse_switches(&mut self, network: &mut Network, context: &Context, tick: u64);

    /// Stage 2: heads whose routing is over make their requests.
    fn route(&mut self, network: &mut Network, context: &mut Context, tick: u64);

    /// Stage 3: output lanes are granted to heads.
    fn allocate_lanes(&mut self, network: &mut Network, context: &Context);

    /// Flits that are due are in the buffers of switches. Returns the number of them that count as
    /// events.
    fn receive_flits(&mut self, network: &mut Network, tick: u64) -> u64;

    /// The first tick from `tick` on at which something of the own state can happen.
    fn next_due(&self, tick: u64) -> Option<u64>;

    /// Whether the stepper has the hops of packets, which then need no path of their own.
    fn has_hops(&self) -> bool;

    /// Writes the counts of ports to the network.
    fn settle_counts(&mut self, network: &mut Network, context: &Context);

    /// Writes the lanes without room to the network.
    fn settle_blocked(&mut self, network: &mut Network);

    /// Writes to worms how far they have come.
    fn settle_worms(&self, network: &Network, context: &mut Context);

    /// The whole network as ports would hold it; for looks between ticks. May copy it.
    fn view<'a>(&self, network: &'a Network, context: &Context) -> Cow<'a, Network>;

    /// Checks invariants; for tests. Slow.
    fn assert_invariants(&self);
}

/// Port by port. The state is that of the network.
#[derive(Debug)]
pub(crate) struct Ports;

impl Stepper for Ports {
    fn receive_credits(&mut self, network: &mut Network, tick: u64) {
        network.links.receive_credits(tick, &mut network.switches);
    }

    fn traverse_links(&mut self, network: &mut Network, context: &mut Context, tick: u64) {
        network.traverse_links(context, tick);
    }

    fn launch(&mut self, _: &mut Network, _: u64) {}

    fn traverse_switches(&mut self, network: &mut Network, context: &Context, tick: u64) {
        network.traverse_switches(context, tick);
    }

    fn route(&mut self, network: &mut Network, context: &mut Context, tick: u64) {
        network.route(context, tick);
    }

    fn allocate_lanes(&mut self, network: &mut Network, context: &Context) {
        network.allocate_lanes(context);
    }

    fn receive_flits(&mut self, network: &mut Network, tick: u64) -> u64 {
        network.receive_flits(tick)
    }

    fn next_due(&self, _: u64) -> Option<u64> {
        None
    }

    fn has_hops(&self) -> bool {
        false
    }

    fn settle_counts(&mut self, _: &mut Network, _: &Context) {}

    fn settle_blocked(&mut self, _: &mut Network) {}

    fn settle_worms(&self, _: &Network, _: &mut Context) {}

    fn view<'a>(&self, network: &'a Network, _: &Context) -> Cow<'a, Network> {
        Cow::Borrowed(network)
    }

    fn assert_invariants(&self) {}
}
