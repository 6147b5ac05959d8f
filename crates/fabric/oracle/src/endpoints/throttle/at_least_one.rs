//! At-least-one rule: a message may start if each useful output has a free lane, or one useful
//! output has only free lanes (Baydal, Lopez and Duato 2000).

use gingham_net::{PathId, Plan};
use gingham_topology::routing::{DatelineClass, LaneSet, VcClass};
use gingham_topology::{ChannelId, EndpointId, NodeId};

#[derive(Clone, Debug, Default)]
pub(super) struct Reports(Vec<(ChannelId, LaneSet)>);

#[derive(Clone, Debug, Default)]
pub(in crate::endpoints) struct AtLeastOne {
    reports: Reports,
}

impl Reports {
    fn free(&self, plan: &Plan, output: ChannelId) -> LaneSet {
        let last = self.0.iter().rev().find(|(of, _)| *of == output);
        last.map_or_else(|| LaneSet::first_n(plan.lanes.count), |(_, free)| *free)
    }
}

impl AtLeastOne {
    /// Records a report. If a lane became free, returns the switch whose held hosts must be woken.
    pub(in crate::endpoints) fn reported(
        &mut self,
        plan: &Plan,
        output: ChannelId,
        free: LaneSet,
    ) -> Option<NodeId> {
        let before = self.reports.free(plan, output);
        self.reports.0.push((output, free));
        let is_new = free.lanes().any(|lane| !before.contains(lane));
        is_new.then(|| plan.ends(output).source.node)
    }

    pub(in crate::endpoints) fn may_begin(
        &self,
        plan: &Plan,
        (source, destination): (EndpointId, EndpointId),
        vc_class: VcClass,
    ) -> bool {
        let outputs = useful_outputs(plan, (source, destination), vc_class);
        let is_free = |output: ChannelId, lane: u8| self.reports.free(plan, output).contains(lane);
        let has_one = |(output, lanes): &(ChannelId, LaneSet)| {
            lanes.lanes().any(|lane| is_free(*output, lane))
        };
        let has_all = |(output, lanes): &(ChannelId, LaneSet)| {
            lanes.lanes().all(|lane| is_free(*output, lane))
        };
        outputs.iter().all(has_one) || outputs.iter().any(has_all)
    }
}

/// Returns the outputs that the message may use at its first switch, with their lanes; empty if the
/// path has no switch.
fn useful_outputs(
    plan: &Plan,
    (source, destination): (EndpointId, EndpointId),
    vc_class: VcClass,
) -> Vec<(ChannelId, LaneSet)> {
    let channel = plan.fabric.endpoint_channel(source);
    let switch = plan.ends(channel).target.node;
    if !plan.is_switch(switch) {
        return Vec::new();
    }
    if plan.routing.is_adaptive() {
        let outputs = plan.outputs(switch, destination, vc_class, None);
        return outputs.map(|choice| (choice.output, choice.lanes)).collect();
    }
    let second = |path: PathId| {
        let legs = plan.legs(path, source, destination)?;
        // A leg that ends at the first switch consists only of the host's cable.
        let leg = u8::from(legs[0].len() == 1);
        let via = path.via().filter(|_| leg == 0);
        Some((legs.concat()[1], leg, via.map_or(destination, |via| plan.routing.vias[via])))
    };
    let outputs = plan.routing.path_ids().filter_map(second);
    let with_lanes = |(output, leg, end)| {
        let (allowed, class) = (&plan.lanes.allowed, DatelineClass(0));
        let vc_class = allowed.on_leg(vc_class, leg);
        let (lanes, _) = allowed.onward(&plan.fabric, vc_class, class, channel, output, end);
        (output, lanes)
    };
    outputs.map(with_lanes).collect()
}
