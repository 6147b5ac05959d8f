//! Dependencies between path legs that meet at an intermediate switch.
//!
//! ```text
//!   leg 0   s0 ──► s1 ──► v        (s1 ► v, lane of leg 0)  ──►  (v ► s4, lane of leg 1)
//!   leg 1                 v ──► s4 ──► s5
//! ```
//!
//! Any switch where routes end may be intermediate for any pair. Every last channel of a route into
//! the switch therefore precedes every first channel of a route out of it, each on the lanes of its
//! leg.

use super::lane_groups::LaneGroups;
use super::turns::Turns;
use crate::routing::lanes::route_set::{Buffers, LanedWalk, RouteSet};
use crate::routing::lanes::{DatelineClass, LaneSet, Lanes, VcClass};
use crate::routing::paths::graph::SwitchGraph;
use crate::{ChannelId, EndpointId, Fabric};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default)]
struct Junction {
    incoming: BTreeSet<(ChannelId, LaneSet, VcClass)>,
    outgoing: BTreeSet<(ChannelId, EndpointId)>,
}

pub(super) fn add(
    fabric: &Fabric,
    graph: &SwitchGraph,
    routes: RouteSet<'_>,
    groups: &LaneGroups,
    counts: impl Fn(&LanedWalk<'_>) -> bool,
    turns: &mut Turns,
) {
    let mut junctions = vec![Junction::default(); graph.switch_count()];
    routes.walk_all(fabric, graph, |laned| {
        let [first, .., _] = laned.walk.channels else { return };
        let last = laned.walk.channels.len() - 2;
        // Not restricted by `counts`, because a first leg may end at the switch of any endpoint.
        if let Some(lanes) = laned.lanes.get(last) {
            let channel = laned.walk.channels[last];
            let incoming = (channel, *lanes, laned.vc_class);
            junctions[fabric.target(channel).node.index()].incoming.insert(incoming);
        }
        if counts(laned) {
            junctions[laned.walk.source.index()].outgoing.insert((*first, laned.walk.to));
        }
    });
    for Junction { incoming, outgoing } in junctions {
        for (channel, lanes, vc_class) in incoming {
            let held = Buffers { channel, lanes };
            for (channel, to) in &outgoing {
                let onward = |lanes: &Lanes| {
                    let next = lanes.on_next_leg(vc_class)?;
                    let class = DatelineClass(0);
                    Some(lanes.onward(fabric, next, class, held.channel, *channel, *to).0)
                };
                let wanted = routes.lanes.map_or(Some(LaneSet::one(0)), onward);
                if let Some(lanes) = wanted {
                    turns.add_between(groups, held, Buffers { channel: *channel, lanes });
                }
            }
        }
    }
}
