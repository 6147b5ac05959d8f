//! Routes with their proof of deadlock freedom.

use gingham_input::InputError;
use gingham_topology::routing::{
    self, Choice, DatelineRule, DependencyGraph, Ejection, LaneRule, LaneSet, Lanes, Proof,
    RouteSet, Routes, TableRoutes, prove, prove_between_hosts, prove_without_loops,
};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const CYCLE_LINES_MAX: usize = 11;

/// Routes of a fabric, with a proof or refutation of their deadlock freedom.
#[derive(Debug)]
pub struct ProvedRoutes {
    fabric: Arc<Fabric>,
    by_offset: Vec<Routes>,
    lanes: Option<Lanes>,
    ejection: Ejection,
    proof: Proof,
}

/// Lanes and outputs for packets that choose their output at every switch.
#[derive(Clone, PartialEq, Debug)]
pub struct AdaptiveChoice {
    /// Lanes reserved for packets that follow the routing tables only.
    pub escape_lanes: Vec<u8>,
    /// Lanes whose packets choose their output at every switch.
    pub adaptive_lanes: Vec<u8>,
    /// Outputs that packets may choose from.
    pub outputs: Choice,
}

impl ProvedRoutes {
    /// Proves that the routes of all LID offsets are jointly free of deadlock, or finds a cycle.
    pub fn new(
        fabric: Arc<Fabric>,
        by_offset: Vec<Routes>,
        lanes: Option<Lanes>,
        ejection: Ejection,
    ) -> Self {
        let set = RouteSet { ejection, ..RouteSet::new(&by_offset, lanes.as_ref()) };
        let proof = prove(&fabric, set);
        Self { fabric, by_offset, lanes, ejection, proof }
    }

    /// Returns the fabric.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// Returns the routes of each LID offset.
    pub fn by_offset(&self) -> &[Routes] {
        &self.by_offset
    }

    /// Returns the lanes of a channel and their assignment to packets; `None` if channels have a
    /// single lane.
    pub fn lanes(&self) -> Option<&Lanes> {
        self.lanes.as_ref()
    }

    /// Returns the routes, lanes and ejection rule that the proof covers.
    pub fn set(&self) -> RouteSet<'_> {
        let Self { by_offset, lanes, ejection, .. } = self;
        RouteSet { ejection: *ejection, ..RouteSet::new(by_offset, lanes.as_ref()) }
    }

    /// Returns the routes of LID offset 0.
    pub fn first(&self) -> &Routes {
        &self.by_offset[0]
    }

    /// Returns `source` if packets carry their routes, and `table` if switches look them up.
    pub fn form(&self) -> &'static str {
        match self.first() {
            Routes::Source(_) => "source",
            Routes::Table(_) => "table",
        }
    }

    /// Returns the name of the rule that assigns packets to dateline classes; `None` without
    /// datelines.
    pub fn dateline_rule(&self) -> Option<&'static str> {
        match self.lanes.as_ref()?.rule() {
            LaneRule::Datelines(datelines) => Some(match datelines.rule() {
                DatelineRule::ByHop => "by-hop",
                DatelineRule::ByWrap => "by-wrap",
            }),
            LaneRule::Free | LaneRule::Escape(_) | LaneRule::Tables { .. } => None,
        }
    }

    /// Returns the shortest cycle of channels (with lanes) that wait for one another; empty if
    /// there is none.
    pub fn cycle(&self) -> Vec<String> {
        self.cycle_names(&self.proof)
    }

    /// Returns the shortest cycle without packets in routing loops; empty if there is none.
    pub fn cycle_without_loops(&self) -> Vec<String> {
        if self.proof.is_free() {
            return Vec::new();
        }
        self.cycle_names(&prove_without_loops(&self.fabric, self.set()))
    }

    /// Returns the shortest cycle if only hosts send, not aggregation nodes or routers.
    pub fn cycle_between_hosts(&self) -> Vec<String> {
        if self.proof.is_free() {
            return Vec::new();
        }
        self.cycle_names(&prove_between_hosts(&self.fabric, self.set()))
    }

    fn cycle_names(&self, proof: &Proof) -> Vec<String> {
        let name = |buffer: &_| routing::vertex_name(&self.fabric, self.set(), *buffer);
        match proof {
            Proof::Free { .. } => Vec::new(),
            Proof::Cycle { buffers } => buffers.iter().map(name).collect(),
        }
    }

    /// Summarises the proof in a sentence, or lists the cycle with an example route for each step.
    pub fn explain(&self) -> String {
        match &self.proof {
            Proof::Free { order } if !self.escape_lanes().is_empty() => self.escaped(order),
            Proof::Free { order } => {
                let what =
                    if self.set().lane_count() > 1 { "lanes of channels" } else { "channels" };
                let count = order.len();
                let stretch = match self.ejection {
                    _ if self.tables_to_choose().is_some() => "every way that packets may choose",
                    Ejection::Always if self.visits_hosts() => "every leg between two hosts",
                    Ejection::Always => "every route",
                    Ejection::UntilFull => "every route, also through hosts that are full,",
                };
                format!(
                    "free of deadlock: the dependency graph of {count} {what} is acyclic, numbered so that \
                     {stretch} uses increasing numbers"
                )
            }
            Proof::Cycle { buffers } => format!(
                "can deadlock: packets that hold the {} {} of this cycle wait for each other\n{}",
                buffers.len(),
                if self.set().lane_count() > 1 { "lanes" } else { "channels" },
                shortened(routing::describe_cycle(&self.fabric, self.set(), buffers).trim_end())
            ),
        }
    }

    fn tables_to_choose(&self) -> Option<&TableRoutes> {
        match self.first() {
            Routes::Table(tables) if tables.are_adaptive() => Some(tables),
            _ => None,
        }
    }

    fn escape_lanes(&self) -> LaneSet {
        match self.lanes.as_ref().map(Lanes::rule) {
            Some(LaneRule::Escape(escape)) => escape.all_escape(),
            _ => LaneSet::EMPTY,
        }
    }

    fn escaped(&self, order: &[u32]) -> String {
        let lanes = self.escape_lanes().len() as usize;
        let count = order.len() / self.set().lane_count() * lanes;
        format!(
            "free of deadlock: the extended dependency graph of {count} escape lanes of channels is acyclic, so \
             every waiting packet has a way out (Duato 1995)\nif no packet on an adaptive lane stands behind another: with virtual cut-through \
             (network.lanes.forwarding), or lanes that are empty before they are granted again (network.lanes.reallocation = \
             \"tail-credit\")"
        )
    }

    fn visits_hosts(&self) -> bool {
        self.by_offset.iter().any(Routes::has_in_transit_hosts)
    }

    /// Returns the switches without hosts where a shortest path would need an in-transit host.
    pub fn hostless_switches(&self) -> Vec<&str> {
        match self.first() {
            Routes::Source(routes) => {
                let name = |switch: &NodeId| self.fabric.node(*switch).name.as_str();
                routes.fall_backs().switches.iter().map(name).collect()
            }
            Routes::Table(_) => Vec::new(),
        }
    }

    /// Returns the lanes and outputs that packets choose from; `None` for fixed paths.
    pub fn choice(&self) -> Option<AdaptiveChoice> {
        let outputs = Choice::new(&self.fabric, self.tables_to_choose()?);
        let count = self.lanes.as_ref().map_or(1, Lanes::count);
        let is_escape = |lane: &u8| self.escape_lanes().contains(*lane);
        let (escape_lanes, adaptive_lanes) = (0..).take(count).partition(is_escape);
        Some(AdaptiveChoice { escape_lanes, adaptive_lanes, outputs })
    }

    /// Describes each routing fault in a sentence.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (number, routes) in self.by_offset.iter().enumerate() {
            let of = match self.by_offset.len() {
                1 => String::new(),
                count => format!(" [path {} of {count}]", number + 1),
            };
            let trace = routes.trace(&self.fabric);
            faults.extend(trace.faults.iter().map(|fault| fault.describe(&self.fabric) + &of));
        }
        let drops = self.set().lane_use(&self.fabric).drops;
        faults.extend(drops.iter().map(|drop| drop.describe(&self.fabric)));
        faults
    }

    /// Finds an endpoint by name. An error message refers to argument `key` of the Python function
    /// `of`.
    pub fn endpoint(&self, of: &str, key: &str, name: &str) -> Result<EndpointId, InputError> {
        let fabric = &self.fabric;
        let found = fabric.endpoint_ids().find(|endpoint| fabric.endpoint_name(*endpoint) == name);
        found.ok_or_else(|| {
            let names = fabric.endpoint_ids().map(|endpoint| fabric.endpoint_name(endpoint));
            unknown(of, key, ("host", "known hosts"), name, names)
        })
    }

    /// Finds a channel by name. An error message refers to argument `key` of the Python function
    /// `of`.
    pub fn channel(&self, of: &str, key: &str, name: &str) -> Result<ChannelId, InputError> {
        let fabric = &self.fabric;
        let mut all = ChannelId::first(fabric.channel_count());
        all.find(|channel| fabric.channel_name(*channel) == name).ok_or_else(|| {
            let all = ChannelId::first(fabric.channel_count());
            let names = all.map(|channel| fabric.channel_name(channel));
            unknown(of, key, ("channel", "known channels"), name, names)
        })
    }

    /// Returns the number of channel groups that wait for one another in cycles, separately for
    /// each list of failed channels ([`DependencyGraph::cyclic_groups`]).
    pub fn deadlock_groups(&self, failures: &[Vec<String>]) -> Result<Vec<usize>, InputError> {
        let by_name: BTreeMap<String, ChannelId> = ChannelId::first(self.fabric.channel_count())
            .map(|channel| (self.fabric.channel_name(channel), channel))
            .collect();
        let find = |name: &String| {
            let known = by_name.get(name).copied();
            known.map_or_else(|| self.channel("Routes.deadlock_groups", "without", name), Ok)
        };
        let gone = failures.iter().map(|names| names.iter().map(find).collect());
        let gone: Vec<BTreeSet<ChannelId>> = gone.collect::<Result<_, _>>()?;
        if self.proof.is_free() {
            return Ok(vec![0; gone.len()]);
        }
        let graph = DependencyGraph::new(&self.fabric, self.set());
        Ok(gone.iter().map(|gone| graph.cyclic_groups(gone)).collect())
    }

    /// Returns the channel names of the path between two endpoints; `None` without a route.
    pub fn path(&self, source: &str, to: &str) -> Result<Option<Vec<String>>, InputError> {
        let from = self.endpoint("Routes.path", "source", source)?;
        let to = self.endpoint("Routes.path", "destination", to)?;
        let name = |channel: &ChannelId| self.fabric.channel_name(*channel);
        let path = self.first().path(&self.fabric, from, to);
        Ok(path.map(|path| path.channels().iter().map(name).collect()))
    }
}

fn unknown(
    of: &str,
    key: &str,
    (what, heading): (&str, &'static str),
    name: &str,
    known: impl Iterator<Item = String>,
) -> InputError {
    let message = format!("in `{key}`: \"{name}\" is not a {what} of this fabric");
    let error = InputError::from_parts(of, None, None, Some(key.to_owned()), message, [], None);
    error.suggesting(name, heading, known)
}

fn shortened(cycle: &str) -> String {
    let lines: Vec<&str> = cycle.lines().collect();
    let Some(left) = lines.len().checked_sub(CYCLE_LINES_MAX).filter(|left| *left > 0) else {
        return cycle.to_owned();
    };
    let [begin, end] = [&lines[..CYCLE_LINES_MAX - 1], &lines[lines.len() - 1..]];
    let more = format!("... and {left} more; all of them: `Routes.cycle`");
    [begin, &[more.as_str()], end].concat().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_topology::generate::Generator;
    use serde_json::json;

    fn ring(switches: u32) -> ProvedRoutes {
        let torus = json!({ "torus": { "dimensions": [switches], "hosts_per_switch": 1 } });
        let torus: Generator = serde_json::from_value(torus).expect("a torus");
        let fabric = Arc::new(torus.generate(1).expect("a ring"));
        let algorithm = serde_json::from_value(json!("dimension-order")).expect("a name");
        let routes = routing::route(&fabric, &algorithm, routing::Form::Table).expect("a ring");
        ProvedRoutes::new(fabric, vec![routes], None, Ejection::Always)
    }

    #[test]
    fn long_cycle_is_elided_in_the_middle() {
        let routes = ring(24);
        assert_eq!(routes.cycle().len(), 24);
        let explanation = routes.explain();
        let lines: Vec<&str> = explanation.lines().collect();
        assert!(
            lines[0].starts_with("can deadlock: packets that hold the 24 channels"),
            "{explanation}"
        );
        assert_eq!(lines.len(), 1 + 10 + 1 + 1, "{explanation}");
        assert_eq!(lines[11], "... and 14 more; all of them: `Routes.cycle`");
        assert!(lines[12].ends_with("closes the cycle"), "{explanation}");
    }

    #[test]
    fn unknown_name_suggests_the_nearest() {
        let routes = ring(5);
        let refused = routes.path("h1", "h2").expect_err("hosts of a torus have coordinates");
        assert_eq!(refused.to_json()["key"], "source");
        assert_eq!(refused.to_json()["file"], "Routes.path");
        let found = ["h1-0", "h2-0"].map(|name| routes.endpoint("Routes.path", "source", name));
        assert!(found.iter().all(Result::is_ok));
        let refused = routes.path("h1-0", "h22-0").expect_err("there are five");
        assert_eq!(refused.to_json()["key"], "destination");
        assert_eq!(refused.to_json()["nearest"], "h2-0");
        let channel = routes.channel("Routes.sharing", "channel", "s0[2] => s1[3]");
        let nearest = &channel.expect_err("an arrow is written otherwise").to_json()["nearest"];
        let nearest = nearest.as_str().expect("one is near");
        assert!(routes.channel("Routes.sharing", "channel", nearest).is_ok());
    }

    #[test]
    fn path_lists_its_channels() {
        let path =
            ring(5).path("h1-0", "h2-0").expect("both are there").expect("a route leads there");
        assert_eq!(path.len(), 3);
        assert!(path[0].starts_with("h1-0[1] -> ") && path[2].ends_with(" -> h2-0[1]"), "{path:?}");
    }
}
