//! Credits on their way to the sender: what came free, updates that are lost, and what heals them.
//!
//! ```text
//!   e: free ── update of the whole count ──► e + d' + c: known
//!           └─ lost: nothing, until the next update of the lane, or e + period: the count again
//! ```
//!
//! Source: InfiniBand Architecture Specification, Volume 1, section 7.9.

use crate::packets::event::Event;
use crate::packets::simulation::Simulation;
use gingham_kernel::Time;
use gingham_topology::{ChannelId, Fabric};

impl Simulation {
    // Phase 2: left.

    /// The receiver of a channel says up to which count of blocks its sender may send on a lane.
    pub(crate) fn tell_of_credits(&mut self, channel: ChannelId, lane: u8) {
        let now = self.timeline.now;
        self.input_mut(channel).told[usize::from(lane)] = Some(now);
        let back = *self.plan.channel(Fabric::reverse(channel));
        if let Some(loss) = &self.packets.credit_loss
            && loss.is_lost(self.plan.seed, channel, lane, now)
        {
            let again = now + loss.period_on(&back);
            return self.timeline.cause(again, Event::Repeat { channel, lane, since: now });
        }
        let freed = self.input(channel).freed_blocks[usize::from(lane)];
        let limit_blocks = self.credits_mut(channel, lane).capacity + freed;
        let known = now + back.delay + self.packets.credit_delay;
        self.timeline.cause(known, Event::Known { channel, lane, limit_blocks });
    }

    /// A period has passed since an update that was lost.
    pub(crate) fn repeat(&mut self, channel: ChannelId, lane: u8, since: Time) {
        if self.input(channel).told[usize::from(lane)] == Some(since) {
            self.tell_of_credits(channel, lane);
        }
    }

    // Phase 4: known.

    pub(crate) fn known(&mut self, channel: ChannelId, lane: u8, limit_blocks: u64) {
        let is_of_host = self.hosts[channel.index()].is_some();
        let credits = self.credits_mut(channel, lane);
        credits.limit = limit_blocks;
        let was_awaited = std::mem::take(&mut credits.is_awaited);
        if was_awaited || !is_of_host {
            self.timeline.cause(self.timeline.now, Event::Start { channel });
        }
    }
}
