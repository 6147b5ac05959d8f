//! What hosts look at before they begin a message: outputs that are free, and full buffers.

use super::Hosts;
use crate::wormhole::network::Network;
use gingham_model::Notice;
use gingham_topology::ChannelId;
use gingham_topology::routing::LaneSet;

impl Hosts {
    /// Outputs of switches were taken or released.
    #[inline(never)]
    pub(crate) fn tell_lanes(&mut self, network: &mut Network) {
        while let Some(output) = network.links.next_taken() {
            let is_held = network.links.is_held(output);
            let free = if is_held { LaneSet::EMPTY } else { LaneSet::one(0) };
            self.endpoints.tell(network.clock.time(), Notice::Lanes { output, free });
        }
        self.carry_out(network);
    }

    /// Tells the endpoints how many buffers between switches are full. What that orders is carried
    /// out by the call that is under way.
    #[inline(never)]
    pub(super) fn tell_gathered(&mut self, network: &Network) {
        let now = network.clock.now();
        let is_full = |channel: &&ChannelId| network.links.was_above_stop(**channel, now);
        let full = self.gathered.iter().filter(is_full).count() as u64;
        self.endpoints.tell(network.clock.time(), Notice::Gathered { full });
    }
}
