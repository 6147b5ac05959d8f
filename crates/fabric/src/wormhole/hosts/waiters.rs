//! Who waits, for congestion trees: what stands in inputs, and what hosts have for their own
//! channels.

use super::Hosts;
use crate::wormhole::network::Network;
use gingham_kernel::Time;
use gingham_model::congestion::Waiter;

impl Hosts {
    /// Everything that waits before `now`.
    pub(crate) fn waiters(&self, network: &Network, now: Time) -> Vec<Waiter> {
        let Network { links, worms, .. } = network;
        let mut found = links.waiters(worms, now.as_ps());
        for endpoint in self.plan.fabric.endpoint_ids() {
            let channel = self.plan.fabric.endpoint_channel(endpoint);
            let onward = links.onward(channel);
            let sending = links.holder(channel);
            found.extend(sending.map(|worm| Waiter::sending(&worms.get(worm).packet, onward)));
            let queued = self.endpoints.queued(endpoint, now);
            found.extend(queued.iter().map(|queued| Waiter::queued(queued, onward)));
        }
        found
    }
}
