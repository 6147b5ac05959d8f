//! Congestion trees of given waits: roots, branches, leaves, feeding flows and victims.

use crate::feed;
use gingham_net::congestion::{Onward, Tree, Waiter, trees};
use gingham_net::{ClassId, FlowKey, PathId, Plan, RoutingScheme};
use gingham_topology::routing::{Algorithm, Buffer, Form, LaneSet, UpDown, route};
use gingham_topology::{ChannelId, EndpointId, Fabric, FabricBuilder, Guid, NodeKind};

/// Cables join two names each; single capitals are switches.
fn plan(cables: &[(&str, &str)]) -> Plan {
    let mut builder = FabricBuilder::new();
    let mut nodes = std::collections::BTreeMap::new();
    for name in cables.iter().flat_map(|(a, b)| [*a, *b]) {
        let is_switch = name.len() == 1;
        let kind = if is_switch { NodeKind::Switch } else { NodeKind::Host };
        let guid = Guid(0x100 + nodes.len() as u64);
        let ports = if is_switch { 16 } else { 1 };
        nodes.entry(name).or_insert_with(|| builder.add_plain(kind, name, guid, ports));
    }
    for (a, b) in cables {
        builder.join(nodes[a], nodes[b]).unwrap();
    }
    let fabric = builder.build();
    let plan = feed::plan(1, 1_000);
    let routes = route(&fabric, &Algorithm::UpDown(UpDown::default()), Form::Source).unwrap();
    let channels = vec![plan.channels[0]; fabric.channel_count()];
    let routing = RoutingScheme::by_pair(routes);
    Plan { fabric, routing, channels, ..plan }
}

fn channel(fabric: &Fabric, name: &str) -> ChannelId {
    let (from, to) = name.split_once("->").unwrap();
    let named = |node| fabric.node(node).name.as_str();
    let is_it = |of: &ChannelId| {
        named(fabric.source(*of).node) == from && named(fabric.target(*of).node) == to
    };
    ChannelId::first(fabric.channel_count()).find(is_it).unwrap()
}

fn flow(fabric: &Fabric, name: &str) -> FlowKey {
    let host = |name: &str| -> EndpointId {
        fabric.endpoint_ids().find(|host| fabric.endpoint_name(*host) == name).unwrap()
    };
    let (from, to) = name.split_once('>').unwrap();
    FlowKey { class: ClassId::new(0), source: host(from), destination: host(to), stream: None }
}

/// Lines are `place flow channel blocked lanes/lanes`. The place is `-` at a host, the channel `-`
/// behind another packet.
fn waiters(plan: &Plan, text: &str) -> Vec<Waiter> {
    let fabric = &plan.fabric;
    let waiter = |line: &str| {
        let parts: Vec<&str> = line.split_whitespace().collect();
        let [at, of, onward_by, which] = parts[..] else { panic!("four parts: {line}") };
        let buffer = |name: &str| {
            let (name, lane) = name.split_once('.').unwrap_or((name, "0"));
            Buffer { channel: channel(fabric, name), lane: lane.parse().unwrap() }
        };
        let (blocked, all) = which.split_once('/').unwrap();
        let set = |text: &str| LaneSet::from_bits(u16::from_str_radix(text, 2).unwrap());
        Waiter {
            at: (at != "-").then(|| buffer(at)),
            flow: flow(fabric, of),
            path_id: Some(PathId::PRIMARY),
            onward: (onward_by != "-").then(|| Onward {
                output: channel(fabric, onward_by),
                lanes: set(all),
                blocked: set(blocked),
            }),
        }
    };
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(waiter).collect()
}

fn described(plan: &Plan, tree: &Tree) -> String {
    let fabric = &plan.fabric;
    let name = |channel: ChannelId| {
        let of = |node| fabric.node(node).name.clone();
        format!("{}->{}", of(fabric.source(channel).node), of(fabric.target(channel).node))
    };
    let lanes = |of: &[Buffer]| -> String {
        let text = |at: &Buffer| match at.lane {
            0 => name(at.channel),
            lane => format!("{}.{lane}", name(at.channel)),
        };
        sorted(of.iter().map(text))
    };
    let flow = |of: &FlowKey| {
        format!("{}>{}", fabric.endpoint_name(of.source), fabric.endpoint_name(of.destination))
    };
    format!(
        "{}: branches {} | leaves {} | depth {} | hosts {} | feed {} | victims {} | {} packets",
        tree.root.map_or("knot".to_owned(), name),
        lanes(&tree.branches),
        lanes(&tree.leaves),
        tree.depth,
        sorted(tree.hosts.iter().map(|host| fabric.endpoint_name(*host))),
        sorted(tree.feeding.iter().map(flow)),
        sorted(tree.victims.iter().map(flow)),
        tree.packets
    )
}

fn sorted(words: impl Iterator<Item = String>) -> String {
    let mut words: Vec<String> = words.collect();
    words.sort();
    words.join(" ")
}

fn found(plan: &Plan, lines: &str) -> Vec<String> {
    let mut waiters = waiters(plan, lines);
    let told_of = |waiters: &[Waiter]| -> Vec<String> {
        let mut all: Vec<_> =
            trees(plan, waiters).iter().map(|tree| described(plan, tree)).collect();
        all.sort();
        all
    };
    let all = told_of(&waiters);
    waiters.reverse();
    assert_eq!(told_of(&waiters), all, "their order says nothing");
    all
}

/// Three switches in a row: A1, A2, AV at A; B1 and BV at B; C1 and C2 at C.
fn row() -> Plan {
    plan(&[
        ("A", "B"),
        ("B", "C"),
        ("A", "A1"),
        ("A", "A2"),
        ("A", "AV"),
        ("B", "B1"),
        ("B", "BV"),
        ("C", "C1"),
        ("C", "C2"),
    ])
}

#[test]
fn tree_extends_from_its_root_back_to_the_hosts() {
    let lines = "
        B->C   A1>C1  C->C1  0/1
        A->B   A1>C1  B->C   1/1
        A1->A  A1>C1  A->B   1/1
        -      A1>C1  A1->A  1/1
        A2->A  A2>C1  A->B   1/1
        -      A2>C1  A2->A  0/1";
    assert_eq!(
        found(&row(), lines),
        [
            "C->C1: branches A->B A1->A B->C | leaves A1->A | depth 3 | hosts A1 | feed A1>C1 A2>C1 | \
             victims  | 5 packets"
        ]
    );
}

/// A short packet has space but a long one has none: the channel is a branch for both.
#[test]
fn channel_blocked_for_long_packets_is_no_root() {
    let lines = "
        B->C   A1>C1  C->C1  0/1
        A->B   A1>C1  B->C   1/1
        A->B   A2>C2  B->C   0/1
        A1->A  A1>C1  A->B   1/1";
    assert_eq!(
        found(&row(), lines),
        ["C->C1: branches A->B B->C | leaves A->B | depth 2 | hosts  | feed A1>C1 | \
             victims A2>C2 | 4 packets"]
    );
    // If only short packets go on, their channel is the root; none of these waits is before it.
    let circle = "
        B->C   A1>C1  A->B   1/1
        B->C   A2>C2  A->B   0/1
        A->B   A1>C1  B->C   1/1";
    assert_eq!(
        found(&row(), circle),
        ["A->B: branches A->B B->C | leaves  | depth 2 | hosts  | feed  | \
             victims A1>C1 A2>C2 | 3 packets"]
    );
}

/// Figure 1 of Santos et al. 2002: the victim goes to another host of the root's switch.
#[test]
fn blocked_flow_not_crossing_the_root_is_a_victim() {
    let lines = "
        A->B   A1>B1  B->B1  0/1
        A->B   AV>BV  -      0/0
        A1->A  A1>B1  A->B   1/1
        AV->A  AV>BV  A->B   1/1
        -      A1>B1  A1->A  1/1
        -      AV>BV  AV->A  1/1
        BV->B  BV>B1  B->B1  0/1";
    assert_eq!(
        found(&row(), lines),
        ["B->B1: branches A->B A1->A AV->A | leaves A1->A AV->A | depth 2 | hosts A1 AV | \
             feed A1>B1 BV>B1 | victims AV>BV | 7 packets"]
    );
}

#[test]
fn two_trees_may_share_a_branch() {
    // Two packets of one buffer wait for two outputs, as in networks of whole packets.
    let lines = "
        B->C   A1>C1  C->C1  0/1
        B->C   A2>C2  C->C2  0/1
        A->B   A1>C1  B->C   1/1";
    let feeding = ["A1>C1", "A2>C2"];
    let roots = ["C->C1", "C->C2"];
    let victims = ["A2>C2", "A1>C1"];
    let expected: Vec<String> = (0..2)
        .map(|tree| {
            format!(
                "{}: branches B->C | leaves B->C | depth 1 | hosts  | feed {} | victims {} | 3 packets",
                roots[tree], feeding[tree], victims[tree]
            )
        })
        .collect();
    assert_eq!(found(&row(), lines), expected);
}

#[test]
fn root_may_block_only_hosts_of_its_switch() {
    let lines = "
        A1->A  A1>AV  A->AV  0/1
        A2->A  A2>AV  A->AV  0/1
        -      A1>AV  A1->A  1/1
        -      A2>AV  A2->A  0/1";
    assert_eq!(
        found(&row(), lines),
        [
            "A->AV: branches A1->A | leaves A1->A | depth 1 | hosts A1 | feed A1>AV A2>AV | victims  | \
             3 packets"
        ]
    );
}

#[test]
fn channel_with_space_or_without_demand_is_no_branch() {
    assert_eq!(found(&row(), "A->B  A1>B1  B->B1  0/1"), [""; 0]);
    // One of two lanes has space: the packet waits for a grant.
    assert_eq!(found(&row(), "A->B  A1>C1  B->C  01/11"), [""; 0]);
}

#[test]
fn lanes_are_separate_branches() {
    let lines = "
        A->B.0  A1>C1  B->C  01/01
        A->B.1  A2>C2  B->C  10/10
        B->C.0  A1>C1  C->C1  0/1
        A1->A   A1>C1  A->B  01/01";
    assert_eq!(
        found(&row(), lines),
        [
            // No packet is at the end of lane 1: its space is on the way.
            "B->C: branches B->C.1 | leaves B->C.1 | depth 1 | hosts  | feed A2>C2 | victims  | 1 packets",
            "C->C1: branches A->B B->C | leaves A->B | depth 2 | hosts  | feed A1>C1 | victims  | 3 packets",
        ]
    );
}

#[test]
fn cyclic_waits_are_a_knot_without_root() {
    let ring = plan(&[("A", "B"), ("B", "C"), ("C", "A"), ("A", "A1"), ("B", "B1"), ("C", "C1")]);
    let lines = "
        A->B   A1>C1  B->C  1/1
        B->C   B1>A1  C->A  1/1
        C->A   C1>B1  A->B  1/1
        A1->A  A1>B1  A->B  1/1
        -      A1>B1  A1->A 1/1";
    assert_eq!(
        found(&ring, lines),
        ["knot: branches A->B A1->A B->C C->A | leaves A1->A | depth 0 | hosts A1 | \
             feed A1>B1 A1>C1 B1>A1 C1>B1 | victims  | 5 packets"]
    );
}

#[test]
fn flow_blocked_at_its_host_is_a_victim() {
    let lines = "
        A->B   A1>C1  B->C   0/1
        A1->A  A1>C1  A->B   1/1
        -      A1>C1  A1->A  1/1
        -      A1>BV  A1->A  1/1";
    assert_eq!(
        found(&row(), lines),
        [
            "B->C: branches A->B A1->A | leaves A1->A | depth 2 | hosts A1 | feed A1>C1 | victims A1>BV | \
             4 packets"
        ]
    );
}
