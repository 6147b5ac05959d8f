//! Load bound of a scenario's traffic on its routes, computed before the simulation starts.
//!
//! ```text
//!   classes ──demand──► messages a picosecond, by pair ──routes──► bytes on each channel ──wire──► share of its capacity
//!                                                                                                     │
//!                       load at which the fullest channel of the class is full ◄───────────────────────┘
//! ```
//!
//! With fixed paths the expected load of a channel is a sum over the pairs whose paths use it. No
//! flow control or arbitration lets a channel carry more than its capacity. The load of a class is
//! therefore bounded by the channel that fills first (Dally and Towles, "Principles and Practices
//! of Interconnection Networks", Morgan Kaufmann 2004, section 3.2: the bound from the maximum
//! channel load). A network saturates at or below the bound.
//!
//! - Payload counts with the overhead of its packets: headers, route bytes that are left, whole
//!   flits. Acknowledgements are not counted.
//! - Two path sets are weighted by how packets choose, if that does not depend on the network.
//! - If packets choose their path by the state of the network, only host channels are bounded.
//! - A backlogged class is bounded at equal loads of all its senders.
//! - A schedule counts with its mean rate over the run.

mod carried;
mod demand;
mod summary;
mod wire;

pub use summary::BoundSummary;

use carried::Carrier;
use demand::Demand;
use gingham_model::traffic::SourcePlan;
use gingham_model::{ClassId, PathChoice, Plan};
use gingham_topology::routing::Routes;
use gingham_topology::{ChannelId, EndpointId, Fabric};
use schemars::JsonSchema;
use serde::Serialize;

/// Limit on the pairs of endpoints of a class that are followed one by one.
const PAIRS_MAX: usize = 1 << 22;
/// Shares above 1 by less than this are rounding.
const ROUNDING: f64 = 1e-6;

/// The set of channels that a bound considers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BoundKind {
    /// All channels.
    AllChannels,
    /// Only injection and ejection channels, because packets choose their paths adaptively.
    HostChannels,
    /// None: the class has too many pairs of hosts.
    None,
}

/// Expected loads of all channels.
#[derive(Clone, Debug)]
pub struct TrafficBound {
    classes: Vec<ClassTraffic>,
}

/// Expected load of the channels under the traffic of one class.
#[derive(Clone, Debug)]
struct ClassTraffic {
    kind: BoundKind,
    /// By channel, as a share of its capacity; at load 1 for a backlogged class.
    loads: Vec<f64>,
    /// By channel: number of flows of the class that use it.
    flows: Vec<u32>,
    /// The class at the start of the chain of replies, or the class itself.
    root: ClassId,
    is_backlogged: bool,
    /// Whether the class creates this traffic throughout the run.
    is_steady: bool,
}

/// A channel with its expected load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Loaded {
    /// The loaded channel.
    pub channel: ChannelId,
    /// Expected load as a share of the channel's capacity; above 1 if overloaded.
    pub share: f64,
}

/// The bound of one class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClassBound {
    /// Channels that the bound considers.
    pub kind: BoundKind,
    /// Load that fills a channel if the loads of all classes scale together. For replies, it is the
    /// load of the class that they reply to. `None` without an offered load, or if no channel is
    /// considered.
    pub load: Option<f64>,
    /// The fullest channel of the class, under the load of all classes. For a backlogged class,
    /// under that class alone at load 1.
    pub fullest: Option<Loaded>,
    /// Flows of all classes on that channel.
    pub flows: u64,
    /// The destination with the fullest ejection channel, and the share of that channel.
    pub host: Option<(EndpointId, f64)>,
    /// The fullest channel, if classes that send throughout the run offer more than its capacity.
    pub over: Option<Loaded>,
}

impl TrafficBound {
    /// Computes the expected loads of a plan.
    pub fn new(plan: &Plan) -> Self {
        let classes = ClassId::first(plan.classes.len()).map(|id| ClassTraffic::of(plan, id));
        Self { classes: classes.collect() }
    }

    /// The bound of a class.
    pub fn class(&self, plan: &Plan, id: ClassId) -> ClassBound {
        let own = &self.classes[id.index()];
        let used = |channel: &ChannelId| own.loads[channel.index()] > 0.0;
        let channels = || ChannelId::first(own.loads.len()).filter(used);
        let share = |channel: ChannelId| self.share(id, channel);
        let loaded = |channel| Loaded { channel, share: share(channel) };
        let fullest = fuller(channels().map(loaded));
        let steady = |channel| Loaded { channel, share: self.steady_share(channel) };
        let over = fuller(channels().map(steady)).filter(|it| it.share > 1.0 + ROUNDING);
        let hosts = plan.fabric.endpoint_ids().filter(|host| used(&ejection(plan, *host)));
        let host = hosts
            .map(|host| (host, share(ejection(plan, host))))
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        ClassBound {
            kind: own.kind,
            load: self.bound_load(plan, id),
            fullest,
            flows: fullest.map_or(0, |fullest| self.flows(fullest.channel)),
            host,
            over: over.filter(|_| own.is_steady),
        }
    }

    /// The set of channels considered, by class.
    pub fn kinds(&self) -> impl Iterator<Item = BoundKind> {
        self.classes.iter().map(|class| class.kind)
    }

    /// Expected load of a channel as a share of its capacity, without backlogged classes.
    pub fn offered_share(&self, channel: ChannelId) -> f64 {
        self.sum(channel, |of| !of.is_backlogged)
    }

    /// Flows of all classes on a channel.
    pub fn flows(&self, channel: ChannelId) -> u64 {
        self.classes.iter().map(|class| u64::from(class.flows[channel.index()])).sum()
    }

    /// Up to `count` flows on a channel, as class, source and destination. Tries a limited number
    /// of pairs per class, so that a channel used by few pairs does not cost a search over all of
    /// them.
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

    /// Expected load of a channel over all classes; for a backlogged class, over that class and its
    /// replies only.
    fn share(&self, id: ClassId, channel: ChannelId) -> f64 {
        let own = &self.classes[id.index()];
        let counts = |of: &&ClassTraffic| {
            if own.is_backlogged { of.root == own.root } else { !of.is_backlogged }
        };
        self.sum(channel, counts)
    }

    fn steady_share(&self, channel: ChannelId) -> f64 {
        self.sum(channel, |of| of.is_steady)
    }

    fn sum(&self, channel: ChannelId, counts: impl Fn(&&ClassTraffic) -> bool) -> f64 {
        self.classes.iter().filter(counts).map(|of| of.loads[channel.index()]).sum()
    }

    /// Load of the root class that fills a channel of the class or of its replies.
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
        let root = demand::root(plan, id);
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
        let choosing = plan.path_sets.iter().any(are_adaptive)
            || matches!(plan.path_choice, PathChoice::ByContention(_));
        let all = !choosing;
        let is_done = Carrier::new(plan).carry(id, &demand, |channel, is_of_host, load, flows| {
            if all || is_of_host {
                traffic.loads[channel.index()] += load;
                traffic.flows[channel.index()] += flows;
            }
        });
        traffic.kind = match (is_done, all) {
            (false, _) => BoundKind::None,
            (true, true) => BoundKind::AllChannels,
            (true, false) => BoundKind::HostChannels,
        };
        traffic
    }
}

fn are_adaptive(routes: &Routes) -> bool {
    matches!(routes, Routes::Table(tables) if tables.are_adaptive())
}

/// The channel into an endpoint.
fn ejection(plan: &Plan, endpoint: EndpointId) -> ChannelId {
    Fabric::reverse(plan.fabric.endpoint_channel(endpoint))
}

/// The fullest of the given channels; the first one in a tie.
fn fuller(channels: impl Iterator<Item = Loaded>) -> Option<Loaded> {
    channels.reduce(|a, b| if b.share > a.share { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::scenario::{Overrides, ScenarioSource};
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
        let all_to_all = Statistics::new(&plan.fabric, &plan.path_sets[0]).all_to_all.unwrap();
        let bound = TrafficBound::new(&plan).class(&plan, ClassId::new(0));
        // One packet per message, with its overhead.
        let gingham_model::Switching::Packets(packets) = &plan.switching else { panic!() };
        let wire = 1_024.0 + f64::from(packets.overhead_bytes);
        let expected = all_to_all.fraction * 1_024.0 / wire;
        let found = bound.load.unwrap();
        assert!((found / expected - 1.0).abs() < 1e-9, "{found}, not {expected}");
        assert_eq!(bound.fullest.unwrap().channel, all_to_all.bottleneck);
    }

    #[test]
    fn lists_of_destinations_carry_what_their_pairs_carry() {
        // Wormhole switching: route bytes and segment lengths depend on the length of the path.
        let text = TORUS
            .replace("infiniband-ndr", "myrinet-1280")
            .replace("length", "segmentation = { adaptive = \"80 B\" }\n        length");
        let plan = plan(&text);
        let id = ClassId::new(0);
        let collect = |demand: &Demand<'_>| {
            let mut loads = vec![(0.0, 0); plan.fabric.channel_count()];
            let is_done = Carrier::new(&plan).carry(id, demand, |channel, _, load, flows| {
                loads[channel.index()].0 += load;
                loads[channel.index()].1 += flows;
            });
            assert!(is_done);
            loads
        };
        let by_list = Demand::of(&plan, id, PAIRS_MAX).unwrap();
        let by_pair = Demand::of(&plan, id, PAIRS_MAX).unwrap().into_pairs(PAIRS_MAX).unwrap();
        let by_pair = Demand { pairs: by_pair, ..Demand::default() };
        for (one, other) in collect(&by_list).iter().zip(collect(&by_pair)) {
            assert!((one.0 - other.0).abs() < 1e-9 && one.1 == other.1, "{one:?}, not {other:?}");
        }
    }
}
