//! Flow control between the sender of a channel and the buffer at its end, in three forms.
//!
//! ```text
//!   Credits        the sender knows the free blocks of the buffer       updates always arrive
//!   LossyCredits   as before                                            updates may be lost
//!   Pauses         the receiver pauses lanes of the sender (PFC)        the sender knows no blocks
//! ```

use crate::packets::event::Event;
use crate::packets::network::Network;
use crate::packets::pauses::Pauses;
use gingham_kernel::Time;
use gingham_net::{CreditLossPlan, PacketsPlan, Plan};
use gingham_topology::{ChannelId, Fabric};

#[derive(Clone, Debug)]
pub(crate) enum FlowControl {
    Credits,
    LossyCredits(Box<Losses>),
    Pauses(Box<Pauses>),
}

impl FlowControl {
    pub(crate) fn new(plan: &Plan, packets: &PacketsPlan) -> Self {
        let pauses = Pauses::new(plan, packets).map(|of| Self::Pauses(Box::new(of)));
        let losses = || Losses::new(plan, packets).map(|of| Self::LossyCredits(Box::new(of)));
        pauses.or_else(losses).unwrap_or(Self::Credits)
    }

    /// Returns the pauses; `None` with credits.
    #[inline]
    pub(crate) fn pauses(&self) -> Option<&Pauses> {
        match self {
            Self::Pauses(pauses) => Some(pauses),
            Self::Credits | Self::LossyCredits(_) => None,
        }
    }

    /// Returns mutable access to the pauses, for events that only pauses cause.
    pub(crate) fn pauses_mut(&mut self) -> &mut Pauses {
        match self {
            Self::Pauses(pauses) => pauses,
            Self::Credits | Self::LossyCredits(_) => unreachable!("only pauses cause this event"),
        }
    }

    /// Returns the blocks of a lane that have left or are about to leave, and that the sender will
    /// learn of only by later updates: those that are leaving, and those of lost updates.
    pub(crate) fn unknown_blocks(&self, channel: ChannelId, lane: u8) -> [u32; 2] {
        match self {
            Self::LossyCredits(losses) => losses.unknown_blocks(channel, lane),
            Self::Credits | Self::Pauses(_) => [0; 2],
        }
    }

    fn losses(&self) -> &Losses {
        match self {
            Self::LossyCredits(losses) => losses,
            Self::Credits | Self::Pauses(_) => unreachable!("only lossy credits cause this event"),
        }
    }

    fn losses_mut(&mut self) -> &mut Losses {
        match self {
            Self::LossyCredits(losses) => losses,
            Self::Credits | Self::Pauses(_) => unreachable!("only lossy credits cause this event"),
        }
    }
}

// Lost credit updates: blocks that were freed but not yet reported to the sender.
//
// ```text
//   leaving     a packet starts to leave; an event frees its blocks once the packet has left
//   unreported  freed blocks whose update was lost; the next update that arrives reports them too
// ```

#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    leaving_blocks: u32,
    unreported_blocks: u32,
    updated_ps: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Losses {
    plan: CreditLossPlan,
    lane_count: usize,
    lanes: Vec<Lane>,
    periods_ps: Vec<u64>,
}

impl Losses {
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

    pub(crate) fn unknown_blocks(&self, channel: ChannelId, lane: u8) -> [u32; 2] {
        let of = &self.lanes[self.place(channel, lane)];
        [of.leaving_blocks, of.unreported_blocks]
    }
}

impl Network {
    pub(crate) fn free_at(&mut self, channel: ChannelId, lane: u8, blocks: u32, end_ps: u64) {
        let losses = self.flow_control.losses_mut();
        let place = losses.place(channel, lane);
        losses.lanes[place].leaving_blocks += blocks;
        self.clock.schedule(end_ps, Event::Freed { channel, lane, blocks });
    }

    pub(crate) fn on_freed(&mut self, channel: ChannelId, lane: u8, blocks: u32) {
        let losses = self.flow_control.losses_mut();
        let place = losses.place(channel, lane);
        let of = &mut losses.lanes[place];
        of.leaving_blocks -= blocks;
        of.unreported_blocks += blocks;
        self.send_credit_update(channel, lane);
    }

    /// Repeats a lost credit update unless another update was sent within the last period.
    pub(crate) fn on_repeat(&mut self, channel: ChannelId, lane: u8) {
        let losses = self.flow_control.losses();
        let updated_ps = losses.lanes[losses.place(channel, lane)].updated_ps;
        if updated_ps + losses.periods_ps[channel.index()] == self.clock.now() {
            self.send_credit_update(channel, lane);
        }
    }

    fn send_credit_update(&mut self, channel: ChannelId, lane: u8) {
        let now = self.clock.now();
        let known_ps = self.credits.known_ps(channel, lane, now);
        let losses = self.flow_control.losses_mut();
        let place = losses.place(channel, lane);
        losses.lanes[place].updated_ps = now;
        if losses.plan.is_lost(self.plan.seed, channel, lane, Time::from_ps(now)) {
            let again_ps = now + losses.periods_ps[channel.index()];
            return self.clock.schedule(again_ps, Event::Repeat { channel, lane });
        }
        let blocks = std::mem::take(&mut losses.lanes[place].unreported_blocks);
        if blocks > 0 {
            self.credits.give_back(channel, lane, blocks, known_ps, &mut self.clock);
        }
    }
}
