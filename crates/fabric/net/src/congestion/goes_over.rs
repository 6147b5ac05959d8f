//! Whether a packet still goes over a channel: a look along its path from where it stands.

use super::Waiter;
use crate::{FlowKey, PathSet, Plan};
use gingham_topology::{ChannelId, EndpointId, Fabric};
use std::collections::BTreeMap;

/// The paths of packets, each found once.
#[derive(Debug)]
pub(super) struct Ways<'a> {
    plan: &'a Plan,
    paths: BTreeMap<(FlowKey, PathSet), Vec<ChannelId>>,
}

impl<'a> Ways<'a> {
    pub(super) const fn new(plan: &'a Plan) -> Self {
        Self { plan, paths: BTreeMap::new() }
    }

    /// Whether a channel is before a packet on its path, on any of them if it has not chosen.
    pub(super) fn goes_over(&mut self, waiter: &Waiter, channel: ChannelId) -> bool {
        let plan = self.plan;
        let mut sets = plan.sets().filter(|set| waiter.path_set.is_none_or(|own| own == *set));
        sets.any(|set| {
            let FlowKey { source, destination, .. } = waiter.flow;
            let path = self
                .paths
                .entry((waiter.flow, set))
                .or_insert_with(|| way(plan, set, source, destination));
            // A path comes over a channel once.
            let behind = |at: ChannelId| path.iter().position(|passed| *passed == at);
            let passed = waiter.at.and_then(|at| behind(at.channel)).map_or(0, |place| place + 1);
            path[passed..].contains(&channel)
        })
    }
}

/// The path of a packet; before one that was diverted there is the channel to the end of a switch.
fn way(plan: &Plan, set: PathSet, source: EndpointId, destination: EndpointId) -> Vec<ChannelId> {
    if plan.fabric.is_port_0(destination) {
        return vec![Fabric::reverse(plan.fabric.endpoint_channel(destination))];
    }
    plan.path(set, source, destination).unwrap_or_default()
}
