//! Checks that arbiters serve every lane that packets or acknowledgements may use; on an unserved
//! lane, they would wait forever.

use super::Place as _;
use crate::check::{Sentence, say};
use crate::compile::longest::{destinations, lanes_of_acks, lanes_of_probes, sent_as};
use gingham_net::{AckPlan, ArbiterPlace, ClassPlan, Plan, Scheduler};
use gingham_topology::routing::{DatelineClass, LaneRule, LaneSet, VcClass};
use gingham_topology::{ChannelId, EndpointId};

pub(super) fn unserved(plan: &Plan) -> Option<Sentence> {
    let unserved = Unserved::of(plan);
    // With lane tables, the lanes of demoted packets depend on the host pair. Without tables, they
    // are checked with the class that receives these packets.
    let classes = if unserved.is_by_tables() { usize::MAX } else { 1 };
    plan.classes.iter().enumerate().find_map(|(index, class)| {
        let sent = || sent_as(plan, class).take(classes);
        let acks = || sent().filter_map(|other| Some(other.window.as_ref()?.ack));
        let of_packets = || {
            let used = sent().fold(LaneSet::EMPTY, |all, of| all | plan.lanes_of(of));
            let key = format!("traffic.{index}.lanes");
            let packets = User { called: "packets", whose: "the class", key, class };
            unserved.refusal(&packets, used, |pair| {
                sent().find_map(|other| unserved.between(pair, other.vc_class))
            })
        };
        let of_acks = || {
            let lanes_of = |ack: AckPlan| lanes_of_acks(plan, ack);
            let used = acks().map(lanes_of).fold(LaneSet::EMPTY, |all, of| all | of);
            let key = format!("traffic.{index}.window.ack.lanes");
            let asker =
                User { called: "acknowledgements", whose: "its acknowledgements", key, class };
            unserved.refusal(&asker, used, |(from, to)| {
                acks().find_map(|ack| unserved.between((to, from), ack.vc_class))
            })
        };
        let of_probes = || {
            let admission = plan.admission.as_deref().filter(|of| of.classes[index])?;
            let (whose, key) = ("the admission control", "network.admission.lanes".to_owned());
            let probes = User { called: "probes", whose, key, class };
            let used = lanes_of_probes(plan, admission);
            unserved.refusal(&probes, used, |(from, to)| {
                let ways = [(from, to), (to, from)];
                ways.into_iter().find_map(|pair| unserved.between(pair, admission.vc_class))
            })
        };
        of_packets().or_else(of_acks).or_else(of_probes)
    })
}

struct User<'a> {
    called: &'a str,
    whose: &'a str,
    key: String,
    class: &'a ClassPlan,
}

struct Unserved<'a> {
    plan: &'a Plan,
    places: [(ArbiterPlace, LaneSet); 4],
}

type Pair = (EndpointId, EndpointId);

struct Found {
    place: ArbiterPlace,
    lane: u8,
    from: EndpointId,
    to: EndpointId,
}

impl<'a> Unserved<'a> {
    fn of(plan: &'a Plan) -> Self {
        let without = |arbiter: &Scheduler| LaneSet::from_bits(!plan.lanes.served(arbiter).bits());
        let places = ArbiterPlace::ALL
            .map(|place| (place, plan.arbiter(place).map_or(LaneSet::EMPTY, without)));
        Self { plan, places }
    }

    fn any(&self, used: LaneSet) -> Option<(ArbiterPlace, u8)> {
        let lane = |(place, without): &(ArbiterPlace, LaneSet)| {
            Some((*place, (used & *without).lowest()?))
        };
        self.places.iter().find_map(lane)
    }

    fn at(&self, place: ArbiterPlace, used: LaneSet) -> Option<(ArbiterPlace, u8)> {
        let (_, without) = self.places.iter().find(|(of, _)| *of == place)?;
        Some((place, (used & *without).lowest()?))
    }

    fn is_by_tables(&self) -> bool {
        matches!(self.plan.lanes.allowed.rule(), LaneRule::Tables { .. })
    }

    fn refusal(
        &self,
        of: &User<'_>,
        used: LaneSet,
        found: impl Fn(Pair) -> Option<Found>,
    ) -> Option<Sentence> {
        let (place, lane) = self.any(used)?;
        let User { called, whose, class, .. } = of;
        if !self.is_by_tables() {
            let sentence = say!(
                "{called} of class `{}` may go on lane {lane}, which `{}` never serves: give the lane a weight there, or \
                 name the lanes of {whose} without it",
                class.name,
                place.key()
            );
            return Some(sentence?.at(&of.key));
        }
        let mut pairs = class
            .sources
            .iter()
            .flat_map(|source| destinations(self.plan, source).map(|to| (source.endpoint, to)));
        let found = pairs.find_map(found)?;
        let [from, to] = [found.from, found.to].map(|host| self.plan.fabric.endpoint_name(host));
        let sentence = say!(
            "tables lead {called} of class `{}` from `{from}` to `{to}` on {}",
            class.name,
            self.cure_of_tables(&found)
        );
        Some(sentence?.at(found.place.key()))
    }

    fn cure_of_tables(&self, found: &Found) -> String {
        let lane = found.lane;
        let lanes_per_vl = self.plan.lanes.allowed.lanes_per_vl();
        if lanes_per_vl == 1 {
            return format!("lane {lane}, which is never served here: give the lane a weight");
        }
        let vl = lane / lanes_per_vl;
        if self.plan.arbiter(found.place).is_some_and(Scheduler::chooses_among_vls) {
            return format!("VL {vl}, which is never served here: give the VL a weight");
        }
        format!(
            "lane {lane} of VL {vl}, which is never served here: give the lane a weight, or VLs fewer lanes \
             (network.lanes.per_vl, here {lanes_per_vl})"
        )
    }

    /// Returns an unserved lane on the paths of a host pair, for packets of `vc_class` (by default,
    /// the pair's VC class).
    fn between(&self, (from, to): Pair, vc_class: Option<VcClass>) -> Option<Found> {
        let by_pair = || self.plan.lanes.allowed.vc_class_of_pair(from, to);
        let vc_class = vc_class.unwrap_or_else(by_pair);
        let paths = self.plan.routing.path_ids().filter_map(|path| self.plan.path(path, from, to));
        let found = paths.into_iter().find_map(|path| self.along(&path, (from, to), vc_class));
        found.map(|(place, lane)| Found { place, lane, from, to })
    }

    fn along(
        &self,
        path: &[ChannelId],
        (from, to): Pair,
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
                (here, dateline_class) = rule.onward(
                    &self.plan.fabric,
                    vc_class,
                    dateline_class,
                    incoming,
                    outgoing,
                    to,
                );
                if let Some(found) = self.at(ArbiterPlace::CrossbarOutput, here) {
                    return Some(found);
                }
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
