//! Updates of credits that are lost: what came free at each receiver, and what its sender was told.
//!
//! ```text
//!   leaving   a packet begins to leave; its blocks come free at e, which is an event here
//!   untold    what came free and was told in vain; the next update that is not lost tells it, too
//! ```
//!
//! Where no update can be lost there is none of this, and no event: `credits` are on their way from
//! when a packet begins to leave.

use crate::packets::event::Event;
use crate::packets::network::Network;
use gingham_kernel::Time;
use gingham_model::{CreditLossPlan, PacketsPlan, Plan};
use gingham_topology::{ChannelId, Fabric};

/// A receiver's lane.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    leaving_blocks: u32,
    untold_blocks: u32,
    /// When it sent its last update.
    told_ps: u64,
}

/// What receivers know beside their senders.
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    plan: CreditLossPlan,
    lane_count: usize,
    /// By channel and lane.
    lanes: Vec<Lane>,
    /// By channel.
    periods_ps: Vec<u64>,
}

impl Losses {
    /// Those of a plan in which updates may be lost.
    pub(crate) fn new(plan: &Plan, packets: &PacketsPlan) -> Option<Self> {
        let loss = packets.credit_loss.clone()?;
        let lane_count = usize::from(plan.lanes.count);
        let channels = plan.channels.len();
        let period = |channel| loss.period_on(plan.channel(Fabric::reverse(channel))).as_ps();
        Some(Self {
            lane_count,
            lanes: vec![Lane::default(); channels * lane_count],
            periods_ps: ChannelId::first(channels).map(period).collect(),
            plan: loss,
        })
    }

    fn place(&self, channel: ChannelId, lane: u8) -> usize {
        channel.index() * self.lane_count + usize::from(lane)
    }

    /// Blocks of packets that are leaving a buffer, and such as came free and nobody was told.
    pub(crate) fn unknown_blocks(&self, channel: ChannelId, lane: u8) -> [u32; 2] {
        let of = &self.lanes[self.place(channel, lane)];
        [of.leaving_blocks, of.untold_blocks]
    }
}

impl Network {
    /// A packet begins to leave the buffer of a lane, and has left it at an instant.
    pub(crate) fn free_at(&mut self, channel: ChannelId, lane: u8, blocks: u32, end_ps: u64) {
        let losses = self.losses.as_mut().expect("updates may be lost");
        let place = losses.place(channel, lane);
        losses.lanes[place].leaving_blocks += blocks;
        self.clock.schedule(end_ps, Event::Freed { channel, lane, blocks });
    }

    /// Blocks of a lane have come free, and its sender is told.
    pub(crate) fn on_freed(&mut self, channel: ChannelId, lane: u8, blocks: u32) {
        let losses = self.losses.as_mut().expect("updates may be lost");
        let place = losses.place(channel, lane);
        let of = &mut losses.lanes[place];
        of.leaving_blocks -= blocks;
        of.untold_blocks += blocks;
        self.tell_of_credits(channel, lane);
    }

    /// A period is over: the count is said again, if nothing was said since it began.
    pub(crate) fn on_repeat(&mut self, channel: ChannelId, lane: u8) {
        let losses = self.losses.as_ref().expect("updates may be lost");
        let told_ps = losses.lanes[losses.place(channel, lane)].told_ps;
        if told_ps + losses.periods_ps[channel.index()] == self.clock.now() {
            self.tell_of_credits(channel, lane);
        }
    }

    fn tell_of_credits(&mut self, channel: ChannelId, lane: u8) {
        let now = self.clock.now();
        let known_ps = self.credits.known_ps(channel, lane, now);
        let losses = self.losses.as_mut().expect("updates may be lost");
        let place = losses.place(channel, lane);
        losses.lanes[place].told_ps = now;
        if losses.plan.is_lost(self.plan.seed, channel, lane, Time::from_ps(now)) {
            let again_ps = now + losses.periods_ps[channel.index()];
            return self.clock.schedule(again_ps, Event::Repeat { channel, lane });
        }
        let blocks = std::mem::take(&mut losses.lanes[place].untold_blocks);
        if blocks > 0 {
            self.credits.give_back(channel, lane, blocks, known_ps, &mut self.clock);
        }
    }
}
