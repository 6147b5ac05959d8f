//! What hosts that look at the network hear, and whom that wakes.

use super::Endpoints;
use gingham_kernel::Time;
use gingham_topology::routing::LaneSet;
use gingham_topology::{ChannelId, EndpointId};

impl Endpoints {
    /// How many times a host was woken that had been held back for the sake of the network.
    pub fn throttled(&self) -> u64 {
        self.throttle.as_ref().map_or(0, |throttle| throttle.woken())
    }

    /// These lanes of an output are free.
    pub(super) fn on_lanes(&mut self, output: ChannelId, free: LaneSet) {
        if let Some(throttle) = &mut self.throttle {
            throttle.on_lanes(output, free, &mut self.orders);
        }
    }

    /// So many buffers between switches are full.
    pub(super) fn on_gathered(&mut self, full: u64, now: Time) {
        if let Some(throttle) = &mut self.throttle {
            throttle.on_gathered(full, self.posts.as_deref(), now, &mut self.orders);
        }
    }

    /// The instant has come for which an endpoint waited.
    pub(super) fn throttle_woken(&mut self, endpoint: EndpointId, now: Time) {
        if let Some(throttle) = &mut self.throttle {
            throttle.on_woken(endpoint, now, &mut self.orders);
        }
    }
}
