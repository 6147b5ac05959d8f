//! Who waits in inputs, for congestion trees: worms whose header was read, and those behind them.

use super::Links;
use super::input::{Head, Input};
use crate::wormhole::worm::{WormId, Worms};
use gingham_model::congestion::{Onward, Waiter};
use gingham_topology::{ChannelId, Fabric};

impl Links {
    /// Those that stand in inputs before `now`.
    pub(crate) fn waiters(&self, worms: &Worms, now: u64) -> Vec<Waiter> {
        let mut found = Vec::new();
        for channel in ChannelId::first(self.inputs.len()) {
            let Some(input) = &self.inputs[channel.index()] else { continue };
            let Some(output) = self.output_of(channel, input) else { continue };
            let standing =
                |worm, onward| Waiter::standing(channel.into(), &worms.get(worm).packet, onward);
            found.push(standing(input.worm(), Some(self.onward(output))));
            let arrived = self.arrived(channel, now.saturating_sub(1));
            let behind = input.incoming.iter().take_while(|worm| worm.first < arrived);
            found.extend(behind.map(|worm| standing(worm.worm, None)));
        }
        found
    }

    /// Where the worm goes that an input serves, or that waits at a host for the pool.
    fn output_of(&self, channel: ChannelId, input: &Input) -> Option<ChannelId> {
        match input.head {
            Head::Idle | Head::Open => None,
            Head::Routing { output } | Head::Waiting { output } => Some(output),
            Head::Connected => self.senders[channel.index()].feeds,
            Head::Full { .. } => Some(Fabric::reverse(channel)),
        }
    }

    /// By a channel, which is blocked if it was stopped.
    pub(crate) fn onward(&self, output: ChannelId) -> Onward {
        Onward::by_channel(output, self.senders[output.index()].stopped_since.is_some())
    }

    /// The worm that holds a channel.
    pub(crate) fn holder(&self, channel: ChannelId) -> Option<WormId> {
        self.senders[channel.index()].worm
    }
}
