//! Whether every packet that an in-transit host sends on has room in its pool.
//!
//! Invariant: under `stop` no packet waits for more room than the pool of a host has; under `spill`
//! only a class whose messages may be of any length has packets for which there never is room.

use crate::compile::longest::{answers, destinations, longest_as, sent_as};
use crate::compile::paths::sets_used;
use crate::error::LabError;
use crate::scenario::ScenarioSource;
use gingham_kernel::Bytes;
use gingham_net::traffic::SourcePlan;
use gingham_net::{ClassPlan, PathLength, PathSet, Plan, WhenFull};
use gingham_topology::EndpointId;
use gingham_topology::routing::{Onward, Routes};

/// Refuses a pool in which a packet that may be in transit has no room.
pub(crate) fn check(source: &ScenarioSource, plan: &Plan) -> Result<(), LabError> {
    if !plan.has_in_transit_hosts() {
        return Ok(());
    }
    for class in &plan.classes {
        let may_spill = matches!(plan.in_transit.when_full, WhenFull::Spill { .. });
        let packet = without_room(plan, class)
            .filter(|found| found.payload_bytes < u32::MAX || !may_spill)
            .map(|found| (found, "a packet", "cut packets with traffic.*.segmentation"));
        let answer = || {
            let cure = "make answers shorter with traffic.*.window.answer.length";
            answer_without_room(plan, class).map(|found| (found, "an answer", cure))
        };
        let Some((found, what, cure)) = packet.or_else(answer) else { continue };
        let [from, to] = [found.from, found.to].map(|host| plan.fabric.endpoint_name(host));
        let pool = Bytes(plan.in_transit.pool_bytes);
        let packet = match found.payload_bytes {
            u32::MAX => "may be of any length".to_owned(),
            _ => format!("takes {} there", Bytes(found.bytes)),
        };
        let fate = if may_spill { "always spill" } else { "wait for ever" };
        let message = format!(
            "{what} of class `{}` from `{from}` to `{to}` goes through an in-transit host and {packet}, and the buffer of \
             a host holds {pool}, so that it would {fate}: raise the pool, or {cure}",
            class.name
        );
        return Err(source.refuse("network.in_transit.pool", message).into());
    }
    check_signals(source, plan)
}

/// The same of probes and what answers them, whose ways are those of any packet.
fn check_signals(source: &ScenarioSource, plan: &Plan) -> Result<(), LabError> {
    let Some(admission) = &plan.admission else { return Ok(()) };
    if has_room_anywhere(plan, admission.payload_bytes) {
        return Ok(());
    }
    let [probe, pool] = [admission.payload_bytes.into(), plan.in_transit.pool_bytes].map(Bytes);
    let message = format!(
        "a probe of the admission control has {probe} of payload and may go through an in-transit host, whose buffer holds {pool}: \
         raise the pool, or lower network.admission.length"
    );
    Err(source.refuse("network.in_transit.pool", message).into())
}

/// A packet for which a pool has no room.
struct Packet {
    from: EndpointId,
    to: EndpointId,
    /// What it takes of the pool of the first host on its path.
    bytes: u64,
    payload_bytes: u32,
}

fn without_room(plan: &Plan, class: &ClassPlan) -> Option<Packet> {
    class.sources.iter().find_map(|source| {
        let messages = source.payload_bytes();
        let sent = sent_as(plan, class).map(|other| other.longest_anywhere_bytes(*messages.end()));
        if has_room_anywhere(plan, sent.max().expect("its packets are sent as its own")) {
            return None;
        }
        let used = sets_used(&plan.path_choice, &messages);
        let sets = plan.sets().filter(|set| used[set.index()]);
        sets.flat_map(|set| over_set(plan, class, source, set))
            .find(|packet| packet.bytes > plan.in_transit.pool_bytes)
    })
}

/// The same of answers, whatever path they take.
fn answer_without_room(plan: &Plan, class: &ClassPlan) -> Option<Packet> {
    let payload_bytes = answers(plan, class).map(|answer| answer.payload_bytes).max()?;
    if has_room_anywhere(plan, payload_bytes) {
        return None;
    }
    let pairs = class
        .sources
        .iter()
        .flat_map(|source| destinations(plan, source).map(move |to| (to, source.endpoint)));
    let mut found = pairs.flat_map(|pair| {
        plan.sets().filter_map(move |set| at_first_host(plan, set, pair, |_| payload_bytes))
    });
    found.find(|packet| packet.bytes > plan.in_transit.pool_bytes)
}

/// Whether a pool has room for a packet with so much payload on whatever path.
fn has_room_anywhere(plan: &Plan, payload_bytes: u32) -> bool {
    let switches = plan.fabric.switches().len() as u64;
    let header = plan.switching.beside_payload_at_most(switches);
    u64::from(payload_bytes).saturating_add(header) <= plan.in_transit.pool_bytes
}

/// The longest packet of a source to each of its destinations, where the path of a set leads
/// through a host.
fn over_set<'a>(
    plan: &'a Plan,
    class: &'a ClassPlan,
    source: &'a SourcePlan,
    set: PathSet,
) -> impl Iterator<Item = Packet> + 'a {
    let (from, message) = (source.endpoint, *source.payload_bytes().end());
    destinations(plan, source).filter_map(move |to| {
        at_first_host(plan, set, (from, to), |switches| {
            longest_packet(plan, class, message, switches)
        })
    })
}

/// What a packet of a pair takes, where the path of a set leads through a host; its payload by the
/// switches between the two.
fn at_first_host(
    plan: &Plan,
    set: PathSet,
    (from, to): (EndpointId, EndpointId),
    payload_bytes: impl FnOnce(&dyn Fn() -> usize) -> u32,
) -> Option<Packet> {
    let first = plan.fabric.target(plan.fabric.endpoint_channel(from)).node;
    let Routes::Source(routes) = plan.routes(set) else { return None };
    let onward =
        routes.path(&plan.fabric, first, to).filter(|onward| onward.in_transit_hosts > 0)?;
    let payload_bytes = payload_bytes(&|| plan.switches(from, to));
    Some(Packet { from, to, bytes: bytes_at_host(plan, onward, payload_bytes), payload_bytes })
}

/// What a packet takes of the pool of the first host on its path.
fn bytes_at_host(plan: &Plan, onward: Onward<'_>, payload_bytes: u32) -> u64 {
    let is_switch = |channel| plan.is_switch(plan.fabric.source(channel).node);
    let first_leg = onward.iter().take_while(|channel| is_switch(*channel)).count() as u64;
    plan.switching.bytes_at_host(payload_bytes, PathLength::from(onward), first_leg)
}

/// The most payload that a packet of a class carries of a message, demoted ones among them.
fn longest_packet(
    plan: &Plan,
    class: &ClassPlan,
    message_bytes: u32,
    switches: impl Fn() -> usize,
) -> u32 {
    let longest = sent_as(plan, class).map(|other| longest_as(other, message_bytes, &switches));
    longest.max().expect("its packets are sent as its own")
}
