//! View of ports and lanes between ticks, for counts, deadlock checks, congestion trees and
//! invariants.
//!
//! The default methods read the network. A stepper that stores switch ports itself overrides them;
//! the state of host ports is always in the network.

use crate::lanes::layout::{NONE, SHIFT, number_of};
use crate::lanes::network::Network;
use std::fmt::Debug;

pub(crate) trait View: Debug + Send + Sync {
    fn flits(&self, network: &Network, port: usize) -> u64 {
        network.links.port(port).flits
    }

    fn waits(&self, network: &Network, port: usize) -> bool {
        network.links.port(port).waits()
    }

    fn waited_ps(&self, network: &Network, port: usize, end_ps: u64) -> u64 {
        network.links.waited_ps(port, end_ps)
    }

    /// Returns, for each switch port, the sum of the arrival ticks of flits that arrive from `tick`
    /// on, for [`Self::occupancy`]. Empty if the stepper sums arrivals as they happen.
    fn arrivals(&self, _tick: u64) -> Vec<u64> {
        Vec::new()
    }

    fn occupancy(&self, network: &Network, port: usize, _arrivals: &[u64]) -> u64 {
        network.switches.port(port).occupancy
    }

    /// Returns the credits of a lane; undefined if the channel ends at a host without backpressure.
    fn credit(&self, network: &Network, lane: usize) -> u16 {
        network.links.lane(lane).credit
    }

    fn unpromised(&self, network: &Network, lane: usize) -> u16 {
        network.links.lane(lane).unpromised
    }

    fn fill(&self, network: &Network, lane: usize) -> u16 {
        network.links.lane(lane).fill
    }

    fn holder_of(&self, network: &Network, lane: usize) -> Option<usize> {
        let is_held = network.links.port(lane >> SHIFT).held >> number_of(lane) & 1 == 1;
        let base = network.switches.port(lane >> SHIFT).base as usize;
        is_held.then(|| base + usize::from(network.links.lane(lane).holder))
    }

    fn present(&self, network: &Network, lane: usize) -> u16 {
        network.buffers.lane(lane).present
    }

    fn left(&self, network: &Network, lane: usize) -> u32 {
        network.buffers.lane(lane).left
    }

    fn held_by(&self, network: &Network, lane: usize) -> Option<usize> {
        let out = network.buffers.lane(lane).out;
        let base = network.switches.port(lane >> SHIFT).base as usize;
        (out != NONE).then(|| base + usize::from(out))
    }

    /// Returns the input lanes whose output lane has no space, as bits.
    fn blocked(&self, network: &Network, port: usize) -> u16 {
        network.switches.port(port).full
    }

    fn requests(&self, network: &Network, port: usize) -> Vec<(usize, u16)> {
        let base = network.switches.port(port).base as usize;
        let lanes = network.requests.of_port(port).map(|input| base + input);
        lanes.map(|lane| (lane, network.requests.lanes_of(lane))).collect()
    }

    fn returning_credits(&self, network: &Network, _tick: u64) -> Vec<usize> {
        network.links.returning_credits().collect()
    }

    fn arriving_flits(&self, network: &Network, _tick: u64) -> Vec<usize> {
        network.links.arriving_flits().collect()
    }
}
