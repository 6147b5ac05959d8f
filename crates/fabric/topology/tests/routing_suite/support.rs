//! Small fabrics, and slower independent computations.

use gingham_kernel::Length;
use gingham_topology::generate::{Generator, Mesh, Torus};
use gingham_topology::routing::{
    Algorithm, Buffer, DimensionOrder, Form, Proof, Root, Routes, ShortestPath, TableRoutes,
    UpDown, route,
};
use gingham_topology::{
    ChannelId, EndpointId, Fabric, FabricBuilder, Guid, LinkSpeed, NodeId, NodeKind,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

pub(crate) const FORMS: [Form; 2] = [Form::Source, Form::Table];

pub(crate) fn shortest_path() -> Algorithm {
    Algorithm::ShortestPath(ShortestPath::default())
}

pub(crate) fn dimension_order() -> Algorithm {
    Algorithm::DimensionOrder(DimensionOrder::default())
}

pub(crate) fn up_down(root: Root) -> Algorithm {
    Algorithm::UpDown(UpDown { root, ..UpDown::default() })
}

/// Switches `s0`, `s1`, ..., hosts `h0`, `h1`, ... on the given switches, and cables.
pub(crate) fn fabric(switches: usize, host_on: &[usize], cables: &[(usize, usize)]) -> Fabric {
    Plan { switches, residents: hosts(host_on), cables: cables.to_vec(), peers: 0 }.build()
}

/// Host `h(k n + i)` is on switch i.
pub(crate) fn ring(switches: usize, hosts_per_switch: usize) -> Fabric {
    let host_on: Vec<_> = (0..switches * hosts_per_switch).map(|host| host % switches).collect();
    let cables: Vec<_> = (0..switches).map(|from| (from, (from + 1) % switches)).collect();
    fabric(switches, &host_on, &cables)
}

fn hosts(host_on: &[usize]) -> Vec<(NodeKind, usize)> {
    host_on.iter().map(|switch| (NodeKind::Host, *switch)).collect()
}

pub(crate) fn generated(generator: &Generator, seed: u64) -> Fabric {
    generator.generate(seed).expect("lawful parameters")
}

pub(crate) fn mesh(dimensions: &[u32]) -> Fabric {
    let mesh = Mesh { dimensions: dimensions.to_vec(), hosts_per_switch: 1, rails: 1 };
    generated(&Generator::Mesh(mesh), 0)
}

/// Closed in each dimension.
pub(crate) fn torus(dimensions: &[u32]) -> Fabric {
    let torus = Torus { dimensions: dimensions.to_vec(), hosts_per_switch: 1, rails: 1 };
    generated(&Generator::Torus(torus), 0)
}

#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) switches: usize,
    /// Nodes other than switches, with their switches.
    pub(crate) residents: Vec<(NodeKind, usize)>,
    /// Between switches, also parallel or from a switch to itself.
    pub(crate) cables: Vec<(usize, usize)>,
    pub(crate) peers: usize,
}

impl Plan {
    pub(crate) fn build(&self) -> Fabric {
        self.build_with(|_| None)
    }

    /// Numbers of cables: residents, then cables, then peers.
    pub(crate) fn build_with(&self, speed: impl Fn(usize) -> Option<LinkSpeed>) -> Fabric {
        let mut builder = FabricBuilder::new();
        let mut ends = Vec::new();
        let switches: Vec<_> = (0..self.switches)
            .map(|n| builder.add_plain(NodeKind::Switch, &format!("s{n}"), guid(n), 200))
            .collect();
        for (n, (kind, switch)) in self.residents.iter().enumerate() {
            let resident = builder.add_plain(*kind, &format!("h{n}"), guid(1_000 + n), 1);
            ends.push((resident, switches[*switch]));
        }
        ends.extend(self.cables.iter().map(|(a, b)| (switches[*a], switches[*b])));
        for n in 0..self.peers {
            let pair = [0, 1].map(|side| {
                let name = format!("p{}", 2 * n + side);
                builder.add_plain(NodeKind::Host, &name, guid(2_000 + 2 * n + side), 1)
            });
            ends.push((pair[0], pair[1]));
        }
        for (cable, (a, b)) in ends.into_iter().enumerate() {
            let port = builder.free_port(a).expect("a free port");
            let other_port =
                if a == b { port + 1 } else { builder.free_port(b).expect("a free port") };
            let length = Some(Length::from_mm(1_000));
            let ends = [(a, port), (b, other_port)];
            builder.add_cable(ends, speed(cable), length).expect("the ports are free");
        }
        builder.build()
    }
}

fn guid(number: usize) -> Guid {
    Guid(number as u64 + 1)
}

/// Every valid feature: islands, parallel cables, cables from a switch to itself, aggregation
/// nodes, routers, pairs of hosts.
pub(crate) fn any_plan() -> impl Strategy<Value = Plan> {
    let kind = prop_oneof![
        5 => Just(NodeKind::Host),
        1 => Just(NodeKind::Aggregation),
        1 => Just(NodeKind::Router),
    ];
    (1..10_usize).prop_flat_map(move |switches| {
        let residents = proptest::collection::vec((kind.clone(), 0..switches), 0..14);
        let cables = proptest::collection::vec((0..switches, 0..switches), 0..20);
        (residents, cables, 0..3_usize).prop_map(move |(residents, cables, peers)| Plan {
            switches,
            residents,
            cables,
            peers,
        })
    })
}

/// Entries need not lead anywhere; 0 means no entry.
pub(crate) fn wild_tables(fabric: &Fabric, ports: &[u16]) -> TableRoutes {
    let mut tables = TableRoutes::new(fabric);
    let mut ports = ports.iter().copied().cycle();
    for switch in fabric.switches() {
        for to in fabric.endpoint_ids() {
            tables.set_port(switch, to, ports.next());
        }
    }
    tables
}

pub(crate) fn pairs(fabric: &Fabric) -> impl Iterator<Item = (EndpointId, EndpointId)> {
    fabric.endpoint_ids().flat_map(|from| {
        fabric.endpoint_ids().filter(move |to| from != *to).map(move |to| (from, to))
    })
}

pub(crate) fn endpoint(fabric: &Fabric, name: &str) -> EndpointId {
    let named = |endpoint: &EndpointId| fabric.endpoint_name(*endpoint) == name;
    fabric.endpoint_ids().find(named).unwrap_or_else(|| panic!("no endpoint {name}"))
}

/// Names of the nodes on the path, or "none".
pub(crate) fn way(fabric: &Fabric, routes: &Routes, from: &str, to: &str) -> String {
    let path = routes.path(fabric, endpoint(fabric, from), endpoint(fabric, to));
    let Some(path) = path else { return "none".to_owned() };
    let name = |node: NodeId| fabric.node(node).name.clone();
    let mut names = vec![name(fabric.source(path.channels()[0]).node)];
    names.extend(path.channels().iter().map(|channel| name(fabric.target(*channel).node)));
    names.join(" ")
}

pub(crate) fn routed(fabric: &Fabric, algorithm: &Algorithm, form: Form) -> Routes {
    route(fabric, algorithm, form).expect("the algorithm applies")
}

pub(crate) fn channels_of(cycle: &[Buffer]) -> Vec<ChannelId> {
    cycle.iter().map(|buffer| buffer.channel).collect()
}

pub(crate) fn cycle_of(channels: &[ChannelId]) -> Proof {
    let buffers = channels.iter().map(|channel| Buffer { channel: *channel, lane: 0 }).collect();
    Proof::Cycle { buffers }
}

/// `None` if the cable leads to another endpoint.
pub(crate) fn switch_of(fabric: &Fabric, endpoint: EndpointId) -> Option<NodeId> {
    let node = fabric.target(fabric.endpoint_channel(endpoint)).node;
    fabric.node(node).is_switch().then_some(node)
}

pub(crate) fn joins_switches(fabric: &Fabric, channel: ChannelId) -> bool {
    [fabric.source(channel), fabric.target(channel)]
        .iter()
        .all(|end| fabric.node(end.node).is_switch())
}

/// By Floyd and Warshall.
pub(crate) fn hops(fabric: &Fabric) -> Vec<Vec<Option<usize>>> {
    let count = fabric.switches().len();
    let mut hops = vec![vec![None; count]; count];
    for cable in fabric.cables() {
        let [a, b] = cable.ends.map(|end| end.node.index());
        if a < count && b < count {
            hops[a][b] = Some(1);
            hops[b][a] = Some(1);
        }
    }
    for (switch, row) in hops.iter_mut().enumerate() {
        row[switch] = Some(0);
    }
    for middle in 0..count {
        for from in 0..count {
            for to in 0..count {
                if let (Some(first), Some(second)) = (hops[from][middle], hops[middle][to]) {
                    let through = first + second;
                    hops[from][to] = Some(hops[from][to].map_or(through, |old| old.min(through)));
                }
            }
        }
    }
    hops
}

/// Along cables, without repeating a switch.
pub(crate) fn assert_leads(
    fabric: &Fabric,
    channels: &[ChannelId],
    from: EndpointId,
    to: EndpointId,
) {
    assert_eq!(fabric.source(channels[0]), fabric.endpoint(from));
    assert_eq!(fabric.target(*channels.last().expect("a path has channels")), fabric.endpoint(to));
    let mut visited = Vec::new();
    for pair in channels.windows(2) {
        let (arrives, leaves) = (fabric.target(pair[0]).node, fabric.source(pair[1]).node);
        assert_eq!(arrives, leaves, "a channel begins where the one before ends");
        assert!(fabric.node(arrives).is_switch(), "only switches forward");
        assert!(!visited.contains(&arrives), "a switch is met once");
        visited.push(arrives);
    }
}

/// From the definition: towards the lowest switch of the island.
pub(crate) fn up_channels(fabric: &Fabric) -> BTreeSet<ChannelId> {
    let hops = hops(fabric);
    let height = |switch: NodeId| {
        let from_lowest = hops[switch.index()].iter().copied().flatten().next();
        (from_lowest.expect("a switch reaches itself"), switch)
    };
    ChannelId::first(fabric.channel_count())
        .filter(|channel| joins_switches(fabric, *channel))
        .filter(|channel| {
            height(fabric.target(*channel).node) < height(fabric.source(*channel).node)
        })
        .collect()
}
