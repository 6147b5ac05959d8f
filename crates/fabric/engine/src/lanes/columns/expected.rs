//! Expected traffic per tick, estimated from the plan to select the stepper.
//!
//! The estimate assumes that all messages have the mean length, the packets of a message are
//! equally long, and all paths are used equally. A class with unlimited traffic uses the full rate
//! of its hosts, but no host sends more than one flit per tick.

use gingham_net::traffic::{MessagePlan, SourcePlan};
use gingham_net::{ClassId, ClassPlan, PipelinePlan, Plan};

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Moves {
    pub(super) flits: f64,
    pub(super) heads: f64,
}

pub(super) fn moves(plan: &Plan, lanes: &PipelinePlan) -> Moves {
    let passed = switches_passed(plan);
    let classes = ClassId::first(plan.classes.len());
    let sent: Vec<Moves> = classes.map(|class| sent(plan, lanes, class, passed)).collect();
    let sum = |part: fn(&Moves) -> f64| sent.iter().map(part).sum::<f64>();
    let flits = sum(|moves| moves.flits);
    let share = (hosts_sending(plan) / flits).min(1.0);
    let hops = if flits > 0.0 { share * passed } else { 0.0 };
    Moves { flits: flits * hops, heads: sum(|moves| moves.heads) * hops }
}

#[expect(clippy::cast_precision_loss, reason = "hosts are far fewer than 2^52")]
fn hosts_sending(plan: &Plan) -> f64 {
    let mut sends = vec![false; plan.fabric.endpoints().len()];
    let sources = plan.classes.iter().flat_map(|class| &class.sources);
    sources.for_each(|source| sends[source.endpoint.index()] = true);
    sends.into_iter().filter(|sends| *sends).count() as f64
}

fn sent(plan: &Plan, lanes: &PipelinePlan, class: ClassId, passed: f64) -> Moves {
    let class_plan = &plan.classes[class.index()];
    let replies = replies_of_one(plan, lanes, class);
    let mut sent = Moves::default();
    for source in &class_plan.sources {
        let payload = payload_mean_bytes(source);
        let packets = packets(class_plan, payload, passed);
        let flits = packets * packet_flits(lanes, payload / packets);
        let messages = replies.unwrap_or_else(|| messages(plan, lanes, source).min(1.0 / flits));
        sent.flits += messages * flits;
        sent.heads += messages * packets;
    }
    sent
}

fn packet_flits(lanes: &PipelinePlan, payload_bytes: f64) -> f64 {
    let bytes = payload_bytes + f64::from(lanes.overhead_bytes);
    (bytes / f64::from(lanes.flit_bytes)).ceil().max(1.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a path has few switches"
)]
fn packets(class: &ClassPlan, payload_bytes: f64, passed: f64) -> f64 {
    let longest = class.longest_packet_bytes(|| passed.round() as usize);
    (payload_bytes / f64::from(longest)).ceil().max(1.0)
}

/// Returns the messages per tick of a source that does not send replies; infinite for unlimited
/// traffic.
#[expect(clippy::cast_precision_loss, reason = "ticks and messages are far fewer than 2^52")]
fn messages(plan: &Plan, lanes: &PipelinePlan, source: &SourcePlan) -> f64 {
    let byte_ps = plan.byte_ps(plan.fabric.endpoint_channel(source.endpoint));
    let cycle_ps = lanes.cycle.as_ps() as f64;
    match &source.messages {
        MessagePlan::Scheduled(schedule) => {
            let last = schedule.last().map_or(0, |message| message.created.as_ps());
            schedule.len() as f64 * (cycle_ps / last.max(1) as f64).min(1.0)
        }
        MessagePlan::Drawn(_) | MessagePlan::Stream(_) => {
            let of_load = |load| load * cycle_ps / (byte_ps * payload_mean_bytes(source));
            source.load(byte_ps).map_or(f64::INFINITY, of_load)
        }
        MessagePlan::Replies(_) => f64::INFINITY,
    }
}

/// Returns the messages per tick of each host of a replying class, except replies to replies.
#[expect(clippy::cast_precision_loss, reason = "hosts are far fewer than 2^52")]
fn replies_of_one(plan: &Plan, lanes: &PipelinePlan, class: ClassId) -> Option<f64> {
    let sources = &plan.classes[class.index()].sources;
    let replies = sources.first()?.replies()?;
    let asking = &plan.classes[replies.to.index()].sources;
    let asks = asking.iter().filter(|source| source.replies().is_none());
    let of_one = |source: &SourcePlan| {
        messages(plan, lanes, source).min(1.0 / packet_flits(lanes, payload_mean_bytes(source)))
    };
    Some(asks.map(of_one).sum::<f64>() / sources.len() as f64)
}

fn payload_mean_bytes(source: &SourcePlan) -> f64 {
    source.payload_mean_bytes().max(1.0)
}

/// Returns the mean number of switches on the paths from a sample of sources to all hosts.
#[expect(clippy::cast_precision_loss, reason = "hosts are far fewer than 2^52")]
fn switches_passed(plan: &Plan) -> f64 {
    let hosts = || plan.fabric.endpoint_ids().filter(|end| plan.fabric.is_host_endpoint(*end));
    let step = hosts().count().div_ceil(SOURCES).max(1);
    let (mut passed, mut pairs) = (0, 0_usize);
    for source in hosts().step_by(step) {
        let others = hosts().filter(|host| *host != source);
        let switches = others.map(|host| plan.switches(source, host)).filter(|count| *count > 0);
        for switches in switches {
            passed += switches;
            pairs += 1;
        }
    }
    passed as f64 / pairs.max(1) as f64
}

const SOURCES: usize = 8;
