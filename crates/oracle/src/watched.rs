//! What hosts want to know of the network before they begin a message, looked for in the state of the
//! network: whatever the kind of switch, all of it each time.

use gingham_model::{LaneBlocks, Plan, Switching};
use gingham_topology::ChannelId;
use gingham_topology::routing::LaneSet;

/// Outputs of which somebody wants to know the free lanes, with those that were told last.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    outputs: Vec<(ChannelId, LaneSet)>,
    lanes: u8,
    /// Channels whose full buffers are counted.
    gathered: Vec<ChannelId>,
    /// By lane, of whole packets: the blocks that are space.
    pub(crate) space_blocks: LaneBlocks,
}

impl Watched {
    pub(crate) fn new(plan: &Plan) -> Self {
        let all = LaneSet::first_n(plan.lanes.count);
        let watched = plan.watched_outputs();
        let outputs = ChannelId::first(watched.len()).filter(|channel| watched[channel.index()]);
        Self {
            outputs: outputs.map(|channel| (channel, all)).collect(),
            lanes: plan.lanes.count,
            gathered: plan.gathered_channels(),
            space_blocks: match &plan.switching {
                Switching::Packets(packets) => plan.space_blocks(packets),
                Switching::Wormhole(_) | Switching::VirtualLanes(_) => LaneBlocks::default(),
            },
        }
    }

    /// The outputs with other free lanes than were told, and these; told now.
    pub(crate) fn changes(
        &self,
        is_free: impl Fn(ChannelId, u8) -> bool,
    ) -> Vec<(ChannelId, LaneSet)> {
        let free = |channel: ChannelId| -> LaneSet {
            (0..self.lanes).filter(|lane| is_free(channel, *lane)).collect()
        };
        let now = self.outputs.iter().map(|(channel, told)| (*channel, *told, free(*channel)));
        now.filter(|(_, told, free)| told != free).map(|(channel, _, free)| (channel, free)).collect()
    }

    /// These lanes of an output are free, as is told.
    pub(crate) fn told(&mut self, output: ChannelId, free: LaneSet) {
        let known = self.outputs.iter_mut().find(|(channel, _)| *channel == output);
        known.expect("it is watched").1 = free;
    }

    /// How many of the buffers that are counted are full.
    pub(crate) fn full(&self, is_full: impl Fn(ChannelId, u8) -> bool) -> u64 {
        let lanes = self.gathered.iter().flat_map(|channel| (0..self.lanes).map(|lane| (*channel, lane)));
        lanes.filter(|(channel, lane)| is_full(*channel, *lane)).count() as u64
    }
}
