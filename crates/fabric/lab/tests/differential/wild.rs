//! Paths over any number of in-transit hosts, which no routing algorithm produces.

use gingham_kernel::{Purpose, Stream};
use gingham_net::{ClassPlan, PathLength, Plan, Switching, WhenFull};
use gingham_topology::routing::{Routes, SourceRoutes};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};

/// Returns the plan with every path led through random hosts at its switches.
pub(crate) fn with_wild_paths(plan: &Plan, seed: u64) -> Plan {
    let mut draw = Stream::new(seed, "wild paths", Purpose::Permutation);
    let mut plan = plan.clone();
    let chance = 1 + draw.below(4);
    let wild = |routes: &Routes| {
        let Routes::Source(routes) = routes else { panic!("in-transit hosts need source routes") };
        let of_paths = SourceRoutes::of_paths(&plan.fabric, |from, to| {
            let path: Vec<ChannelId> = routes.path(&plan.fabric, from, to)?.iter().collect();
            Some(wild_path(&plan, &path, |at| {
                let hosts = other_hosts(&plan, at, to);
                let count = (hosts.len() as u64).max(1);
                let host = usize::try_from(draw.below(count)).unwrap();
                (draw.below(5) < chance).then(|| hosts.get(host).copied()).flatten()
            }))
        });
        Routes::Source(of_paths)
    };
    plan.routing.paths = plan.routing.paths.iter().map(wild).collect();
    if plan.in_transit.when_full == WhenFull::Stop {
        plan.in_transit.pool_bytes = plan.in_transit.pool_bytes.max(longest_worm_bytes(&plan));
    }
    plan
}

/// Returns a bound on the length of packets: a host that stops its senders must hold one.
fn longest_worm_bytes(plan: &Plan) -> u64 {
    let Switching::Wormhole(wormhole) = plan.switching else { panic!("wormhole") };
    let paths =
        plan.routing.path_ids().flat_map(|path| plan.routing.routes(path).lengths(&plan.fabric));
    let switches = paths.flatten().flatten().max().unwrap_or(0);
    let length = PathLength { switches, in_transit_hosts: switches };
    let sources = plan.classes.iter().flat_map(|class| &class.sources);
    let message_bytes = sources.map(|source| *source.payload_bytes().end()).max().unwrap_or(0);
    // A demoted message is cut like those of another class.
    let packet_bytes = |class: &ClassPlan| {
        (1..=switches).map(|switches| class.longest_packet_bytes(|| switches)).max().unwrap_or(0)
    };
    let packet_bytes = plan.classes.iter().map(packet_bytes).max().unwrap_or(0);
    let bytes = message_bytes.min(packet_bytes);
    wormhole.worm_flits(bytes, length)
}

/// Adds a visit to `host_at` at every switch except the first, whose hosts may send along the path.
fn wild_path(
    plan: &Plan,
    path: &[ChannelId],
    mut host_at: impl FnMut(NodeId) -> Option<EndpointId>,
) -> Vec<ChannelId> {
    let mut wild = vec![path[0]];
    for &channel in &path[1..] {
        let at = plan.ends(channel).source.node;
        if let Some(host) = plan.is_switch(at).then(|| host_at(at)).flatten() {
            let own = plan.fabric.endpoint_channel(host);
            if !wild.contains(&own) && !path.contains(&own) {
                wild.extend([Fabric::reverse(own), own]);
            }
        }
        wild.push(channel);
    }
    wild
}

fn other_hosts(plan: &Plan, switch: NodeId, to: EndpointId) -> Vec<EndpointId> {
    let fabric = &plan.fabric;
    let hangs_there =
        |host: &EndpointId| fabric.target(fabric.endpoint_channel(*host)).node == switch;
    fabric.endpoint_ids().filter(|host| *host != to && hangs_there(host)).collect()
}
