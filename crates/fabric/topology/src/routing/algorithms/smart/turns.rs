//! Turns, with a dense index for arrays of one value per turn.
//!
//! ```text
//!   x ──held──► s ──wanted──► y      a turn; `held` has an index for each hop from s to a switch
//! ```

use crate::routing::paths::graph::SwitchGraph;
use crate::{ChannelId, Fabric, NodeId};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Turn {
    pub(super) held: ChannelId,
    pub(super) wanted: ChannelId,
}

#[derive(Debug)]
pub(super) struct TurnIndex {
    first: Vec<usize>,
    place: Vec<usize>,
    target: Vec<Option<NodeId>>,
}

impl TurnIndex {
    pub(super) fn new(fabric: &Fabric, graph: &SwitchGraph) -> Self {
        let count = fabric.channel_count();
        let (mut place, mut target) = (vec![0; count], vec![None; count]);
        for switch in graph.switches() {
            for (index, step) in graph.hops_from(switch).iter().enumerate() {
                place[step.channel.index()] = index;
                target[step.channel.index()] = Some(step.to);
            }
        }
        let mut first = vec![0];
        for (channel, to) in target.iter().enumerate() {
            let turns = to.map_or(0, |to| graph.hops_from(to).len());
            first.push(first[channel] + turns);
        }
        Self { first, place, target }
    }

    pub(super) fn channel_count(&self) -> usize {
        self.place.len()
    }

    pub(super) fn turn_count(&self) -> usize {
        self.first[self.channel_count()]
    }

    pub(super) fn of(&self, turn: Turn) -> usize {
        self.first[turn.held.index()] + self.place[turn.wanted.index()]
    }

    pub(super) fn target(&self, channel: ChannelId) -> NodeId {
        self.target[channel.index()].expect("a channel between switches")
    }

    pub(super) fn all<'a>(&'a self, graph: &'a SwitchGraph) -> impl Iterator<Item = Turn> + 'a {
        ChannelId::first(self.channel_count()).flat_map(move |held| {
            let steps = self.target[held.index()].map_or(&[][..], |to| graph.hops_from(to));
            steps.iter().map(move |step| Turn { held, wanted: step.channel })
        })
    }
}

pub(super) fn turns_of(path: &[ChannelId]) -> impl Iterator<Item = Turn> + '_ {
    path.windows(2).map(|pair| Turn { held: pair[0], wanted: pair[1] })
}
