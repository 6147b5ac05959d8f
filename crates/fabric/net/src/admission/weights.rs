//! Lane weights that follow the reserved bandwidth.
//!
//! The weights of a link's stream lanes are equal shares of its reserved bandwidth, in 64ths. The
//! lanes of other classes share the rest, each with a minimum so that they make progress. Every
//! lane has a weight of at least 1. Lanes of probes and responses keep their weights, because a
//! scheduler with priority levels serves these lanes first.
//!
//! Source: Yum et al. 2002, sections 3.3 (minimum bandwidth) and 4.1 (weight calculation). Ours:
//! the division into 64ths.

use super::AdmissionPlan;
use super::ledger::{End, Ledger};
use crate::{ArbiterPlace, Plan, Weighing};
use gingham_topology::ChannelId;
use gingham_topology::routing::LaneSet;
use std::num::NonZeroU16;

const PARTS: u64 = 64;

#[derive(Clone, Debug)]
pub(super) struct Weights {
    /// For each end of a channel: kinds of arbiters with adjustable weights.
    places: [Vec<ArbiterPlace>; 2],
    streams: LaneSet,
    others: LaneSet,
    others_min: u16,
    /// For each channel: whether its sender and its receiver are switches.
    switches: Box<[[bool; 2]]>,
    /// For each channel and end: current weights of a stream lane and of another lane.
    known: Vec<[(u16, u16); 2]>,
}

impl Weights {
    pub(super) fn new(plan: &Plan, admission: &AdmissionPlan) -> Option<Self> {
        let leaving =
            [ArbiterPlace::LinkOutput, ArbiterPlace::CrossbarOutput, ArbiterPlace::AdapterPort];
        let places = [&leaving[..], &[ArbiterPlace::CrossbarInput]].map(|of| {
            of.iter().copied().filter(|place| plan.can_weigh(*place)).collect::<Vec<_>>()
        });
        if places.iter().all(Vec::is_empty) {
            return None;
        }
        let [streams, others] = admission.lanes(plan);
        let channels = ChannelId::first(admission.limits.len());
        let switches = channels.map(|channel| {
            let ends = plan.ends(channel);
            [ends.source.node, ends.target.node].map(|node| plan.is_switch(node))
        });
        Some(Self {
            places,
            streams,
            others,
            others_min: admission.others_min,
            switches: switches.collect(),
            known: vec![[(0, 0); 2]; admission.limits.len()],
        })
    }

    pub(super) fn follow(
        &mut self,
        admission: &AdmissionPlan,
        ledger: &Ledger,
        (channel, end): (ChannelId, End),
    ) -> Vec<Weighing> {
        let rate = admission.rates[channel.index()].max(1);
        let reserved = u128::from(ledger.at(channel, end)) * u128::from(PARTS);
        let parts = u64::try_from((reserved + u128::from(rate) / 2) / u128::from(rate));
        let parts = parts.unwrap_or(PARTS).min(PARTS);
        let each = |parts: u64, lanes: LaneSet| {
            let lanes = u64::from(lanes.len()).max(1);
            u16::try_from((parts + lanes / 2) / lanes).expect("parts of a link are few").max(1)
        };
        let of_streams = each(parts, self.streams);
        let of_others = each(PARTS - parts, self.others).max(self.others_min);
        let known = &mut self.known[channel.index()][end as usize];
        if *known == (of_streams, of_others) {
            return Vec::new();
        }
        *known = (of_streams, of_others);
        let [from_switch, to_switch] = self.switches[channel.index()];
        let is_there = |place: &&ArbiterPlace| match place {
            ArbiterPlace::CrossbarInput => to_switch,
            ArbiterPlace::CrossbarOutput | ArbiterPlace::LinkOutput => from_switch,
            ArbiterPlace::AdapterPort => !from_switch,
        };
        let mut found = Vec::new();
        for place in self.places[end as usize].iter().filter(is_there) {
            for (lanes, weight) in [(self.streams, of_streams), (self.others, of_others)] {
                let weight = NonZeroU16::new(weight).expect("at least 1");
                let of = |lane| Weighing { channel, place: *place, lane, weight };
                found.extend(lanes.lanes().map(of));
            }
        }
        found
    }
}
