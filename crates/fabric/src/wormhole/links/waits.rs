//! Who waits for whom; [`WaitCycle`] says why a cycle of waits is a deadlock.

use super::Links;
use super::input::Head;
use gingham_model::{Wait, WaitCycle};
use gingham_topology::routing::Buffer;
use gingham_topology::{ChannelId, Fabric};

impl Links {
    /// A cycle of waits, if there is one.
    pub(crate) fn find_cycle(&self) -> Option<WaitCycle> {
        // Where a worm waits something happened since all was at rest.
        let wait = |channel| {
            let channel = ChannelId::new(channel);
            Some((channel.into(), Wait::one(self.waits_for(channel)?)))
        };
        let waits: Vec<(Buffer, Wait)> = self.touched.iter().filter_map(wait).collect();
        WaitCycle::find(&waits)
    }

    /// The input that the one at the end of `channel` waits for, if any.
    fn waits_for(&self, channel: ChannelId) -> Option<ChannelId> {
        match self.inputs[channel.index()].as_ref()?.head {
            Head::Idle | Head::Routing { .. } | Head::Open => None,
            Head::Waiting { output } => self.senders[output.index()].feeder,
            Head::Connected => self.stopped_by(self.senders[channel.index()].feeds?),
            Head::Full { .. } => self.stopped_by(Fabric::reverse(channel)),
        }
    }

    /// The input at the end of `channel`, if it stops the channel and goes on to.
    fn stopped_by(&self, channel: ChannelId) -> Option<ChannelId> {
        let blocker = self.inputs[channel.index()].as_ref()?;
        let is_stopped = self.senders[channel.index()].stopped_since.is_some();
        (is_stopped && blocker.wants_stop && blocker.announced_stop).then_some(channel)
    }
}
