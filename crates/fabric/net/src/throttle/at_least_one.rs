//! At-least-one rule of injection throttling.
//!
//! A message may start if at least one of its lanes is free at every useful output, or all of its
//! lanes at one useful output. Useful outputs are all outputs that the first switch may select. The
//! lanes are those of the message's VC class, or the single lane that the message is bound to.
//!
//! Source: Baydal, Lopez and Duato, "A Simple and Efficient Mechanism to Prevent Saturation in
//! Wormhole Networks", IPDPS 2000; the restriction to lanes of the message's class is ours. Yum et
//! al. 2002 (section 6.1) also require a free lane at the adapter; here, packets never start
//! without one.
//!
//! Invariant: free lanes are as last reported; before the first report, all lanes are free.

use super::May;
use crate::Plan;
use gingham_topology::routing::{LaneSet, VcClass};
use gingham_topology::{ChannelId, EndpointId};
use smallvec::SmallVec;
use std::collections::BTreeMap;

type Useful = SmallVec<[(ChannelId, LaneSet); 2]>;

#[derive(Clone, Debug)]
pub(super) struct AtLeastOne {
    free: Box<[LaneSet]>,
    useful: BTreeMap<(EndpointId, EndpointId, VcClass), Useful>,
}

impl AtLeastOne {
    pub(super) fn new(plan: &Plan) -> Self {
        let all = LaneSet::first_n(plan.lanes.count);
        Self { free: vec![all; plan.channels.len()].into(), useful: BTreeMap::new() }
    }

    pub(super) fn on_lanes(&mut self, output: ChannelId, free: LaneSet) -> bool {
        let before = std::mem::replace(&mut self.free[output.index()], free);
        free.bits() & !before.bits() != 0
    }

    pub(super) fn may(
        &mut self,
        plan: &Plan,
        (source, destination): (EndpointId, EndpointId),
        vc_class: VcClass,
    ) -> May {
        let of = self.useful.entry((source, destination, vc_class));
        let useful = of.or_insert_with(|| useful(plan, (source, destination), vc_class));
        let free = |(output, lanes): &(ChannelId, LaneSet)| self.free[output.index()] & *lanes;
        let has_one = useful.iter().all(|of| !free(of).is_empty());
        let has_all = useful.iter().any(|of| free(of) == of.1);
        if has_one || has_all { May::Begin } else { May::BeHeld }
    }
}

/// Returns the useful outputs of the first switch; empty if a cable connects the endpoints.
fn useful(
    plan: &Plan,
    (source, destination): (EndpointId, EndpointId),
    vc_class: VcClass,
) -> Useful {
    let mut found = Useful::new();
    let first = plan.ends(plan.fabric.endpoint_channel(source)).target.node;
    if plan.routing.is_adaptive() && plan.is_switch(first) {
        let outputs = plan.outputs(first, destination, vc_class, None);
        found.extend(outputs.map(|choice| (choice.output, choice.lanes)));
        return found;
    }
    for path in plan.routing.path_ids() {
        let lanes = plan.lanes_along(path, (source, destination), vc_class).unwrap_or_default();
        if let Some(first) = lanes.first()
            && !found.contains(first)
        {
            found.push(*first);
        }
    }
    found
}
