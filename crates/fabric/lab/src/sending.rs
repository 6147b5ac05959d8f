//! Priority and packet size of each class.

use crate::compile::Compiled;
use gingham_net::{ClassPlan, Plan, SegmentationPlan};
use gingham_topology::{EndpointId, NodeKind};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Priority and packet size of a class.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Sending {
    /// Name of the traffic class.
    pub class: String,
    /// Priority level; 0 is the lowest.
    pub priority: usize,
    /// Largest payload of a packet, in bytes.
    pub longest_payload_bytes: LongestPayload,
}

/// Limit on the packet payload of a class.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum LongestPayload {
    /// No limit: one packet carries a whole message.
    Unlimited,
    /// Limit for all routes, in bytes.
    Fixed(u32),
    /// Limit in bytes for each number of switches on a route between hosts.
    ByRoute(BTreeMap<usize, u32>),
}

impl Compiled {
    /// Returns the priority and packet size of each class.
    pub fn sending(&self) -> Vec<Sending> {
        let plan = &*self.plan;
        let follows_route = |class: &ClassPlan| match class.segmentation {
            SegmentationPlan::None | SegmentationPlan::Fixed(_) => false,
            SegmentationPlan::PerSwitch(_)
            | SegmentationPlan::PerSwitchUpTo { .. }
            | SegmentationPlan::ByHops(_) => true,
        };
        let wanted = plan.classes.iter().any(follows_route);
        let lengths = if wanted { route_lengths(plan) } else { BTreeSet::new() };
        let sending = |class: &ClassPlan| {
            let longest = |switches: &usize| class.longest_packet_bytes(|| *switches);
            Sending {
                class: class.name.clone(),
                priority: class.priority.level(),
                longest_payload_bytes: match class.segmentation {
                    SegmentationPlan::None | SegmentationPlan::Fixed(_) => {
                        match class.longest_packet_bytes(|| 1) {
                            u32::MAX => LongestPayload::Unlimited,
                            bytes => LongestPayload::Fixed(bytes),
                        }
                    }
                    SegmentationPlan::PerSwitch(_)
                    | SegmentationPlan::PerSwitchUpTo { .. }
                    | SegmentationPlan::ByHops(_) => {
                        let by_route = lengths.iter().map(|length| (*length, longest(length)));
                        LongestPayload::ByRoute(by_route.collect())
                    }
                },
            }
        };
        plan.classes.iter().map(sending).collect()
    }
}

/// Returns all numbers of switches between two hosts. One source per switch is enough, because
/// hosts of a switch share all routes except those to each other.
fn route_lengths(plan: &Plan) -> BTreeSet<usize> {
    let fabric = &plan.fabric;
    let is_host =
        |host: &EndpointId| fabric.node(fabric.endpoint(*host).node).kind == NodeKind::Host;
    let hosts = || fabric.endpoint_ids().filter(is_host);
    let switch_of = |host| fabric.target(fabric.endpoint_channel(host)).node;
    let mut lengths = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for source in hosts() {
        if !seen.insert(switch_of(source)) {
            continue;
        }
        if !plan.is_switch(switch_of(source)) {
            lengths.insert(0);
            continue;
        }
        let others = hosts().filter(|host| *host != source);
        lengths.extend(others.map(|host| plan.switches(source, host)).filter(|length| *length > 0));
    }
    lengths
}
