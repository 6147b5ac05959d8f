use crate::support::{FORMS, any_plan, endpoint, fabric, generated, pairs, ring, routed, up_down};
use crate::support::{shortest_path, wild_tables};
use gingham_topology::generate::{Generator, KAryNTree};
use gingham_topology::routing::{
    Buffer, DatelineClass, DependencyGraph, LEVELS, LaneMap, Lanes, Root, RouteSet, Routes,
    ServiceLevels, prove, route,
};
use gingham_topology::{ChannelId, Fabric};
use proptest::prelude::*;

/// From any endpoint.
fn dependencies(fabric: &Fabric, routes: &Routes) -> Vec<(Buffer, Vec<ChannelId>)> {
    let graph = DependencyGraph::new(fabric, routes);
    let ids = gingham_topology::routing::BufferId::first(graph.buffer_count());
    let after = |id| graph.successors(id).iter().map(|next| graph.buffer(*next).channel).collect();
    ids.map(|id| (graph.buffer(id), after(id)))
        .filter(|(_, after): &(_, Vec<ChannelId>)| !after.is_empty())
        .collect()
}

proptest! {
    #[test]
    fn ids_are_unchanged_by_ports_0(plan in any_plan()) {
        let (plain, with) = (plan.build(), plan.build().with_ports_0());
        prop_assert!(!plain.has_ports_0());
        prop_assert_eq!(plain.nodes(), with.listed_nodes());
        prop_assert_eq!(plain.cables(), with.listed_cables());
        prop_assert_eq!(plain.endpoints().len(), with.listed_endpoint_count());
        prop_assert_eq!(plain.endpoints(), &with.endpoints()[..plain.endpoints().len()]);
        for switch in with.switches() {
            let has_cable = plain.channels_from(switch).next().is_some();
            prop_assert_eq!(with.port_0(switch).is_some(), has_cable);
            if let Some(end) = with.port_0(switch) {
                prop_assert_eq!(with.target(with.endpoint_channel(end)).node, switch);
                prop_assert!(with.is_port_0(end) && !with.is_host_endpoint(end));
                prop_assert_eq!(with.target(with.into_port_0(switch).unwrap()), with.endpoint(end));
            }
        }
        prop_assert_eq!(&with.clone().with_ports_0(), &with, "once is enough");
    }

    /// Paths between endpoints stay unchanged; those of an end equal those of an endpoint beside
    /// it, and none leads to one. If every switch has an endpoint, so has every dependency.
    #[test]
    fn port_0_paths_match_those_of_a_local_endpoint(plan in any_plan()) {
        let (plain, with) = (plan.build(), plan.build().with_ports_0());
        for (form, algorithm) in FORMS.into_iter().zip([up_down(Root::default()), shortest_path()]) {
            let old = route(&plain, &algorithm, form).unwrap();
            let new = route(&with, &algorithm, form).unwrap();
            for (from, to) in pairs(&plain) {
                prop_assert_eq!(old.path(&plain, from, to), new.path(&with, from, to));
            }
            for switch in with.switches() {
                let Some(end) = with.port_0(switch) else { continue };
                for (from, to) in pairs(&plain) {
                    if plain.target(plain.endpoint_channel(from)).node == switch {
                        let onward = |of| new.path(&with, of, to).map(|of| of.channels()[1..].to_vec());
                        prop_assert_eq!(onward(end), onward(from));
                    }
                }
            }
            let has_endpoint = |switch| {
                plain.channels_from(switch).any(|of| plain.endpoint_at(plain.target(of)).is_some())
            };
            if plain.switches().all(has_endpoint) {
                prop_assert_eq!(dependencies(&plain, &old), dependencies(&with, &new));
            }
        }
    }

    #[test]
    fn port_0_follows_tables_like_a_local_endpoint(plan in any_plan(), ports in prop::collection::vec(0..9_u16, 1..40)) {
        let (plain, with) = (plan.build(), plan.build().with_ports_0());
        let routes = Routes::Table(wild_tables(&plain, &ports));
        for (from, to) in pairs(&plain) {
            if let Some(end) = with.port_0(with.target(with.endpoint_channel(from)).node) {
                let onward = |of| routes.path(&with, of, to).map(|of| of.channels()[1..].to_vec());
                prop_assert_eq!(onward(end), onward(from));
            }
        }
    }
}

#[test]
fn proof_is_unchanged_by_ports_0_if_all_switches_have_hosts() {
    for plain in [ring(5, 1), ring(6, 2), fabric(3, &[0, 1, 2], &[(0, 1), (1, 2)])] {
        let with = plain.clone().with_ports_0();
        for (algorithm, form) in [(up_down(Root::default()), FORMS[0]), (shortest_path(), FORMS[1])]
        {
            let [old, new] = [&plain, &with].map(|of| routed(of, &algorithm, form));
            let found = dependencies(&plain, &old);
            assert!(!found.is_empty());
            assert_eq!(found, dependencies(&with, &new));
            assert_eq!(prove(&plain, &old).is_free(), prove(&with, &new).is_free());
        }
    }
}

#[test]
fn switches_without_hosts_send_from_port_0() {
    // The middle switch has no host.
    let chain = fabric(3, &[0, 2], &[(0, 1), (1, 2)]);
    let with = chain.clone().with_ports_0();
    let to = endpoint(&with, "h1");
    let end = endpoint(&with, "s1[0]");
    for form in FORMS {
        let before = routed(&chain, &up_down(Root::default()), form);
        let routes = routed(&with, &up_down(Root::default()), form);
        assert_eq!(routes.path(&with, end, to).unwrap().channels().len(), 3);
        assert_eq!(dependencies(&chain, &before), dependencies(&with, &routes));
    }
    // In a tree, spines send down, switches between levels up and down.
    let tree = KAryNTree { arity: 2, levels: 3, rails: 1 };
    let tree = generated(&Generator::KAryNTree(tree), 0).with_ports_0();
    for algorithm in [up_down(Root::default()), shortest_path()] {
        for form in FORMS {
            let routes = routed(&tree, &algorithm, form);
            let hosts = || tree.endpoint_ids().filter(|of| tree.is_host_endpoint(*of));
            let ends = || tree.endpoint_ids().filter(|of| tree.is_port_0(*of));
            let paths = || ends().flat_map(|end| hosts().map(move |host| (end, host)));
            assert!(paths().all(|(end, host)| routes.path(&tree, end, host).is_some()));
            assert!(prove(&tree, &routes).is_free());
        }
    }
}

/// A ring that its hosts do not close.
#[test]
fn port_0_traffic_alone_may_close_a_cycle() {
    let sparse = fabric(4, &[0], &[(0, 1), (1, 2), (2, 3), (3, 0)]);
    let with = sparse.clone().with_ports_0();
    let to = endpoint(&with, "h0");
    let mut tables = gingham_topology::routing::TableRoutes::new(&with);
    let switches: Vec<_> = with.switches().collect();
    for (place, switch) in switches.iter().enumerate() {
        // Round, and again past the host.
        let next = switches[(place + 1) % 4];
        let out = with.channels_from(*switch).find(|of| with.target(*of).node == next).unwrap();
        tables.set_port(*switch, to, Some(with.source(out).port));
    }
    let routes = Routes::Table(tables);
    assert!(prove(&sparse, &routes).is_free(), "the only host sends to nobody");
    assert!(!prove(&with, &routes).is_free());
}

#[test]
fn port_0_lanes_match_those_of_a_local_endpoint() {
    let plain = ring(4, 2);
    let mut map = LaneMap::uniform(&plain, LaneMap::DEFAULT);
    let row = |seed: u64| {
        std::array::from_fn(|level| u8::try_from((seed + level as u64 * 5) % 7).unwrap())
    };
    for switch in plain.switches() {
        let ports = || plain.channels_from(switch).map(|of| plain.source(of).port);
        for (input, output) in ports().flat_map(|input| ports().map(move |output| (input, output)))
        {
            let seed = switch.index() as u64 * 31 + u64::from(input) * 11 + u64::from(output);
            map.set_switch(switch, input, output, row(seed));
        }
    }
    for of in plain.endpoint_ids() {
        map.set_endpoint(of, row(of.index() as u64));
    }
    let levels = ServiceLevels::by_pair(&plain, 1, |from, to, _| {
        u8::try_from((3 * from.index() + to.index()) % LEVELS).unwrap()
    });
    let with = plain.clone().with_ports_0();
    let lanes = Lanes::new(&plain, map, levels).with_ports_0(&with);
    let none = DatelineClass(0);
    for switch in with.switches() {
        let end = with.port_0(switch).unwrap();
        let beside = with.channels_from(switch).filter_map(|of| with.endpoint_at(with.target(of)));
        let host = beside.filter(|of| with.is_host_endpoint(*of)).min().unwrap();
        for to in plain.endpoint_ids() {
            assert_eq!(lanes.vc_class_of_pair(end, to), lanes.vc_class_of_pair(host, to));
        }
        for level in lanes.vc_classes() {
            assert_eq!(lanes.first(end, level), lanes.first(host, level));
            for out in with.channels_from(switch).filter(|of| with.source(*of).port > 0) {
                let from =
                    |of| lanes.onward(&with, level, none, with.endpoint_channel(of), out, host);
                assert_eq!(from(end), from(host));
                let into = with.into_port_0(switch).unwrap();
                let taken = lanes.onward(&with, level, none, Fabric::reverse(out), into, host).0;
                assert!(!taken.is_empty(), "what is diverted is not dropped");
            }
        }
    }
    assert_eq!(lanes.vc_classes().len(), LEVELS);
    // Packets of port 0 hold and await the buffers of the host's packets.
    let routes = routed(&with, &shortest_path(), FORMS[1]);
    let all = |fabric: &Fabric| {
        let routes = RouteSet::new(std::slice::from_ref(&routes), Some(&lanes));
        DependencyGraph::new(fabric, routes).dependency_count()
    };
    assert_eq!(all(&plain), all(&with));
}
