//! Paths assigned by load, compared with all alternatives.
//!
//! Repeats the documented assignment: paths are taken in the order of the destination's switch, the
//! destination and the source; each is the best for the current loads, and a pass removes each path
//! before it is assigned again. Candidates follow the definition of up*/down* with the lowest
//! switch as root.

use crate::support::{any_plan, assert_leads, hops, routed, switch_of, up_channels};
use gingham_topology::routing::{
    Algorithm, Form, InTransit, PathSpread, Root, Routes, SimpleRoutes, SourceRoutes, TransitHosts,
};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

struct World {
    fabric: Fabric,
    up: BTreeSet<ChannelId>,
    hops: Vec<Vec<Option<usize>>>,
    hosts: Vec<u64>,
    residents: Vec<Vec<EndpointId>>,
}

impl World {
    fn new(fabric: Fabric) -> Self {
        let mut residents = vec![Vec::new(); fabric.switches().len()];
        for endpoint in fabric.endpoint_ids() {
            if let Some(switch) = switch_of(&fabric, endpoint) {
                residents[switch.index()].push(endpoint);
            }
        }
        let is_host = |endpoint: &&EndpointId| fabric.is_host_endpoint(**endpoint);
        let count = |all: &Vec<EndpointId>| all.iter().filter(is_host).count() as u64;
        let hosts = residents.iter().map(count).collect();
        let (up, hops) = (up_channels(&fabric), hops(&fabric));
        Self { fabric, up, hops, hosts, residents }
    }

    /// Endpoints that share their paths, and sources, in the order of assignment.
    fn order(&self, spread: PathSpread) -> Vec<(Vec<EndpointId>, NodeId)> {
        let rows = self.residents.iter().flat_map(|residents| match spread {
            PathSpread::Hosts => residents.iter().map(|to| vec![*to]).collect(),
            PathSpread::Switches if residents.is_empty() => vec![],
            PathSpread::Switches => vec![residents.clone()],
        });
        let sources = || self.fabric.switches().filter(|s| !self.residents[s.index()].is_empty());
        rows.flat_map(|row| sources().map(move |source| (row.clone(), source))).collect()
    }

    /// Pairs of hosts that share the path.
    fn weight(&self, row: &[EndpointId], source: NodeId) -> u64 {
        let hosts = row.iter().filter(|to| self.fabric.is_host_endpoint(**to)).count() as u64;
        hosts * self.hosts[source.index()]
    }

    /// Paths of `length` channels with turns from down to up only at permitted switches.
    fn paths(
        &self,
        from: NodeId,
        to: NodeId,
        length: usize,
        may_turn: &dyn Fn(NodeId) -> bool,
    ) -> Vec<Vec<ChannelId>> {
        let (mut found, mut path) = (Vec::new(), Vec::new());
        self.extend(from, to, length, may_turn, &mut path, &mut found);
        found
    }

    fn extend(
        &self,
        at: NodeId,
        to: NodeId,
        left: usize,
        may_turn: &dyn Fn(NodeId) -> bool,
        path: &mut Vec<ChannelId>,
        found: &mut Vec<Vec<ChannelId>>,
    ) {
        if self.hops[at.index()][to.index()].is_none_or(|hops| hops > left) {
            return;
        }
        if left == 0 {
            found.push(path.clone());
            return;
        }
        for channel in self.fabric.channels_from(at) {
            let next = self.fabric.target(channel).node;
            let turns = path.last().is_some_and(|last| self.turns(*last, channel));
            let lawful = !turns || may_turn(at);
            if self.fabric.node(next).is_switch() && next != at && lawful {
                path.push(channel);
                self.extend(next, to, left - 1, may_turn, path, found);
                path.pop();
            }
        }
    }

    fn turns(&self, before: ChannelId, after: ChannelId) -> bool {
        !self.up.contains(&before) && self.up.contains(&after)
    }

    fn turn_count(&self, path: &[ChannelId]) -> usize {
        path.windows(2).filter(|pair| self.turns(pair[0], pair[1])).count()
    }

    /// Only channels between switches.
    fn kept(&self, routes: &SourceRoutes, source: NodeId, to: EndpointId) -> Vec<ChannelId> {
        let onward = routes.path(&self.fabric, source, to).expect("cables join them");
        let is_switch = |end: NodeId| self.fabric.node(end).is_switch();
        let between = |channel: &ChannelId| {
            is_switch(self.fabric.source(*channel).node)
                && is_switch(self.fabric.target(*channel).node)
        };
        onward.iter().filter(between).collect()
    }
}

#[derive(Default)]
struct Loads(BTreeMap<ChannelId, u64>);

impl Loads {
    fn on(&self, channel: ChannelId) -> u64 {
        self.0.get(&channel).copied().unwrap_or(0)
    }

    fn lay(&mut self, path: &[ChannelId], paths: u64) {
        for channel in path {
            *self.0.entry(*channel).or_default() += paths;
        }
    }

    fn take_up(&mut self, path: &[ChannelId], paths: u64) {
        for channel in path {
            *self.0.get_mut(channel).expect("it was laid") -= paths;
        }
    }
}

fn real(count: u64) -> f64 {
    f64::from(u32::try_from(count).expect("a small number"))
}

fn source_routes(fabric: &Fabric, algorithm: &Algorithm) -> SourceRoutes {
    match routed(fabric, algorithm, Form::Source) {
        Routes::Source(routes) => routes,
        Routes::Table(_) => panic!("asked for source routes"),
    }
}

/// First without loads, then for each path after its removal.
fn replay(
    world: &World,
    spread: PathSpread,
    rounds: &[SourceRoutes],
    check: impl Fn(&Loads, NodeId, NodeId, &[ChannelId]),
) {
    let mut loads = Loads::default();
    let mut before: Option<&SourceRoutes> = None;
    for routes in rounds {
        for (row, source) in world.order(spread) {
            let last = switch_of(&world.fabric, row[0]).expect("on a switch");
            if world.hops[source.index()][last.index()].is_none() {
                assert_eq!(routes.path(&world.fabric, source, row[0]), None);
                continue;
            }
            let weight = world.weight(&row, source);
            if let Some(before) = before {
                loads.take_up(&world.kept(before, source, row[0]), weight);
            }
            let path = world.kept(routes, source, row[0]);
            for to in &row {
                assert_eq!(world.kept(routes, source, *to), path, "a row shares its path");
            }
            check(&loads, source, last, &path);
            loads.lay(&path, weight);
        }
        before = Some(routes);
    }
}

fn check_in_transit(world: &World, hosts: TransitHosts, spread: PathSpread) {
    let rounds = [0, 1, 2].map(|passes| {
        let root = Root::LowestId;
        let parameters = InTransit { root, hosts, spread, passes, ..InTransit::default() };
        source_routes(&world.fabric, &Algorithm::InTransit(parameters))
    });
    let has_hosts = |switch: NodeId| world.hosts[switch.index()] > 0;
    replay(world, spread, &rounds, |loads, source, last, path| {
        let distance = world.hops[source.index()][last.index()].expect("joined");
        let lengths = distance..=2 * world.hosts.len();
        let of_length = lengths.map(|length| world.paths(source, last, length, &has_hosts));
        let mut candidates =
            of_length.into_iter().find(|found| !found.is_empty()).expect("one exists");
        if hosts == TransitHosts::Fewest {
            let fewest = candidates.iter().map(|path| world.turn_count(path)).min();
            candidates.retain(|path| Some(world.turn_count(path)) == fewest);
        }
        let cost = |path: &Vec<ChannelId>| {
            let loads = path.iter().map(|channel| loads.on(*channel));
            (loads.clone().max(), loads.sum::<u64>(), world.turn_count(path))
        };
        let best = candidates.iter().map(cost).min();
        assert!(candidates.contains(&path.to_vec()), "a shortest lawful path");
        assert_eq!(Some(cost(&path.to_vec())), best);
    });
    let routes = &rounds[2];
    for (row, source) in world.order(spread) {
        let Some(onward) = routes.path(&world.fabric, source, row[0]) else { continue };
        let path = world.kept(routes, source, row[0]);
        assert_eq!(usize::from(onward.in_transit_hosts), world.turn_count(&path));
        assert_eq!(onward.switches(), path.len() + 1 + usize::from(onward.in_transit_hosts));
    }
    check_fall_backs(world, spread, routes);
}

fn check_fall_backs(world: &World, spread: PathSpread, routes: &SourceRoutes) {
    let (mut pairs, mut switches) = (0, BTreeSet::new());
    for (row, source) in world.order(spread) {
        let last = switch_of(&world.fabric, row[0]).expect("on a switch");
        let Some(distance) = world.hops[source.index()][last.index()] else { continue };
        let weight = world.weight(&row, source);
        if world.kept(routes, source, row[0]).len() > distance && weight > 0 {
            pairs += weight;
            for path in world.paths(source, last, distance, &|_| true) {
                let turns = path.windows(2).filter(|pair| world.turns(pair[0], pair[1]));
                let at = turns.map(|pair| world.fabric.target(pair[0]).node);
                switches.extend(at.filter(|switch| world.hosts[switch.index()] == 0));
            }
        }
    }
    assert_eq!(routes.fall_backs().pairs, pairs);
    assert_eq!(routes.fall_backs().switches, switches.into_iter().collect::<Vec<_>>());
}

fn check_simple_routes(world: &World, weight: f64, spread: PathSpread) {
    let rounds = [0, 1].map(|passes| {
        let root = Root::LowestId;
        let parameters = SimpleRoutes { root, weight, spread, passes, ..SimpleRoutes::default() };
        source_routes(&world.fabric, &Algorithm::SimpleRoutes(parameters))
    });
    let count = world.hosts.len();
    let is_switch = |node: NodeId| world.fabric.node(node).is_switch();
    let channels = ChannelId::first(world.fabric.channel_count()).filter(|channel| {
        let ends = [world.fabric.source(*channel).node, world.fabric.target(*channel).node];
        ends[0] != ends[1] && ends.into_iter().all(is_switch)
    });
    let channels = real(channels.count() as u64);
    replay(world, spread, &rounds, |loads, source, last, path| {
        let total = real(loads.0.values().sum::<u64>().max(1));
        let price =
            |channel: &ChannelId| 1.0 + weight * real(loads.on(*channel)) / total * channels;
        let cost = |path: &Vec<ChannelId>| path.iter().map(price).sum::<f64>();
        // A legal path visits a switch once.
        let candidates =
            (0..count).flat_map(|length| world.paths(source, last, length, &|_| false));
        let best = candidates.map(|path| cost(&path)).fold(f64::INFINITY, f64::min);
        assert_eq!(world.turn_count(path), 0, "up, then down");
        assert!((cost(&path.to_vec()) - best).abs() < 1e-4 * best.max(1.0));
        if weight == 0.0 {
            let shortest =
                (0..count).find(|n| !world.paths(source, last, *n, &|_| false).is_empty());
            assert_eq!(Some(path.len()), shortest);
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn each_in_transit_path_is_optimal(plan in any_plan()) {
        let world = World::new(plan.build());
        for hosts in [TransitHosts::Any, TransitHosts::Fewest] {
            for spread in [PathSpread::Hosts, PathSpread::Switches] {
                check_in_transit(&world, hosts, spread);
            }
        }
    }

    #[test]
    fn each_simple_route_has_minimal_cost(plan in any_plan()) {
        let world = World::new(plan.build());
        for weight in [0.0, 0.5, 4.0] {
            for spread in [PathSpread::Hosts, PathSpread::Switches] {
                check_simple_routes(&world, weight, spread);
            }
        }
    }

    #[test]
    fn simple_routes_reach_every_endpoint(plan in any_plan()) {
        let fabric = plan.build();
        let algorithm = Algorithm::SimpleRoutes(SimpleRoutes { weight: 5.0, ..SimpleRoutes::default() });
        let routes = routed(&fabric, &algorithm, Form::Source);
        for (from, to) in crate::support::pairs(&fabric) {
            if let Some(path) = routes.path(&fabric, from, to)
                && switch_of(&fabric, from).is_some()
            {
                assert_leads(&fabric, path.channels(), from, to);
            }
        }
    }
}
