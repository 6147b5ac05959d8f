//! Steppers: two implementations of the stages of a tick in switches.
//!
//! ```text
//!   Ports             port by port, only where something can move; state in links, buffers, switches
//!   Table (columns)   64 switches at a time, a bit each; state in columns
//! ```
//!
//! Both agree with the oracle on the tick of every flit, and show their state as a [`View`]. Hosts,
//! packets under way and in-transit hosts belong to neither.

use crate::lanes::context::Context;
use crate::lanes::network::Network;
use crate::lanes::view::View;

/// Stages of switches in a tick, in the order of their calls in [`super::simulation`].
pub(crate) trait Stepper: View {
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

    /// Marks the ports of the network that sent something since the last call as active.
    fn collect_active(&mut self, network: &mut Network);

    /// Writes the positions of worms whose heads wait in a lane buffer.
    fn locate_worms(&self, network: &Network, context: &mut Context);

    /// Checks invariants of the state of ports and lanes; for tests. Slow.
    fn assert_invariants(&self, network: &Network, context: &Context);
}

/// Steps port by port; its state is that of the network.
#[derive(Debug)]
pub(crate) struct Ports;

impl View for Ports {}

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

    fn collect_active(&mut self, _: &mut Network) {}

    fn locate_worms(&self, _: &Network, _: &mut Context) {}

    fn assert_invariants(&self, network: &Network, context: &Context) {
        network.assert_sets(context, 0);
    }
}
