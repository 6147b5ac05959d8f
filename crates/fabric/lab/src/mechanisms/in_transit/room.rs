//! Search for packets that never fit into the buffer pool of an in-transit host.

use crate::compile::longest::{acks, destinations, longest_as, sent_as};
use gingham_net::traffic::SourcePlan;
use gingham_net::{ClassPlan, PathId, PathLength, Plan};
use gingham_topology::EndpointId;
use gingham_topology::routing::{Onward, Routes};

pub(super) struct Packet {
    pub(super) from: EndpointId,
    pub(super) to: EndpointId,
    /// Bytes that the packet needs in the buffer pool of the first in-transit host on its path.
    pub(super) bytes: u64,
    pub(super) payload_bytes: u32,
}

/// Returns a packet of a class, sent as this class or demoted, that never fits into a buffer pool.
pub(super) fn without_room(plan: &Plan, class: &ClassPlan) -> Option<Packet> {
    class.sources.iter().find_map(|source| {
        let messages = source.payload_bytes();
        let sent = sent_as(plan, class).map(|other| other.longest_anywhere_bytes(*messages.end()));
        if has_room_anywhere(plan, sent.max().expect("its packets are sent as its own")) {
            return None;
        }
        let may_take = |path: &PathId| plan.routing.may_take(*path, &messages);
        let paths = plan.routing.path_ids().filter(may_take);
        paths
            .flat_map(|path| over_path(plan, class, source, path))
            .find(|packet| packet.bytes > plan.in_transit.pool_bytes)
    })
}

pub(super) fn ack_without_room(plan: &Plan, class: &ClassPlan) -> Option<Packet> {
    let payload_bytes = acks(plan, class).map(|ack| ack.payload_bytes).max()?;
    if has_room_anywhere(plan, payload_bytes) {
        return None;
    }
    let pairs = class
        .sources
        .iter()
        .flat_map(|source| destinations(plan, source).map(move |to| (to, source.endpoint)));
    let mut found = pairs.flat_map(|pair| {
        plan.routing
            .path_ids()
            .filter_map(move |path| at_first_host(plan, path, pair, |_| payload_bytes))
    });
    found.find(|packet| packet.bytes > plan.in_transit.pool_bytes)
}

pub(super) fn has_room_anywhere(plan: &Plan, payload_bytes: u32) -> bool {
    let switches = plan.fabric.switches().len() as u64;
    let header = plan.switching.beside_payload_at_most(switches);
    u64::from(payload_bytes).saturating_add(header) <= plan.in_transit.pool_bytes
}

/// Returns the longest packet from a source to each destination that it reaches via in-transit
/// hosts.
fn over_path<'a>(
    plan: &'a Plan,
    class: &'a ClassPlan,
    source: &'a SourcePlan,
    path: PathId,
) -> impl Iterator<Item = Packet> + 'a {
    let (from, message) = (source.endpoint, *source.payload_bytes().end());
    destinations(plan, source).filter_map(move |to| {
        at_first_host(plan, path, (from, to), |switches| {
            longest_packet(plan, class, message, switches)
        })
    })
}

/// Returns the packet of a host pair as it arrives at the first in-transit host of a path.
/// `payload_bytes` derives the payload from the number of switches between the two hosts.
fn at_first_host(
    plan: &Plan,
    path: PathId,
    (from, to): (EndpointId, EndpointId),
    payload_bytes: impl FnOnce(&dyn Fn() -> usize) -> u32,
) -> Option<Packet> {
    let first = plan.fabric.target(plan.fabric.endpoint_channel(from)).node;
    let Routes::Source(routes) = plan.routing.routes(path) else { return None };
    let onward =
        routes.path(&plan.fabric, first, to).filter(|onward| onward.in_transit_hosts > 0)?;
    let payload_bytes = payload_bytes(&|| plan.switches(from, to));
    Some(Packet { from, to, bytes: bytes_at_host(plan, onward, payload_bytes), payload_bytes })
}

fn bytes_at_host(plan: &Plan, onward: Onward<'_>, payload_bytes: u32) -> u64 {
    let is_switch = |channel| plan.is_switch(plan.fabric.source(channel).node);
    let first_leg = onward.iter().take_while(|channel| is_switch(*channel)).count() as u64;
    plan.switching.bytes_at_host(payload_bytes, PathLength::from(onward), first_leg)
}

fn longest_packet(
    plan: &Plan,
    class: &ClassPlan,
    message_bytes: u32,
    switches: impl Fn() -> usize,
) -> u32 {
    let longest = sent_as(plan, class).map(|other| longest_as(other, message_bytes, &switches));
    longest.max().expect("its packets are sent as its own")
}
