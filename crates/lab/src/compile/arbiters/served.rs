//! Whether every lane on which a packet may stand has a turn, for else it would stand there for
//! ever.
//!
//! ```text
//!   lanes of a class, or of its service level at each hop of its pairs ⊆ lanes that the arbiter of the place ever serves
//! ```

use super::ArbiterPlace;
use crate::compile::longest::{destinations, sent_as};
use crate::error::LabError;
use crate::scenario::ScenarioSource;
use gingham_model::{ClassPlan, Plan, Scheduler};
use gingham_topology::routing::{DatelineClass, LaneRule, LaneSet, VcClass};
use gingham_topology::{ChannelId, EndpointId};

/// Refuses classes that may use lanes which an arbiter never serves.
pub(in crate::compile) fn check(source: &ScenarioSource, plan: &Plan) -> Result<(), LabError> {
    let unserved = Unserved::of(plan);
    for (index, class) in plan.classes.iter().enumerate() {
        // What a class may use at all, before its pairs are followed.
        let used = sent_as(plan, class).fold(LaneSet::EMPTY, |all, of| all | plan.lanes_of(of));
        let Some((place, lane)) = unserved.any(used) else { continue };
        if !matches!(plan.lanes.allowed.rule(), LaneRule::Tables { .. }) {
            let message = format!(
                "packets of class `{}` may go on lane {lane}, which `{}` never serves: give the lane a weight there, or \
                 name the lanes of the class without it",
                class.name,
                place.key()
            );
            return Err(source.refuse(&format!("traffic.{index}.lanes"), message).into());
        }
        if let Some(found) = unserved.on_the_way(class) {
            let [from, to] = [found.from, found.to].map(|host| plan.fabric.endpoint_name(host));
            let message = format!(
                "tables lead packets of class `{}` from `{from}` to `{to}` on lane {}, which is never served here: give the \
                 lane a weight",
                class.name, found.lane
            );
            return Err(source.refuse(found.place.key(), message).into());
        }
    }
    Ok(())
}

/// The lanes of each place that have no turn.
struct Unserved<'a> {
    plan: &'a Plan,
    places: [(ArbiterPlace, LaneSet); 3],
}

/// A pair whose packets come to a lane without a turn.
struct Found {
    place: ArbiterPlace,
    lane: u8,
    from: EndpointId,
    to: EndpointId,
}

impl<'a> Unserved<'a> {
    fn of(plan: &'a Plan) -> Self {
        let lanes = &plan.lanes;
        let without = |arbiter: &Scheduler| LaneSet::from_bits(!arbiter.served(lanes.count).bits());
        let crossbar_input = plan.switching.crossbar_input();
        let places = [
            (ArbiterPlace::CrossbarInput, crossbar_input.map_or(LaneSet::EMPTY, without)),
            (ArbiterPlace::LinkOutput, without(&lanes.link_output)),
            (ArbiterPlace::AdapterPort, without(&lanes.adapter_port)),
        ];
        Self { plan, places }
    }

    /// One of these lanes that has no turn somewhere.
    fn any(&self, used: LaneSet) -> Option<(ArbiterPlace, u8)> {
        let lane = |(place, without): &(ArbiterPlace, LaneSet)| {
            Some((*place, (used & *without).lowest()?))
        };
        self.places.iter().find_map(lane)
    }

    /// The same at one place.
    fn at(&self, place: ArbiterPlace, used: LaneSet) -> Option<(ArbiterPlace, u8)> {
        let (_, without) = self.places.iter().find(|(of, _)| *of == place)?;
        Some((place, (used & *without).lowest()?))
    }

    /// The first pair of a class whose packets come to a lane without a turn.
    fn on_the_way(&self, class: &ClassPlan) -> Option<Found> {
        sent_as(self.plan, class).find_map(|other| {
            class.sources.iter().find_map(|source| {
                let from = source.endpoint;
                destinations(self.plan, source).find_map(|to| {
                    let by_pair = || self.plan.lanes.allowed.vc_class_of_pair(from, to);
                    let vc_class = other.vc_class.unwrap_or_else(by_pair);
                    let paths = self.plan.sets().filter_map(|set| self.plan.path(set, from, to));
                    let found =
                        paths.into_iter().find_map(|path| self.along(&path, from, vc_class));
                    found.map(|(place, lane)| Found { place, lane, from, to })
                })
            })
        })
    }

    fn along(
        &self,
        path: &[ChannelId],
        from: EndpointId,
        vc_class: VcClass,
    ) -> Option<(ArbiterPlace, u8)> {
        let rule = &self.plan.lanes.allowed;
        let mut here = rule.first(from, vc_class);
        let mut dateline_class = DatelineClass(0);
        if let Some(found) = self.at(ArbiterPlace::AdapterPort, here) {
            return Some(found);
        }
        for hop in path.windows(2) {
            let &[incoming, outgoing] = hop else { unreachable!("windows of two") };
            let begins = self.plan.ends(outgoing).source;
            let place = if self.plan.is_switch(begins.node) {
                if let Some(found) = self.at(ArbiterPlace::CrossbarInput, here) {
                    return Some(found);
                }
                (here, dateline_class) =
                    rule.onward(&self.plan.fabric, vc_class, dateline_class, incoming, outgoing);
                ArbiterPlace::LinkOutput
            } else {
                let host = self.plan.fabric.endpoint_at(begins).expect("an in-transit host");
                (here, dateline_class) = (rule.first(host, vc_class), DatelineClass(0));
                ArbiterPlace::AdapterPort
            };
            if let Some(found) = self.at(place, here) {
                return Some(found);
            }
        }
        None
    }
}
