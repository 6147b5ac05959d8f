//! What hosts want to know of the network before they begin a message: which lanes of outputs have
//! space, and how many buffers have not. Nothing is kept where nobody asks.

use crate::packets::network::Network;
use gingham_model::{LaneBlocks, Notice, PacketsPlan, Plan};
use gingham_topology::ChannelId;
use gingham_topology::routing::LaneSet;

/// What is watched.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// By channel: the lanes with space, as was told last, where somebody wants to know; empty where
    /// nobody does.
    free: Box<[Option<LaneSet>]>,
    /// Channels whose buffers are counted, where they are.
    gathered: Box<[ChannelId]>,
    /// By lane: the blocks that are space.
    space_blocks: LaneBlocks,
}

impl Watched {
    /// What is watched of a plan.
    pub(crate) fn new(plan: &Plan, packets: &PacketsPlan) -> Self {
        let all = LaneSet::first_n(plan.lanes.count);
        let watched = plan.watched_outputs();
        Self {
            free: watched.into_iter().map(|is_watched| is_watched.then_some(all)).collect(),
            gathered: plan.gathered_channels().into(),
            space_blocks: plan.space_blocks(packets),
        }
    }

    /// Whether anybody wants to know which lanes have space.
    #[inline]
    pub(crate) fn are_outputs(&self) -> bool {
        !self.free.is_empty()
    }
}

impl Network {
    /// A lane may have space now that had none, or the other way round: tells the endpoints, if they
    /// want to know. If it has none it is looked at again when more is known.
    #[inline(never)]
    pub(crate) fn look_for_space(&mut self, output: ChannelId, lane: u8) {
        let told = self.watched.free.get(output.index()).copied().flatten();
        let Some(told) = told else { return };
        let blocks = self.watched.space_blocks[usize::from(lane)];
        let has_space = self.has_blocks(output, lane, blocks);
        if has_space == told.contains(lane) {
            return;
        }
        let free = LaneSet::from_bits(told.bits() ^ LaneSet::one(lane).bits());
        self.watched.free[output.index()] = Some(free);
        self.tell(Notice::Lanes { output, free });
        self.carry_out();
    }

    /// Tells the endpoints how many buffers between switches had no space before this instant, of
    /// which nothing has happened. What that orders is carried out by the call that is under way.
    #[inline(never)]
    pub(crate) fn tell_gathered(&mut self) {
        let before_ps = self.clock.now() - 1;
        let has_space = |channel: ChannelId, lane: u8| {
            if let Some(pauses) = &self.pauses {
                return !pauses.is_paused(channel, lane);
            }
            let blocks = self.watched.space_blocks[usize::from(lane)];
            self.credits.free_until(channel, lane, before_ps) >= blocks
        };
        let lanes = 0..self.plan.lanes.count;
        let of_channel = |channel: &ChannelId| {
            lanes.clone().filter(|lane| !has_space(*channel, *lane)).count() as u64
        };
        let full = self.watched.gathered.iter().map(of_channel).sum();
        self.tell(Notice::Gathered { full });
    }
}
