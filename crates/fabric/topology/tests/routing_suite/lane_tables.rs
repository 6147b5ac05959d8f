//! Dependencies of tables that select lanes, compared with every packet of every pair.

use crate::lanes::any_lane_map;
use crate::support::{
    any_plan, joins_switches, pairs, routed, shortest_path, switch_of, wild_tables,
};
use gingham_topology::routing::{
    Algorithm, Buffer, BufferId, DependencyGraph, Form, InTransit, LaneMap, Lanes, RouteSet,
    Routes, ServiceLevels, TableRoutes, VcClass, route,
};
use gingham_topology::{ChannelId, EndpointId, Fabric};
use proptest::prelude::*;
use std::collections::BTreeSet;

type Turns = BTreeSet<(Buffer, Buffer)>;

struct Subject<'a> {
    fabric: &'a Fabric,
    routes: &'a [Routes],
    map: &'a LaneMap,
    levels: &'a ServiceLevels,
    /// Packets use the level of their pair.
    by_pair: bool,
    /// Levels of packets of any pair.
    everywhere: &'a [u8],
}

impl Subject<'_> {
    /// Of the pairs selected by `counts`.
    fn turns(&self, counts: impl Fn(&Routes, EndpointId, EndpointId) -> bool) -> Turns {
        let mut turns = Turns::new();
        for (lid_offset, routes) in (0..).zip(self.routes) {
            let hangs = |endpoint| switch_of(self.fabric, endpoint).is_some();
            let on_switches = pairs(self.fabric).filter(|(from, to)| hangs(*from) && hangs(*to));
            for (from, to) in on_switches.filter(|(from, to)| counts(routes, *from, *to)) {
                let own = self.by_pair.then(|| self.levels.level(from, to, lid_offset));
                for level in own.into_iter().chain(self.everywhere.iter().copied()) {
                    self.follow(routes, from, to, level, &mut turns);
                }
            }
        }
        turns
    }

    /// Until the packet stops or repeats a buffer.
    fn follow(
        &self,
        routes: &Routes,
        from: EndpointId,
        to: EndpointId,
        level: u8,
        turns: &mut Turns,
    ) {
        let own = self.fabric.endpoint_channel(from);
        let Some(lane) = self.map.first_lane(from, level) else { return };
        let (mut held, mut seen) = (Buffer { channel: own, lane }, BTreeSet::new());
        while seen.insert(held) {
            let Some(channel) = next(self.fabric, routes, from, to, held.channel) else { return };
            let lane = match self.fabric.endpoint_at(self.fabric.target(held.channel)) {
                Some(host) => self.map.first_lane(host, level),
                None => self.map.lane(self.fabric, held.channel, channel, level),
            };
            let Some(lane) = lane else { return };
            let wanted = Buffer { channel, lane };
            if [held, wanted].iter().all(|buffer| joins_switches(self.fabric, buffer.channel)) {
                turns.insert((held, wanted));
            }
            held = wanted;
        }
    }
}

fn next(
    fabric: &Fabric,
    routes: &Routes,
    from: EndpointId,
    to: EndpointId,
    held: ChannelId,
) -> Option<ChannelId> {
    routes.next(fabric, from, to, held)
}

fn loops(fabric: &Fabric, routes: &Routes, from: EndpointId, to: EndpointId) -> bool {
    let Routes::Table(_) = routes else { return false };
    let (mut held, mut seen) = (fabric.endpoint_channel(from), BTreeSet::new());
    while seen.insert(held) {
        let Some(channel) = next(fabric, routes, from, to, held) else { return false };
        held = channel;
    }
    true
}

fn dependencies(graph: &DependencyGraph) -> Turns {
    let after = |id| graph.successors(id).into_iter().map(move |next| (id, next));
    let pairs = BufferId::first(graph.buffer_count()).flat_map(after);
    pairs.map(|(held, wanted)| (graph.buffer(held), graph.buffer(wanted))).collect()
}

fn assert_turns_of_pairs(subject: &Subject<'_>) -> Result<(), TestCaseError> {
    let Subject { fabric, routes, map, levels, by_pair, everywhere } = *subject;
    let everywhere: Vec<VcClass> = everywhere.iter().copied().map(VcClass).collect();
    let lanes = Lanes::by_tables(fabric, map.clone(), levels.clone(), by_pair, &everywhere);
    let set = RouteSet::new(routes, Some(&lanes));
    let is_host = |endpoint| fabric.is_host_endpoint(endpoint);
    let all = DependencyGraph::new(fabric, set);
    prop_assert_eq!(dependencies(&all), subject.turns(|_, _, _| true));
    let hosts = DependencyGraph::between_hosts(fabric, set);
    prop_assert_eq!(
        dependencies(&hosts),
        subject.turns(|_, from, to| is_host(from) && is_host(to))
    );
    let ending = DependencyGraph::without_loops(fabric, set);
    prop_assert_eq!(
        dependencies(&ending),
        subject.turns(|routes, from, to| !loops(fabric, routes, from, to))
    );
    Ok(())
}

/// Mostly right, with a few wrong entries.
fn damaged(fabric: &Fabric, ports: &[u16]) -> Routes {
    let Routes::Table(mut tables) = routed(fabric, &shortest_path(), Form::Table) else {
        unreachable!("tables were asked for")
    };
    let mut ports = ports.iter().copied().cycle();
    for switch in fabric.switches() {
        for to in fabric.endpoint_ids() {
            if ports.next().is_some_and(|port| port == 0) {
                tables.set_port(switch, to, ports.next());
            }
        }
    }
    Routes::Table(TableRoutes::clone(&tables))
}

proptest! {
    #[test]
    fn dependencies_match_all_pairs_one_by_one(
        plan in any_plan(),
        lane_count in 1..5_u8,
        numbers in proptest::collection::vec(any::<u8>(), 997),
        ports in proptest::collection::vec(0..8_u16, 301),
        levels_differ in any::<bool>(),
        by_pair in any::<bool>(),
        everywhere in proptest::collection::vec(0..16_u8, 1..3),
    ) {
        let fabric = plan.build();
        let (map, mut next) = any_lane_map(&fabric, &numbers, lane_count);
        let levels = if levels_differ {
            ServiceLevels::by_pair(&fabric, 2, |_, _, _| next() % 16)
        } else {
            ServiceLevels::zero(&fabric)
        };
        let wild = Routes::Table(wild_tables(&fabric, &ports));
        let source = routed(&fabric, &shortest_path(), Form::Source);
        let mut sets = vec![vec![wild, damaged(&fabric, &ports)], vec![damaged(&fabric, &ports), source]];
        if let Ok(in_transit) = route(&fabric, &Algorithm::InTransit(InTransit::default()), Form::Source) {
            sets.push(vec![in_transit]);
        }
        for routes in &sets {
            let everywhere = if by_pair { &everywhere[1..] } else { &everywhere };
            let subject =
                Subject { fabric: &fabric, routes, map: &map, levels: &levels, by_pair, everywhere };
            assert_turns_of_pairs(&subject)?;
        }
    }
}

#[test]
fn looping_packet_follows_its_lane_changes() {
    // A ring of three that sends packets for h3 round; h3 is on s3, joined to s0. The only sender,
    // on s0, begins on lane 0; packets that come round continue on lane 1.
    let fabric = crate::support::fabric(4, &[0, 3], &[(0, 1), (1, 2), (2, 0), (0, 3)]);
    let leads = |from: usize, to: usize| {
        let ids = ChannelId::first(fabric.channel_count());
        let is_it = |channel: &ChannelId| {
            let ends = (fabric.source(*channel).node.index(), fabric.target(*channel).node.index());
            ends == (from, to)
        };
        ids.into_iter().find(is_it).expect("a cable")
    };
    let ring = [leads(0, 1), leads(1, 2), leads(2, 0)];
    let mut tables = TableRoutes::new(&fabric);
    let to = EndpointId::new(1);
    for channel in ring {
        let from = fabric.source(channel);
        tables.set_port(from.node, to, Some(from.port));
    }
    let mut map = LaneMap::uniform(&fabric, [0; 16]);
    let (input, output) = (fabric.target(ring[2]).port, fabric.source(ring[0]).port);
    map.set_switch(fabric.source(ring[0]).node, input, output, [1; 16]);
    let lanes = Lanes::new(&fabric, map, ServiceLevels::zero(&fabric));
    let routes = [Routes::Table(tables)];
    let set = RouteSet::new(&routes, Some(&lanes));
    let on = |place: usize, lane| Buffer { channel: ring[place], lane };
    let expected =
        [(on(0, 0), on(1, 0)), (on(1, 0), on(2, 0)), (on(2, 0), on(0, 1)), (on(0, 1), on(1, 0))];
    assert_eq!(dependencies(&DependencyGraph::new(&fabric, set)), expected.into_iter().collect());
    assert!(
        !gingham_topology::prove(&fabric, set).is_free(),
        "round and round on lane 1 of the first"
    );
    assert_eq!(dependencies(&DependencyGraph::without_loops(&fabric, set)), Turns::new());
}
