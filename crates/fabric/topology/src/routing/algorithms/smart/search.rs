//! Search for the least loaded of the shortest legal paths.
//!
//! The breadth-first search visits channels, because legality depends on the channel that a packet
//! holds. Two sweeps over the shortest paths minimise first the load of the busiest channel, then
//! the total load.

use super::turns::TurnIndex;
use crate::routing::paths::graph::{SwitchGraph, UNREACHED};
use crate::{ChannelId, NodeId};

const UNWEIGHED: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct LightestPaths {
    hops: Vec<u32>,
    order: Vec<ChannelId>,
    weight: Vec<u64>,
    before: Vec<Option<ChannelId>>,
}

pub(super) struct Ground<'a, L> {
    pub(super) graph: &'a SwitchGraph,
    pub(super) index: &'a TurnIndex,
    /// Whether a packet that holds the first channel (`None` at the source) may take the second.
    pub(super) is_lawful: L,
}

impl LightestPaths {
    pub(super) fn new(channels: usize) -> Self {
        Self {
            hops: vec![UNREACHED; channels],
            order: Vec::new(),
            weight: vec![UNWEIGHED; channels],
            before: vec![None; channels],
        }
    }

    pub(super) fn hops<L: Fn(Option<ChannelId>, ChannelId) -> bool>(
        &mut self,
        ground: &Ground<'_, L>,
        (from, to): (NodeId, NodeId),
    ) -> Option<u32> {
        if from == to {
            return Some(0);
        }
        for channel in self.order.drain(..) {
            self.hops[channel.index()] = UNREACHED;
        }
        self.find_beyond(ground, from, None);
        let mut next = 0;
        while let Some(&held) = self.order.get(next) {
            let at = ground.index.target(held);
            if at == to {
                return Some(self.hops[held.index()]);
            }
            self.find_beyond(ground, at, Some(held));
            next += 1;
        }
        None
    }

    fn find_beyond<L: Fn(Option<ChannelId>, ChannelId) -> bool>(
        &mut self,
        ground: &Ground<'_, L>,
        switch: NodeId,
        held: Option<ChannelId>,
    ) {
        let hops = held.map_or(0, |held| self.hops[held.index()]) + 1;
        for step in ground.graph.hops_from(switch) {
            let found = &mut self.hops[step.channel.index()];
            if *found == UNREACHED && (ground.is_lawful)(held, step.channel) {
                *found = hops;
                self.order.push(step.channel);
            }
        }
    }

    pub(super) fn lightest<L: Fn(Option<ChannelId>, ChannelId) -> bool>(
        &mut self,
        ground: &Ground<'_, L>,
        ends: (NodeId, NodeId),
        load: &[u64],
    ) -> Option<Vec<ChannelId>> {
        let length = self.hops(ground, ends)?;
        if length == 0 {
            return Some(Vec::new());
        }
        let load_of = |channel: ChannelId| load[channel.index()];
        let most = |before: u64, channel| Some(before.max(load_of(channel)));
        let last = self.sweep(ground, ends.1, length, most)?;
        let limit = self.weight[last.index()];
        let sum =
            |before: u64, channel| (load_of(channel) <= limit).then(|| before + load_of(channel));
        let last = self.sweep(ground, ends.1, length, sum)?;
        Some(self.way_to(last))
    }

    fn sweep<L: Fn(Option<ChannelId>, ChannelId) -> bool>(
        &mut self,
        ground: &Ground<'_, L>,
        to: NodeId,
        length: u32,
        weigh: impl Fn(u64, ChannelId) -> Option<u64>,
    ) -> Option<ChannelId> {
        for channel in &self.order {
            let begins = self.hops[channel.index()] == 1;
            let weight = begins.then(|| weigh(0, *channel)).flatten();
            self.weight[channel.index()] = weight.unwrap_or(UNWEIGHED);
            self.before[channel.index()] = None;
        }
        for &held in &self.order {
            let (hops, weight) = (self.hops[held.index()], self.weight[held.index()]);
            if hops == length || weight == UNWEIGHED {
                continue;
            }
            for step in ground.graph.hops_from(ground.index.target(held)) {
                let wanted = step.channel;
                if self.hops[wanted.index()] == hops + 1
                    && let Some(onward) = weigh(weight, wanted)
                    && onward < self.weight[wanted.index()]
                    && (ground.is_lawful)(Some(held), wanted)
                {
                    self.weight[wanted.index()] = onward;
                    self.before[wanted.index()] = Some(held);
                }
            }
        }
        let weight = |channel: &&ChannelId| self.weight[channel.index()];
        let arrives = |channel: &&ChannelId| {
            self.hops[channel.index()] == length && ground.index.target(**channel) == to
        };
        let last = self.order.iter().filter(arrives).min_by_key(weight);
        last.filter(|last| weight(last) != UNWEIGHED).copied()
    }

    fn way_to(&self, last: ChannelId) -> Vec<ChannelId> {
        let mut path = vec![last];
        while let Some(before) = self.before[path[path.len() - 1].index()] {
            path.push(before);
        }
        path.reverse();
        path
    }
}
