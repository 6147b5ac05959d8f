//! At least one: a message begins where its first switch has a lane for it.
//!
//! ```text
//!   useful outputs of m       free lanes of its set
//!     east                    { 2 }                 at least one at each: begins
//!     north                   { 0, 3 }
//! ```
//!
//! A message may begin if at least one of its lanes is free at every useful output, or all of its
//! lanes at one. Useful are the outputs that the first switch may give it: one for each path set, or
//! all among which it chooses there; with one output the first half decides. The lanes are those that its VC class may take there, so that
//! a message that is bound to a lane looks at that lane alone.
//!
//! Source: Baydal, Lopez and Duato, "A Simple and Efficient Mechanism to Prevent Saturation in
//! Wormhole Networks", IPDPS 2000; that lanes are those of the message's class: ours. Yum et al. 2002
//! (section 6.1) ask for a free lane of the adapter's port as well, without which no packet begins
//! here.
//!
//! Invariant: an output has the lanes that it was told to have, all of them before anything was.

use super::May;
use crate::Plan;
use gingham_topology::routing::{DatelineClass, LaneSet, VcClass};
use gingham_topology::{ChannelId, EndpointId};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// What a message goes by: the outputs that its first switch may give it, with its lanes there.
type Useful = SmallVec<[(ChannelId, LaneSet); 2]>;

/// Which lanes are free.
#[derive(Clone, Debug)]
pub(super) struct AtLeastOne {
    /// By channel.
    free: Box<[LaneSet]>,
    /// By pair and VC class, of those that asked.
    useful: BTreeMap<(EndpointId, EndpointId, VcClass), Useful>,
}

impl AtLeastOne {
    pub(super) fn new(plan: &Plan) -> Self {
        let all = LaneSet::first_n(plan.lanes.count);
        Self { free: vec![all; plan.channels.len()].into(), useful: BTreeMap::new() }
    }

    /// These lanes of an output are free. Returns whether one is that was not.
    pub(super) fn on_lanes(&mut self, output: ChannelId, free: LaneSet) -> bool {
        let before = std::mem::replace(&mut self.free[output.index()], free);
        free.bits() & !before.bits() != 0
    }

    /// Whether a message between two endpoints may begin.
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

/// The outputs that the first switch on the way may give a message, and its lanes there; none where a
/// cable joins the two.
fn useful(
    plan: &Plan,
    (source, destination): (EndpointId, EndpointId),
    vc_class: VcClass,
) -> Useful {
    let mut found = Useful::new();
    let first = plan.ends(plan.fabric.endpoint_channel(source)).target.node;
    if plan.is_adaptive() && plan.is_switch(first) {
        let outputs = plan.outputs(first, destination, vc_class, None);
        found.extend(outputs.map(|choice| (choice.output, choice.lanes)));
        return found;
    }
    for set in plan.sets() {
        let Some(path) = plan.path(set, source, destination) else { continue };
        let [first, output, ..] = path[..] else { continue };
        let (lanes, _) = plan.lanes.allowed.onward(
            &plan.fabric,
            vc_class,
            DatelineClass(0),
            first,
            output,
            destination,
        );
        if !found.contains(&(output, lanes)) {
            found.push((output, lanes));
        }
    }
    found
}
