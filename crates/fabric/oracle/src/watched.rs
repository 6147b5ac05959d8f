//! What hosts want to know of the network before they begin a message, looked for in the state of the
//! network each time anything may have changed it.

use gingham_net::{LaneBlocks, Plan, Switching};
use gingham_topology::ChannelId;
use gingham_topology::routing::LaneSet;

/// Outputs of which somebody wants to know the free lanes, and buffers that are counted.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// By channel: the free lanes that were told last, where somebody wants to know; empty where
    /// nobody does.
    told: Vec<Option<LaneSet>>,
    lanes: u8,
    /// Channels whose full buffers are counted.
    gathered: Vec<ChannelId>,
    /// By lane, of whole packets: the blocks that are space.
    pub(crate) space_blocks: LaneBlocks,
}

impl Watched {
    pub(crate) fn new(plan: &Plan) -> Self {
        let all = LaneSet::first_n(plan.lanes.count);
        let watched = plan.watched_outputs().into_iter();
        Self {
            told: watched.map(|is_watched| is_watched.then_some(all)).collect(),
            lanes: plan.lanes.count,
            gathered: plan.gathered_channels(),
            space_blocks: match &plan.switching {
                Switching::Packets(packets) => plan.space_blocks(packets),
                Switching::Wormhole(_) | Switching::VirtualLanes(_) => LaneBlocks::default(),
            },
        }
    }

    /// The free lanes of a channel, if somebody wants to know and was told something else; it is told
    /// now.
    pub(crate) fn change(
        &mut self,
        channel: ChannelId,
        is_free: impl Fn(u8) -> bool,
    ) -> Option<LaneSet> {
        let told = self.told.get_mut(channel.index())?.as_mut()?;
        let free = (0..self.lanes).filter(|lane| is_free(*lane)).collect();
        (std::mem::replace(told, free) != free).then_some(free)
    }

    /// How many of the buffers that are counted are full.
    pub(crate) fn full(&self, is_full: impl Fn(ChannelId, u8) -> bool) -> u64 {
        let full_lanes = |channel: &ChannelId| {
            (0..self.lanes).filter(|lane| is_full(*channel, *lane)).count() as u64
        };
        self.gathered.iter().map(full_lanes).sum()
    }
}
