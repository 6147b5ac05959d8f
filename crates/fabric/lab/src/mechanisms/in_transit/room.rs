//! Search for packets for which the pool of an in-transit host never has room.

use crate::compile::longest::{answers, destinations, longest_as, sent_as};
use crate::compile::paths::sets_used;
use gingham_net::traffic::SourcePlan;
use gingham_net::{ClassPlan, PathLength, PathSet, Plan};
use gingham_topology::EndpointId;
use gingham_topology::routing::{Onward, Routes};

/// A packet for which a pool has no room.
pub(super) struct Packet {
    pub(super) from: EndpointId,
    pub(super) to: EndpointId,
    /// Bytes of the pool of the first host on its path.
    pub(super) bytes: u64,
    pub(super) payload_bytes: u32,
}

/// A packet of a class for which a pool never has room, demoted ones among them.
pub(super) fn without_room(plan: &Plan, class: &ClassPlan) -> Option<Packet> {
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

/// An answer to packets of a class for which a pool never has room, whatever its path.
pub(super) fn answer_without_room(plan: &Plan, class: &ClassPlan) -> Option<Packet> {
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
pub(super) fn has_room_anywhere(plan: &Plan, payload_bytes: u32) -> bool {
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
