//! Steppers: two implementations of the stages of a tick in switches.
//!
//! ```text
//!   Ports             port by port, only where something can move; state in links, buffers, switches
//!   Table (columns)   64 switches at a time, a bit each; state in columns, and `view` shows it as ports
//! ```
//!
//! Both agree with the oracle on the tick of every flit. Hosts, packets under way and in-transit
//! hosts belong to neither.

use crate::lanes::context::Context;
use crate::lanes::network::Network;
use std::borrow::Cow;
use std::fmt::Debug;

/// Stages of switches in a tick, in the order of their calls in [`super::simulation`].
pub(crate) trait Stepper: Debug + Send + Sync {
    /// Stage 1: credits that are due count.
    fn receive_credits(&mut self, network: &mut Network, tick: u64);

    /// Stage 5: free channels of switches take a flit each.
    fn traverse_links(&mut self, network: &mut Network, context: &mut Context, tick: u64);

    /// Flits that hosts began in this tick are on their way.
    fn launch(&mut self, network: &mut Network, tick: u64);

    /// Stage 4: flits cross switches.
    fn traverse_switches(&mut self, network: &mut Network, context: &Context, tick: u64);

    /// Stage 2: routed heads request outputs.
    fn route(&mut self, network: &mut Network, context: &mut Context, tick: u64);

    /// Stage 3: output lanes are granted to heads.
    fn allocate_lanes(&mut self, network: &mut Network, context: &Context);

    /// Puts due flits into the buffers of switches, and returns the number to count as events.
    fn receive_flits(&mut self, network: &mut Network, tick: u64) -> u64;

    /// First tick from `tick` on with a change of the stepper's own state.
    fn next_due(&self, tick: u64) -> Option<u64>;

    /// Whether the stepper knows the hops of packets, so packets keep no path.
    fn has_hops(&self) -> bool;

    /// Writes the counts of ports to the network.
    fn settle_counts(&mut self, network: &mut Network, context: &Context);

    /// Writes the lanes without room to the network.
    fn settle_blocked(&mut self, network: &mut Network);

    /// Writes the positions of worms.
    fn settle_worms(&self, network: &Network, context: &mut Context);

    /// The network in the form of ports, for inspection between ticks; may be a copy.
    fn view<'a>(&self, network: &'a Network, context: &Context) -> Cow<'a, Network>;

    /// Checks invariants; for tests. Slow.
    fn assert_invariants(&self);
}

/// Steps port by port; its state is that of the network.
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
