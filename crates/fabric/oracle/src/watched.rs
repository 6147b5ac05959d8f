//! Network state that hosts check before they start a message.

use gingham_net::{LaneBlocks, Plan, Switching};
use gingham_topology::ChannelId;
use gingham_topology::routing::LaneSet;

#[derive(Clone, Debug)]
pub(crate) struct Watched {
    /// Last reported free lanes of each channel, `None` for channels that are not reported. Empty
    /// if no channel is reported.
    reported: Vec<Option<LaneSet>>,
    lanes: u8,
    gathered: Vec<ChannelId>,
    /// Minimum number of free blocks for each lane to count as having space, in whole-packet
    /// networks.
    pub(crate) space_blocks: LaneBlocks,
}

impl Watched {
    pub(crate) fn new(plan: &Plan) -> Self {
        let all = LaneSet::first_n(plan.lanes.count);
        let watched = plan.watched_outputs().into_iter();
        Self {
            reported: watched.map(|is_watched| is_watched.then_some(all)).collect(),
            lanes: plan.lanes.count,
            gathered: plan.gathered_channels(),
            space_blocks: match &plan.switching {
                Switching::Packets(packets) => plan.space_blocks(packets),
                Switching::Wormhole(_) | Switching::VirtualLanes(_) => LaneBlocks::default(),
            },
        }
    }

    /// Returns the free lanes of a reported channel if they changed since the last report.
    pub(crate) fn change(
        &mut self,
        channel: ChannelId,
        is_free: impl Fn(u8) -> bool,
    ) -> Option<LaneSet> {
        let reported = self.reported.get_mut(channel.index())?.as_mut()?;
        let free = (0..self.lanes).filter(|lane| is_free(*lane)).collect();
        (std::mem::replace(reported, free) != free).then_some(free)
    }

    pub(crate) fn full(&self, is_full: impl Fn(ChannelId, u8) -> bool) -> u64 {
        let full_lanes = |channel: &ChannelId| {
            (0..self.lanes).filter(|lane| is_full(*channel, *lane)).count() as u64
        };
        self.gathered.iter().map(full_lanes).sum()
    }
}
