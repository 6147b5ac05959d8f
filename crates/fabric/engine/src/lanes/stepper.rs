//! Steppers: two implementations of the switch stages of a tick.
//!
//! ```text
//!   Ports             port by port, only where something can move; state in links, buffers, switches
//!   Table (columns)   64 switches at a time, one bit per switch; state in columns
//! ```
//!
//! Both steppers agree with the oracle on the tick of every flit.

use crate::lanes::context::Context;
use crate::lanes::network::Network;
use crate::lanes::view::View;

/// Switch stages of a tick, in calling order.
pub(crate) trait Stepper: View {
    /// Runs stage 1.
    fn receive_credits(&mut self, network: &mut Network, tick: u64);

    /// Runs stage 5.
    fn traverse_links(&mut self, network: &mut Network, context: &mut Context, tick: u64);

    fn launch(&mut self, network: &mut Network, tick: u64);

    /// Runs stage 4.
    fn traverse_switches(&mut self, network: &mut Network, context: &Context, tick: u64);

    /// Runs stage 2.
    fn route(&mut self, network: &mut Network, context: &mut Context, tick: u64);

    /// Runs stage 3.
    fn allocate_lanes(&mut self, network: &mut Network, context: &Context);

    /// Moves arriving flits into buffers. Returns the number of flits that count as events.
    fn receive_flits(&mut self, network: &mut Network, tick: u64) -> u64;

    /// Returns the first tick, from `tick` on, when the state of the stepper changes.
    fn next_due(&self, tick: u64) -> Option<u64>;

    /// Returns whether the stepper stores the hops of packets; packets then store no path.
    fn has_hops(&self) -> bool;

    fn collect_active(&mut self, network: &mut Network);

    fn locate_worms(&self, network: &Network, context: &mut Context);

    fn assert_invariants(&self, network: &Network, context: &Context);
}

/// Per-port stepper; its state is part of the network.
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
