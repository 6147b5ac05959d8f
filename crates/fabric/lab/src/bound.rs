//! Load bound of a scenario's traffic on its routes, computed before the simulation starts.
//!
//! ```text
//!   classes ──demand──► messages per ps, by pair ──routes──► bytes per channel ──wire──► share of capacity
//!                                                                                              │
//!                       load that fills the fullest channel of the class ◄─────────────────────┘
//! ```
//!
//! With fixed paths, the expected load of a channel is a sum over the host pairs whose paths use
//! it. Whatever the flow control and arbitration, a channel cannot carry more than its capacity.
//! The first channel to fill therefore bounds the load of a class, and the network saturates at or
//! below this bound (Dally and Towles, "Principles and Practices of Interconnection Networks",
//! Morgan Kaufmann 2004, section 3.3.1).
//!
//! - Payload counts with packet overhead: headers, remaining route bytes, padding to whole flits.
//!   Acknowledgements are not counted.
//! - Two path sets are weighted by their probability, unless the choice depends on the network's
//!   state.
//! - If packets choose their path by the state of the network, only host channels are bounded.
//! - A backlogged class is bounded at equal loads of all senders.
//! - A schedule counts at its mean rate over the run.

mod carried;
mod demand;
mod summary;
mod wire;

pub use summary::BoundSummary;

use carried::Carrier;
use demand::Demand;
use gingham_kernel::Time;
use gingham_net::traffic::SourcePlan;
use gingham_net::{ClassId, Plan};

use gingham_topology::{ChannelId, EndpointId, Fabric};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::Range;

const PAIRS_MAX: usize = 1 << 22;
const ROUNDING: f64 = 1e-6;

/// Channels that a bound considers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BoundKind {
    /// All channels.
    AllChannels,
    /// Injection and ejection channels only, because packets choose their paths adaptively.
    HostChannels,
    /// No channels, because the class has too many host pairs.
    None,
}

/// Expected loads of all channels.
#[derive(Clone, Debug)]
pub struct TrafficBound {
    classes: Vec<ClassTraffic>,
    /// Maximal sets of classes that send at the same time; loads add up only within a set.
    together: Vec<BTreeSet<ClassId>>,
}

#[derive(Clone, Debug)]
struct ClassTraffic {
    kind: BoundKind,
    /// Load of each channel as a fraction of its capacity; a backlogged class has load 1.
    loads: Vec<f64>,
    flows: Vec<u32>,
    /// First class of the reply chain, or the class itself.
    root: ClassId,
    is_backlogged: bool,
    is_steady: bool,
}

/// Expected load of a channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Loaded {
    /// Channel.
    pub channel: ChannelId,
    /// Load as a fraction of the channel's capacity; above 1 if overloaded.
    pub share: f64,
}

/// Load bound of one traffic class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClassBound {
    /// Channels that the bound considers.
    pub kind: BoundKind,
    /// Load of the class at which its first channel is full, if the loads of all classes scale
    /// together; for replies, the load of the class that starts the chain. `None` without an
    /// offered load or without considered channels.
    pub load: Option<f64>,
    /// Fullest channel of the class under the load of all classes. A backlogged class is considered
    /// alone, at load 1.
    pub fullest: Option<Loaded>,
    /// Number of flows of all classes on `fullest`.
    pub flows: u64,
    /// Destination with the fullest ejection channel, and the load of this channel as a fraction of
    /// its capacity.
    pub host: Option<(EndpointId, f64)>,
    /// Fullest channel if it is overloaded by the classes that send steadily throughout the run;
    /// otherwise `None`.
    pub over: Option<Loaded>,
    /// Fullest channel if it is overloaded by this class and the classes linked to it by replies;
    /// otherwise `None`. With such a channel, the class has no steady state, regardless of other
    /// classes.
    pub over_alone: Option<Loaded>,
}

impl TrafficBound {
    /// Computes the expected channel loads of a plan.
    pub fn new(plan: &Plan) -> Self {
        let classes: Vec<ClassTraffic> =
            ClassId::first(plan.classes.len()).map(|id| ClassTraffic::of(plan, id)).collect();
        let active = |id: ClassId| &plan.classes[classes[id.index()].root.index()].active;
        let active: Vec<&Range<Time>> = ClassId::first(classes.len()).map(active).collect();
        let together = together(&active);
        Self { classes, together }
    }

    /// Computes the load bound of a traffic class.
    pub fn class(&self, plan: &Plan, id: ClassId) -> ClassBound {
        let own = &self.classes[id.index()];
        let used = |channel: &ChannelId| own.loads[channel.index()] > 0.0;
        let channels = || ChannelId::first(own.loads.len()).filter(used);
        let share = |channel: ChannelId| self.share(id, channel);
        let loaded = |channel| Loaded { channel, share: share(channel) };
        let fullest = fuller(channels().map(loaded));
        let over = |counts: &dyn Fn(&ClassTraffic) -> bool| {
            let steady = |channel| Loaded {
                channel,
                share: self.sum(channel, |of| of.is_steady && counts(of)),
            };
            let fullest = fuller(channels().map(steady));
            fullest.filter(|it| own.is_steady && it.share > 1.0 + ROUNDING)
        };
        let hosts = plan.fabric.endpoint_ids().filter(|host| used(&ejection(plan, *host)));
        let host = hosts
            .map(|host| (host, share(ejection(plan, host))))
            .reduce(|a, b| if is_fuller(b.1, a.1) { b } else { a });
        ClassBound {
            kind: own.kind,
            load: self.bound_load(plan, id),
            fullest,
            flows: fullest.map_or(0, |fullest| self.flows(fullest.channel)),
            host,
            over: over(&|_| true),
            over_alone: over(&|of| of.root == own.root),
        }
    }

    /// Returns the channels considered for each class, in the order of the classes.
    pub fn kinds(&self) -> impl Iterator<Item = BoundKind> {
        self.classes.iter().map(|class| class.kind)
    }

    /// Returns whether the bound of every class considers a channel, so that its total load is
    /// known.
    pub fn knows(&self, plan: &Plan, channel: ChannelId) -> bool {
        let ends = plan.ends(channel);
        let is_of_host = || [ends.source, ends.target].iter().any(|end| !plan.is_switch(end.node));
        self.kinds().all(|kind| match kind {
            BoundKind::AllChannels => true,
            BoundKind::HostChannels => is_of_host(),
            BoundKind::None => false,
        })
    }

    /// Returns the highest load on a channel at any time, from all classes except backlogged ones,
    /// as a fraction of the channel's capacity.
    pub fn offered_share(&self, channel: ChannelId) -> f64 {
        self.most(channel, |_| true, |of| !of.is_backlogged)
    }

    /// Returns the number of flows of all classes on a channel.
    pub fn flows(&self, channel: ChannelId) -> u64 {
        self.classes.iter().map(|class| u64::from(class.flows[channel.index()])).sum()
    }

    /// Returns the number of flows on a channel from all classes in the reply chain of a class.
    pub fn flows_of(&self, id: ClassId, channel: ChannelId) -> u64 {
        let root = self.classes[id.index()].root;
        let own = self.classes.iter().filter(|of| of.root == root);
        own.map(|of| u64::from(of.flows[channel.index()])).sum()
    }

    /// Returns up to `count` example flows on a channel, by class, source and destination. Examines
    /// only a limited number of pairs, because the search is slow for a channel with few flows.
    pub fn examples(
        &self,
        plan: &Plan,
        channel: ChannelId,
        count: usize,
    ) -> Vec<(ClassId, EndpointId, EndpointId)> {
        const PAIRS_TRIED: usize = 200_000;
        let mut found = Vec::new();
        let mut carrier = Carrier::new(plan);
        for id in ClassId::first(self.classes.len()) {
            if self.classes[id.index()].flows[channel.index()] == 0 {
                continue;
            }
            let Some(demand) = Demand::of(plan, id, PAIRS_MAX) else { continue };
            for (from, to) in demand.each_pair().take(PAIRS_TRIED) {
                if found.len() == count {
                    return found;
                }
                if carrier.takes(from, to, channel) {
                    found.push((id, from, to));
                }
            }
        }
        found
    }

    /// Returns the load of a channel while a class sends, as a fraction of the channel's capacity.
    /// For a backlogged class, only its reply chain counts; for others, all classes that are not
    /// backlogged.
    fn share(&self, id: ClassId, channel: ChannelId) -> f64 {
        let own = &self.classes[id.index()];
        let counts = |of: &ClassTraffic| {
            if own.is_backlogged { of.root == own.root } else { !of.is_backlogged }
        };
        self.most(channel, |set| set.contains(&id), counts)
    }

    /// Returns the largest load of a class's reply chain that fills no channel beyond `share` while
    /// other classes keep their loads. Zero or negative if the other classes leave no capacity;
    /// `None` if the class has no adjustable load or no bound.
    pub fn load_beside_others(&self, plan: &Plan, id: ClassId, share: f64) -> Option<f64> {
        let own = &self.classes[id.index()];
        if own.kind == BoundKind::None || own.is_backlogged {
            return None;
        }
        let offered = plan.offered_load(own.root)?;
        let is_own = |of: &ClassTraffic| of.root == own.root;
        let largest = |channel: ChannelId| {
            let of_own = self.sum(channel, is_own);
            let counts = |of: &ClassTraffic| !is_own(of) && !of.is_backlogged;
            let of_others = self.most(channel, |set| set.contains(&id), counts);
            (of_own > 0.0).then(|| offered * (share - of_others) / of_own)
        };
        ChannelId::first(own.loads.len()).filter_map(largest).min_by(f64::total_cmp)
    }

    fn sum(&self, channel: ChannelId, counts: impl Fn(&ClassTraffic) -> bool) -> f64 {
        let counted = self.classes.iter().filter(|of| counts(of));
        counted.map(|of| of.loads[channel.index()]).sum()
    }

    /// Returns the largest load on a channel over the sets of concurrent classes accepted by
    /// `selects`; within a set, only classes accepted by `counts` contribute.
    fn most(
        &self,
        channel: ChannelId,
        selects: impl Fn(&BTreeSet<ClassId>) -> bool,
        counts: impl Fn(&ClassTraffic) -> bool,
    ) -> f64 {
        let sets = self.together.iter().filter(|set| selects(set));
        let sum = |set: &BTreeSet<ClassId>| -> f64 {
            let counted = set.iter().map(|of| &self.classes[of.index()]).filter(|of| counts(of));
            counted.map(|of| of.loads[channel.index()]).sum()
        };
        sets.map(sum).fold(0.0, f64::max)
    }

    fn bound_load(&self, plan: &Plan, id: ClassId) -> Option<f64> {
        let own = &self.classes[id.index()];
        if own.kind == BoundKind::None {
            return None;
        }
        let offered = if own.is_backlogged { 1.0 } else { plan.offered_load(own.root)? };
        let is_used = |channel: &ChannelId| self.sum(*channel, |of| of.root == own.root) > 0.0;
        let channels = ChannelId::first(own.loads.len()).filter(is_used);
        let largest = channels.map(|channel| self.share(id, channel)).max_by(f64::total_cmp)?;
        (largest > 0.0).then(|| offered / largest)
    }
}

impl ClassTraffic {
    fn of(plan: &Plan, id: ClassId) -> Self {
        let root = plan.reply_root(id);
        let channels = plan.fabric.channel_count();
        let mut traffic = Self {
            kind: BoundKind::None,
            loads: vec![0.0; channels],
            flows: vec![0; channels],
            root,
            is_backlogged: plan.classes[root.index()].sources.iter().any(SourcePlan::is_backlogged),
            is_steady: demand::is_steady(plan, id),
        };
        let Some(demand) = Demand::of(plan, id, PAIRS_MAX) else { return traffic };
        let choosing = plan.routing.decision.depends_on_network();
        let mut carrier = Carrier::new(plan).with_hosts_only(choosing);
        let Some(by_channel) = carrier.carry(id, &demand) else { return traffic };
        traffic.loads = by_channel.iter().map(|of| of.load).collect();
        traffic.flows = by_channel.iter().map(|of| of.flows).collect();
        traffic.kind = if choosing { BoundKind::HostChannels } else { BoundKind::AllChannels };
        traffic
    }
}

fn together(active: &[&Range<Time>]) -> Vec<BTreeSet<ClassId>> {
    let mut sets: Vec<BTreeSet<ClassId>> = Vec::new();
    // A set of concurrently sending classes can only gain members when a class starts.
    for now in active.iter().map(|of| of.start) {
        let sends = |id: &ClassId| active[id.index()].contains(&now);
        let set: BTreeSet<ClassId> = ClassId::first(active.len()).filter(sends).collect();
        if !sets.iter().any(|other| set.is_subset(other)) {
            sets.retain(|other| !other.is_subset(&set));
            sets.push(set);
        }
    }
    sets
}

fn ejection(plan: &Plan, endpoint: EndpointId) -> ChannelId {
    Fabric::reverse(plan.fabric.endpoint_channel(endpoint))
}

fn fuller(channels: impl Iterator<Item = Loaded>) -> Option<Loaded> {
    channels.reduce(|a, b| if is_fuller(b.share, a.share) { b } else { a })
}

/// Returns whether a share is larger by more than a rounding error, because equal shares may be
/// summed in different orders.
fn is_fuller(share: f64, than: f64) -> bool {
    share > than * (1.0 + ROUNDING)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::scenario::{Overrides, ScenarioSource};
    use gingham_net::{Decision, RoutingScheme};
    use gingham_topology::routing::Statistics;
    use std::path::Path;

    const TORUS: &str = r#"
        topology.generate.torus = { dimensions = [4, 4], hosts_per_switch = 2 }
        network.preset = "infiniband-ndr"

        [[traffic]]
        load = 0.3
        length = { fixed = "1024 B" }

        [stop]
        time = "10 us"
    "#;

    fn plan(text: &str) -> std::sync::Arc<Plan> {
        let source =
            ScenarioSource::parse("t.toml", text, Path::new("."), &Overrides::default()).unwrap();
        compile(&source, true).unwrap().plan
    }

    #[test]
    fn uniform_traffic_has_the_bound_of_all_to_all() {
        let plan = plan(TORUS);
        let all_to_all = Statistics::new(&plan.fabric, &plan.routing.paths[0]).all_to_all.unwrap();
        let bound = TrafficBound::new(&plan).class(&plan, ClassId::new(0));
        let gingham_net::Switching::Packets(packets) = &plan.switching else { panic!() };
        let wire = 1_024.0 + f64::from(packets.overhead_bytes);
        let expected = all_to_all.fraction * 1_024.0 / wire;
        let found = bound.load.unwrap();
        assert!((found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
        assert_eq!(bound.fullest.unwrap().channel, all_to_all.bottleneck);
    }

    /// Every packet of the 30 hosts at other switches enters the intermediate switch once.
    #[test]
    fn intermediate_switch_carries_the_traffic_of_all_other_hosts() {
        let mut plan = Plan::clone(&plan(TORUS));
        let via = plan.fabric.endpoint_ids().next().unwrap();
        let routes = plan.routing.paths.remove(0);
        let decision = Decision::AtRandom { alternative: 1.0 };
        plan.routing = RoutingScheme::over_switches(routes, vec![via], decision);
        let bound = TrafficBound::new(&plan);
        let own = plan.fabric.endpoint_channel(via);
        let switch = plan.fabric.target(own).node;
        let is_into = |channel: &ChannelId| {
            let [from, to] = [plan.fabric.source(*channel).node, plan.fabric.target(*channel).node];
            to == switch && plan.is_switch(from)
        };
        let into = ChannelId::first(plan.channels.len()).filter(is_into);
        let found: f64 = into.map(|channel| bound.offered_share(channel)).sum();
        let expected = 30.0 * bound.offered_share(own);
        assert!((found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
    }

    #[test]
    fn destination_lists_carry_the_load_of_their_pairs() {
        let text = TORUS
            .replace("infiniband-ndr", "myrinet-1280")
            .replace("length", "segmentation = { adaptive = \"80 B\" }\n        length");
        let plan = plan(&text);
        let id = ClassId::new(0);
        let collect = |demand: &Demand<'_>| Carrier::new(&plan).carry(id, demand).unwrap();
        let by_list = Demand::of(&plan, id, PAIRS_MAX).unwrap();
        let by_pair = Demand::of(&plan, id, PAIRS_MAX).unwrap().into_pairs(PAIRS_MAX).unwrap();
        let by_pair = Demand { pairs: by_pair, ..Demand::default() };
        for (one, other) in collect(&by_list).iter().zip(collect(&by_pair)) {
            assert!((one.load - other.load).abs() < 1e-9, "{one:?}, not {other:?}");
            assert_eq!(one.flows, other.flows);
        }
    }
}
