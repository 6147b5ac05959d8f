//! Small fabrics with figures that are easy to add up, and sources with given messages.

#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "a story that cannot be set up has failed")]

pub(crate) mod ends;
pub(crate) mod lanes;
pub(crate) mod packets;

use crate::start;
use gingham_kernel::{ByteTime, Span, Time};
use gingham_net::traffic::{
    ArrivalPlan, DestinationPlan, Draft, LengthPlan, MessagePlan, Scheduled, SourcePlan,
};
use gingham_net::{
    Arbitration, ChannelPlan, ClassPlan, Delivery, FollowPlan, InTransitPlan, KeptMessages,
    LanePlan, MeasurePlan, Plan, Priority, RoutingScheme, SegmentationPlan, SlackBuffer, StopPlan,
    Switching, WhenFull, WormholePlan,
};
use gingham_topology::routing::{Algorithm, Form, Routes, SourceRoutes, UpDown, route};
use gingham_topology::{ChannelId, EndpointId, Fabric, FabricBuilder, Guid, NodeId, NodeKind};
use std::sync::Arc;

/// Flit time of every cable, in ps, unless stated otherwise.
pub(crate) const FLIT: u64 = 10;
/// Delay of every cable, in ps, unless stated otherwise.
pub(crate) const DELAY: u64 = 25;
/// First-flit delay of every switch, in ps, all after the grant.
pub(crate) const SETUP: u64 = 100;
/// Marks with the smallest sufficient capacity: ceil(2 x 25 / 10) + 3 = 8 flits of headroom.
pub(crate) const SLACK: SlackBuffer = SlackBuffer { capacity: 24, stop: 16, go: 8 };

/// Hosts h0, h1, ... on a row of switches s0 - s1 - ...: host `i` is on switch `switch_of[i]`.
pub(crate) fn row(switches: usize, switch_of: &[usize]) -> Fabric {
    let mut builder = FabricBuilder::new();
    let nodes: Vec<_> = (0..switches)
        .map(|index| {
            let guid = Guid(0x100 + index as u64);
            builder.add_plain(NodeKind::Switch, &format!("s{index}"), guid, 8)
        })
        .collect();
    for (index, switch) in switch_of.iter().enumerate() {
        let guid = Guid(0x200 + index as u64);
        let host = builder.add_plain(NodeKind::Host, &format!("h{index}"), guid, 1);
        builder.join(host, nodes[*switch]).unwrap();
    }
    for pair in nodes.windows(2) {
        builder.join(pair[0], pair[1]).unwrap();
    }
    builder.build()
}

/// Two hosts with `switches` switches between them.
pub(crate) fn chain(switches: usize) -> Fabric {
    if switches > 0 {
        return row(switches, &[0, switches - 1]);
    }
    let mut builder = FabricBuilder::new();
    let ends =
        [0, 1].map(|n| builder.add_plain(NodeKind::Host, &format!("h{n}"), Guid(0x200 + n), 1));
    builder.join(ends[0], ends[1]).unwrap();
    builder.build()
}

pub(crate) fn quiet_plan(fabric: Fabric) -> Plan {
    let algorithm = Algorithm::UpDown(UpDown::default());
    let routes = route(&fabric, &algorithm, Form::Source).unwrap();
    let channel = |id: ChannelId| {
        let ends_at_switch = fabric.node(fabric.target(id).node).is_switch();
        ChannelPlan {
            flit: Span::from_ps(FLIT),
            bytes: ByteTime::from_64_kib(Span::from_ps(FLIT << 16)),
            delay: Span::from_ps(DELAY),
            slack: ends_at_switch.then_some(SLACK),
        }
    };
    Plan {
        seed: 1,
        channels: ChannelId::first(fabric.channel_count()).map(channel).collect(),
        fabric,
        routing: RoutingScheme::by_pair(routes),
        in_transit: InTransitPlan::default(),
        follow: FollowPlan::default(),
        marking: None,
        probe: None,
        adapters: None,
        events: gingham_net::NetworkEvents::default(),
        admission: None,
        lanes: LanePlan::free(1),
        switching: Switching::Wormhole(WormholePlan {
            routing_delay: Span::ZERO,
            setup_delay: Span::from_ps(SETUP),
            route_bytes: false,
            overhead_bytes: 0,
            mark_bytes: 0,
            arbitration: Arbitration::RoundRobin,
        }),
        classes: Vec::new(),
        stop: stop_at(1_000_000_000),
        measure: MeasurePlan { messages: KeptMessages::All, ..MeasurePlan::default() },
    }
}

/// Sets paths, each from the first switch over the nodes between to the last host. All hosts of
/// that switch take it; other pairs keep their paths.
pub(crate) fn along(plan: &mut Plan, paths: &[&[&str]]) {
    let fabric = &plan.fabric;
    let named = |node: NodeId| fabric.node(node).name.as_str();
    let given = |from: NodeId, to: NodeId| {
        paths.iter().find(|path| path[0] == named(from) && path[path.len() - 1] == named(to))
    };
    let routes = SourceRoutes::of_paths(fabric, |from, to| {
        let Some(path) = given(from, fabric.endpoint(to).node) else {
            let first = fabric.endpoint_ids().find(|&other| {
                other != to && fabric.target(fabric.endpoint_channel(other)).node == from
            })?;
            let path = plan.routing.paths[0].path(fabric, first, to)?;
            return Some(path.channels()[1..].to_vec());
        };
        Some(path.windows(2).map(|pair| channel(fabric, pair[0], pair[1])).collect())
    });
    plan.routing.paths = vec![Routes::Source(routes)];
}

/// Sets recognition time and programming time, in ps, and the bytes of the pool.
pub(crate) fn in_transit(plan: &mut Plan, [detection, programming, pool_bytes]: [u64; 3]) {
    plan.in_transit.detection = Span::from_ps(detection);
    plan.in_transit.programming = Span::from_ps(programming);
    plan.in_transit.pool_bytes = pool_bytes;
}

pub(crate) fn spilling(plan: &mut Plan, [delay, byte]: [u64; 2]) {
    let (delay, byte) = (Span::from_ps(delay), Span::from_ps(byte));
    plan.in_transit.when_full = WhenFull::Spill { delay, byte };
}

pub(crate) fn stopping(plan: &mut Plan) {
    plan.in_transit.when_full = WhenFull::Stop;
    for channel in &mut plan.channels {
        channel.slack = Some(SLACK);
    }
}

/// End at `ps`; all of the run counts, and no message is followed beyond.
pub(crate) fn stop_at(ps: u64) -> StopPlan {
    let stop = StopPlan::at(Time::from_ps(ps));
    StopPlan { warm_up: Some(Time::ZERO), follow: Span::ZERO, ..stop }
}

pub(crate) fn backlogged(plan: &mut Plan, from: usize, to: usize, bytes: u32) {
    let source = SourcePlan::drawn(
        EndpointId::new(from),
        ArrivalPlan::Backlogged,
        LengthPlan::Fixed(bytes),
        DestinationPlan::Fixed(EndpointId::new(to)),
    );
    add_class(plan, format!("h{from} to h{to}"), source);
}

/// Each message is given by its time and its bytes.
pub(crate) fn scheduled(plan: &mut Plan, from: usize, to: usize, messages: &[(u64, u32)]) {
    let destination = EndpointId::new(to);
    let message = |&(ps, payload_bytes): &(u64, u32)| Scheduled {
        created: Time::from_ps(ps),
        draft: Draft { destination, payload_bytes },
    };
    let messages = MessagePlan::Scheduled(messages.iter().map(message).collect());
    let source = SourcePlan { endpoint: EndpointId::new(from), messages };
    add_class(plan, format!("h{from} to h{to}, scheduled"), source);
}

pub(crate) fn add_class(plan: &mut Plan, name: String, source: SourcePlan) {
    plan.classes.push(ClassPlan {
        name,
        active: Time::ZERO..Time::MAX,
        priority: Priority::default(),
        vc_class: None,
        segmentation: SegmentationPlan::None,
        policing: None,
        window: None,
        rate_limit: None,
        post: gingham_net::PostPlan::default(),
        sources: vec![source],
    });
}

pub(crate) fn wormhole(plan: &mut Plan, change: impl FnOnce(&mut WormholePlan)) {
    let Switching::Wormhole(parameters) = &mut plan.switching else { panic!("a wormhole plan") };
    change(parameters);
}

pub(crate) fn cable_flit(plan: &mut Plan, channel: ChannelId, ps: u64) {
    for side in [channel, Fabric::reverse(channel)] {
        plan.channels[side.index()].flit = Span::from_ps(ps);
    }
}

pub(crate) fn channel(fabric: &Fabric, from: &str, to: &str) -> ChannelId {
    ChannelId::first(fabric.channel_count())
        .find(|id| {
            let (source, target) = (fabric.source(*id), fabric.target(*id));
            fabric.node(source.node).name == from && fabric.node(target.node).name == to
        })
        .unwrap()
}

/// First `count` deliveries, in order, with the invariants checked after every event.
pub(crate) fn deliveries(plan: Plan, count: usize) -> Vec<Delivery> {
    let mut simulation = start(Arc::new(plan));
    let mut found = Vec::new();
    while found.len() < count {
        simulation.advance(1);
        simulation.assert_invariants();
        found.extend(simulation.take_messages());
    }
    found
}

/// (source host, entered, head arrived, delivered), in ps.
pub(crate) fn story(delivery: &Delivery) -> (usize, u64, u64, u64) {
    (
        delivery.message.source.index(),
        delivery.entered.as_ps(),
        delivery.head_arrived.as_ps(),
        delivery.delivered.as_ps(),
    )
}
