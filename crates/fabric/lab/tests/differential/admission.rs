//! Random scenarios with admission control and enough streams for refusals in mid-path.

use crate::agreement::difference;
use crate::number;
use crate::packets::longest_bytes;
use gingham_kernel::{Purpose, Span, Stream, Time};
use gingham_net::traffic::{
    DataPlan, DeadlinePlan, FramePlan, FrameSizes, LaterPlan, MessagePlan, SourcePlan, Spread,
    StreamPlan,
};
use gingham_net::{
    AdmissionPlan, ClassPlan, LaneChoice, NetworkEvent, Plan, PostPlan, Priority, StreamState,
    Switching, WhenFull,
};
use gingham_topology::{ChannelId, EndpointId, NodeId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Adds admission control, a class of its streams and switch ports 0; `None` if no pair of hosts
/// has a switch between them.
pub(crate) fn with_admission(plan: &Plan, seed: u64) -> Option<Plan> {
    let mut draw = Stream::new(seed, "admission", Purpose::Shuffle);
    let mut plan = plan.clone();
    if !plan.routing.has_one_path() {
        return None;
    }
    let crashes = [0.0, 0.4][usize::from(below(&mut draw, 2))];
    let run_ps = plan.stop.time.as_ps();
    if crashes > 0.0 && draw.below(2) == 0 {
        let at = Time::from_ps(draw.below(run_ps / 2));
        plan.events = [(at, NetworkEvent::HostCrash(EndpointId::new(0)))].into_iter().collect();
    }
    let lease = (crashes > 0.0).then(|| Span::from_ps(1 + draw.below(run_ps / 4)));
    let lease = lease.map(|lease| if seed % 2 == 1 { in_cycles(&plan, lease) } else { lease });
    let sources = streams(&mut draw, &plan, crashes);
    if sources.is_empty() || !has_room_in_transit(&plan, longest_bytes(&plan.classes)) {
        return None;
    }
    let model = plan.classes[0].clone();
    plan.classes.push(ClassPlan {
        name: "streams".to_owned(),
        active: Time::ZERO..plan.stop.time,
        priority: Priority::new(below(&mut draw, 3)).unwrap(),
        policing: None,
        window: None,
        rate_limit: None,
        post: PostPlan { lane: LaneChoice::Any, ..PostPlan::default() },
        sources,
        ..model.clone()
    });
    // Lower limits at in-transit hosts, so that they refuse too.
    let is_of_host = |channel: ChannelId| !plan.is_switch(plan.ends(channel).source.node);
    let in_transit = plan.routing.has_in_transit_hosts();
    let limits = ChannelId::first(plan.channels.len()).map(|channel| {
        let share = if in_transit && is_of_host(channel) { 0.55e12 } else { 0.8e12 };
        rate(share / plan.switching.byte_ps(plan.channel(channel)))
    });
    plan.admission = Some(Arc::new(AdmissionPlan {
        classes: (0..plan.classes.len()).map(|index| index + 1 == plan.classes.len()).collect(),
        rates: plan.channels.iter().map(|of| rate(1e12 / plan.switching.byte_ps(of))).collect(),
        lease,
        others_min: 1 + u16::from(below(&mut draw, 9)),
        limits: limits.collect(),
        // At most the longest packet, so that it fits pools and buffers.
        payload_bytes: (1 + u32::from(below(&mut draw, 3))).min(longest_bytes(&plan.classes)),
        priority: Priority::new(below(&mut draw, 8)).unwrap(),
        vc_class: model.vc_class,
    }));
    Some(plan.with_ports_0())
}

/// Returns whole cycles, so that probes test links at the very end of leases.
fn in_cycles(plan: &Plan, lease: Span) -> Span {
    let Switching::VirtualLanes(pipeline) = &plan.switching else { return lease };
    pipeline.cycle * (1 + lease.as_ps() / pipeline.cycle.as_ps() % 64)
}

/// Whether pools that stop senders hold every packet; other scenarios are refused.
fn has_room_in_transit(plan: &Plan, payload_bytes: u32) -> bool {
    let switches = plan.fabric.switches().len() as u64;
    let bytes = u64::from(payload_bytes) + plan.switching.beside_payload_at_most(switches);
    let stops = matches!(plan.in_transit.when_full, WhenFull::Stop);
    !plan.routing.has_in_transit_hosts() || !stops || bytes <= plan.in_transit.pool_bytes
}

fn streams(draw: &mut Stream, plan: &Plan, crashes: f64) -> Vec<SourcePlan> {
    let endpoints = plan.fabric.endpoints().len();
    let byte_ps = plan.byte_ps(plan.fabric.endpoint_channel(EndpointId::new(0)));
    let run_ps = plan.stop.time.as_ps();
    let message_bytes = 1 + u32::from(below(draw, 3));
    let longest = longest_bytes(&plan.classes).max(1);
    let frames = 2 + draw.below(8);
    // Fill the run, or end early and leave time for releases.
    let (a_host, share_of_run) = if draw.below(2) == 0 { (3, 4) } else { (1, 16) };
    let interval = Span::from_ps((run_ps / (frames * share_of_run)).max(1));
    let mut sources = Vec::new();
    for number in 0..a_host * u32::try_from(endpoints).unwrap() {
        let pair = [0; 2].map(|_: u32| usize::try_from(draw.below(endpoints as u64)).unwrap());
        let [endpoint, destination] = pair.map(EndpointId::new);
        let meets = plan.path(gingham_net::PathId::default(), endpoint, destination);
        let Some(path) = meets.filter(|path| endpoint != destination && path.len() >= 2) else {
            continue;
        };
        if !path.iter().all(|channel| is_answered(plan, *channel, endpoint)) {
            continue;
        }
        #[expect(clippy::cast_precision_loss, reason = "a share of a link")]
        let whole = interval.as_ps() as f64 / byte_ps;
        let mean = (whole * [0.02, 0.1, 0.4][usize::from(below(draw, 3))]).max(1.0);
        let data = Arc::new(DataPlan::Frames(FramePlan {
            sizes: FrameSizes::Normal { mean, deviation: mean / 5.0 },
            interval,
            message_bytes: message_bytes.max(small(mean / 20.0)).min(longest),
            spread: if draw.below(2) == 0 { Spread::AtOnce } else { Spread::Even },
            deadlines: DeadlinePlan { warm_up_frames: 1, slack: Span::ZERO },
        }));
        let stream = StreamPlan {
            destination,
            number,
            data,
            later: LaterPlan {
                turn: Span::from_ps(draw.below(run_ps / share_of_run)),
                jitter: Span::ZERO,
            },
            lifetime: Some(interval * frames),
            solicits: [0.5, 1.0, 2.0][usize::from(below(draw, 3))],
            crashes,
        };
        sources.push(SourcePlan { endpoint, messages: MessagePlan::Stream(stream) });
    }
    sources
}

fn is_answered(plan: &Plan, channel: ChannelId, host: EndpointId) -> bool {
    let switch = plan.ends(channel).target.node;
    !plan.is_switch(switch)
        || plan.routing.path_ids().all(|path| {
            let hosts = plan.fabric.endpoint_ids().filter(|of| {
                let cable = plan.fabric.endpoint_channel(*of);
                plan.ends(cable).target.node == switch
            });
            hosts.into_iter().any(|of| of == host || plan.path(path, of, host).is_some())
        })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate")]
fn rate(bytes_per_s: f64) -> u64 {
    bytes_per_s as u64
}

fn below(draw: &mut Stream, count: u64) -> u8 {
    u8::try_from(draw.below(count)).unwrap()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a payload")]
fn small(bytes: f64) -> u32 {
    bytes as u32
}

pub(crate) fn agree_on_admission(draw: impl Fn(u64) -> Option<Plan>) {
    agree_on_admission_and(draw, reaches);
}

pub(crate) fn agree_on_admission_in_transit(draw: impl Fn(u64) -> Option<Plan>) {
    agree_on_admission_and(draw, reaches_in_transit);
}

fn agree_on_admission_and<const N: usize>(
    draw: impl Fn(u64) -> Option<Plan>,
    of: impl Fn(Plan) -> [(&'static str, bool); N],
) {
    let (cases, first) = (number("CASES", 60), number("FIRST", 0));
    let mut reached: BTreeMap<&str, u64> = BTreeMap::new();
    let needed = if cases < 60 { 0 } else { 3 };
    // Rare cases may take more seeds.
    for seed in first..first + 4 * cases {
        let is_enough = reached.values().all(|cases| *cases >= needed);
        if seed >= first + cases && is_enough {
            break;
        }
        let Some(plan) = draw(seed) else { continue };
        let found = std::panic::catch_unwind(|| difference(&plan));
        let found = found.unwrap_or_else(|_| Some("panic".into()));
        assert_eq!(found, None, "seed {seed}\n{:?}", plan.admission);
        for (what, holds) in of(plan) {
            *reached.entry(what).or_insert(0) += u64::from(holds);
        }
    }
    assert!(reached.values().all(|cases| *cases >= needed), "{reached:?}");
}

fn reaches_in_transit(plan: Plan) -> [(&'static str, bool); 4] {
    let plan = Arc::new(plan);
    let mut simulation = gingham_engine::start(Arc::clone(&plan));
    simulation.advance(u64::MAX);
    let over_hosts = |of: &&gingham_net::Request| {
        let path = plan.path(gingham_net::PathId::default(), of.source, of.destination);
        let path = path.expect("a probe went there");
        let (_, between) = path.split_last().expect("a path has channels");
        between.iter().any(|channel| !plan.is_switch(plan.ends(*channel).target.node))
    };
    let requests = simulation.endpoints().requests();
    let requests: Vec<_> = requests.iter().filter(over_hosts).collect();
    let refused = |holds: &dyn Fn(&gingham_net::Request, NodeId) -> bool| {
        requests.iter().any(|of| match of.state {
            StreamState::Refused(link) => holds(of, plan.ends(link).source.node),
            _ => false,
        })
    };
    let own = |of: &gingham_net::Request| plan.fabric.endpoint(of.source).node;
    let is_over = matches!(simulation.status(), gingham_net::Status::Finished);
    let ledger = simulation.endpoints().ledger().unwrap();
    let in_flight = |of: &&gingham_net::Request| {
        matches!(of.state, StreamState::Asking | StreamState::Admitted)
    };
    let all_over = is_over && !simulation.endpoints().requests().iter().any(|of| in_flight(&of));
    let crashes = plan.admission.as_ref().is_some_and(|of| of.lease.is_some());
    assert!(!all_over || crashes || ledger.is_empty(), "what has ended has released");
    [
        ("admitted over a host", requests.iter().any(|of| of.state == StreamState::Ended)),
        ("refused by a switch", refused(&|_, by| plan.is_switch(by))),
        ("refused by a host in transit", refused(&|of, by| !plan.is_switch(by) && by != own(of))),
        ("nothing reserved after all that", ledger.is_empty() && !requests.is_empty()),
    ]
}

fn reaches(plan: Plan) -> [(&'static str, bool); 6] {
    let plan = Arc::new(plan);
    let crashes = plan.admission.as_ref().is_some_and(|of| of.lease.is_some());
    let mut simulation = gingham_engine::start(Arc::clone(&plan));
    simulation.advance(u64::MAX);
    let endpoints = simulation.endpoints();
    let requests = endpoints.requests();
    let ledger = endpoints.ledger().unwrap();
    let any = |holds: fn(StreamState) -> bool| requests.iter().any(|of| holds(of.state));
    let is_switch = |by: NodeId| plan.is_switch(by);
    let refused = |at_switch: bool| {
        let by = |of: &gingham_net::Request| match of.state {
            StreamState::Refused(link) => is_switch(plan.ends(link).source.node) == at_switch,
            _ => false,
        };
        requests.iter().any(by)
    };
    let is_over = matches!(simulation.status(), gingham_net::Status::Finished)
        && !any(|of| matches!(of, StreamState::Asking | StreamState::Admitted));
    assert!(!is_over || crashes || ledger.is_empty(), "what has ended has released");
    [
        ("admitted", any(|of| matches!(of, StreamState::Admitted | StreamState::Ended))),
        ("a lease was over", requests.iter().any(|of| of.lapsed.is_some())),
        ("ended", any(|of| of == StreamState::Ended)),
        ("refused by an adapter", refused(false)),
        ("refused by a switch", refused(true)),
        (
            "nothing reserved after all that",
            ledger.is_empty() && any(|of| of == StreamState::Ended),
        ),
    ]
}
