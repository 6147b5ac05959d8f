//! Output channel of each switch, for packets to the destinations of a row.

use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::routes::RouteRow;
use crate::{ChannelId, Fabric, NodeId};

const NO_CHANNEL: u32 = u32::MAX;

pub(super) struct Column<'a> {
    fabric: &'a Fabric,
    graph: &'a SwitchGraph,
    next: Vec<u32>,
    ends: Vec<Option<NodeId>>,
}

impl<'a> Column<'a> {
    pub(super) fn new(fabric: &'a Fabric, graph: &'a SwitchGraph) -> Self {
        let end = |channel| {
            Some(fabric.target(channel).node).filter(|end| end.index() < graph.switch_count())
        };
        Self {
            fabric,
            graph,
            next: vec![NO_CHANNEL; graph.switch_count()],
            ends: ChannelId::first(fabric.channel_count()).map(end).collect(),
        }
    }

    /// Reads a row; leaves the column empty if the row has separate paths.
    pub(super) fn fill(&mut self, row: &RouteRow<'_>) {
        self.next.clear();
        let channels = row.column(self.fabric, self.graph).into_iter().flatten();
        self.next.extend(channels.map(|channel| channel.map_or(NO_CHANNEL, word)));
    }

    #[inline]
    pub(super) fn next(&self, switch: NodeId) -> Option<ChannelId> {
        let channel = self.next[switch.index()];
        (channel != NO_CHANNEL).then(|| ChannelId::new(channel as usize))
    }

    #[inline]
    pub(super) fn end(&self, channel: ChannelId) -> Option<NodeId> {
        self.ends[channel.index()]
    }

    pub(super) fn cut_loops(&mut self) {
        const UNKNOWN: usize = usize::MAX;
        let mut walks = vec![UNKNOWN; self.next.len()];
        let mut loops = vec![false; self.next.len()];
        for start in self.graph.switches() {
            let mut path = Vec::new();
            let mut at = Some(start);
            while let Some(switch) = at.filter(|switch| walks[switch.index()] == UNKNOWN) {
                walks[switch.index()] = start.index();
                path.push(switch);
                at = self.next(switch).and_then(|channel| self.end(channel));
            }
            // A switch that the current walk has visited closes a loop; switches of earlier walks
            // already have a result.
            let is_lost = at.is_some_and(|switch| {
                loops[switch.index()] || walks[switch.index()] == start.index()
            });
            for switch in path {
                loops[switch.index()] = is_lost;
            }
        }
        for (next, loops) in self.next.iter_mut().zip(loops) {
            if loops {
                *next = NO_CHANNEL;
            }
        }
    }
}

fn word(channel: ChannelId) -> u32 {
    u32::try_from(channel.index()).expect("a channel is 32 bits")
}
