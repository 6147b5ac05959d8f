//! Who waits, for congestion trees (`docs/concepts/timing.md`, congestion trees).
//!
//! ```text
//!   input    its worm, from its header on ─► the output that it asks for or holds, blocked if stopped
//!            worms behind that            ─► nothing
//!   host     the worm that is being sent, the first of every queue ─► the host's channel
//! ```

use crate::wormhole::host::Injection;
use crate::wormhole::input::{Head, Input};
use crate::wormhole::simulation::Simulation;
use crate::wormhole::worm::WormId;
use gingham_kernel::Time;
use gingham_model::congestion::{Onward, Waiter};
use gingham_topology::{ChannelId, EndpointId, Fabric};

impl Simulation {
    /// Everything that waits before `now`.
    pub(crate) fn all_waiters(&self, now: Time) -> Vec<Waiter> {
        let mut found = Vec::new();
        for channel in ChannelId::first(self.inputs.len()) {
            if let Some(input) = &self.inputs[channel.index()] {
                self.waiters_in(channel, input, &mut found);
            }
        }
        for endpoint in self.plan.fabric.endpoint_ids() {
            self.waiters_at(endpoint, now, &mut found);
        }
        found
    }

    /// Those that stand in an input.
    fn waiters_in(&self, channel: ChannelId, input: &Input, found: &mut Vec<Waiter>) {
        let Some((first, output)) = self.first_in(channel, input) else { return };
        let standing =
            |worm, onward| Waiter::standing(channel.into(), &self.worms.get(worm).packet, onward);
        found.push(standing(first, Some(self.onward(output))));
        let mut before = first;
        for worm in input.worms() {
            if worm != std::mem::replace(&mut before, worm) {
                found.push(standing(worm, None));
            }
        }
    }

    /// The worm that an input serves, or that waits at a host for the pool, and where it goes.
    fn first_in(&self, channel: ChannelId, input: &Input) -> Option<(WormId, ChannelId)> {
        if self.is_waiting_at_host(channel) {
            return Some((input.worms().next()?, Fabric::reverse(channel)));
        }
        match input.head {
            Head::Idle => None,
            Head::Routing { output, .. }
            | Head::Waiting { output, .. }
            | Head::Connected { output } => Some((input.serves?, output)),
        }
    }

    /// Those that a host has for its own channel.
    fn waiters_at(&self, endpoint: EndpointId, now: Time, found: &mut Vec<Waiter>) {
        let onward = self.onward(self.plan.fabric.endpoint_channel(endpoint));
        let host = &self.hosts[endpoint.index()];
        let sending = host.injection.as_ref().map(|injection| match injection {
            Injection::Local(local) => local.worm,
            Injection::InTransit(worm) => *worm,
        });
        found.extend(sending.map(|worm| Waiter::sending(&self.worms.get(worm).packet, onward)));
        let queued = self.endpoints.queued(endpoint, now);
        found.extend(queued.iter().map(|queued| Waiter::queued(queued, onward)));
    }

    fn onward(&self, output: ChannelId) -> Onward {
        Onward::by_channel(output, self.outputs[output.index()].stopped_since.is_some())
    }
}
