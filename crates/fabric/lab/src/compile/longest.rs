//! Longest packets and acknowledgements of a plan, and destinations of its packets.

use super::paths::hosts;
use gingham_net::traffic::{DestinationPlan, MessagePlan, SourcePlan};
use gingham_net::{AckPlan, AdmissionPlan, ClassPlan, Excess, Plan};
use gingham_topology::EndpointId;
use gingham_topology::routing::LaneSet;

/// Returns the classes whose settings a class's packets may use: the class itself, and the class
/// that receives its demoted messages.
pub(crate) fn sent_as<'a>(
    plan: &'a Plan,
    class: &'a ClassPlan,
) -> impl Iterator<Item = &'a ClassPlan> {
    let demoted = class.policing.as_ref().and_then(|policing| match policing.excess {
        Excess::Demote(other) => Some(&plan.classes[other.index()]),
        Excess::Delay | Excess::Drop => None,
    });
    std::iter::once(class).chain(demoted)
}

/// Returns the acknowledgement plans of a class: one for each class from [`sent_as`].
pub(crate) fn acks<'a>(plan: &'a Plan, class: &'a ClassPlan) -> impl Iterator<Item = AckPlan> + 'a {
    sent_as(plan, class).filter_map(|other| Some(other.window.as_ref()?.ack))
}

pub(crate) fn lanes_of_acks(plan: &Plan, ack: AckPlan) -> LaneSet {
    plan.lanes.allowed.anywhere(&plan.fabric, ack.vc_class)
}

pub(crate) fn longest_as(
    class: &ClassPlan,
    message_bytes: u32,
    switches: impl FnOnce() -> usize,
) -> u32 {
    message_bytes.min(class.longest_packet_bytes(switches))
}

pub(crate) fn lanes_of_probes(plan: &Plan, admission: &AdmissionPlan) -> LaneSet {
    plan.lanes.allowed.anywhere(&plan.fabric, admission.vc_class)
}

pub(crate) fn used_lanes(plan: &Plan) -> LaneSet {
    let classes = plan.classes.iter().map(|class| plan.lanes_of(class));
    let acks = plan.classes.iter().filter_map(|class| class.window.as_ref());
    let acks = acks.map(|window| lanes_of_acks(plan, window.ack));
    let probes = plan.admission.as_deref().map(|admission| lanes_of_probes(plan, admission));
    classes.chain(acks).chain(probes).fold(LaneSet::EMPTY, |all, of| all | of)
}

pub(crate) fn longest_on(plan: &Plan, lanes: LaneSet) -> Option<u32> {
    let uses = |class: &&ClassPlan| !(plan.lanes_of(class) & lanes).is_empty();
    let payload = |class: &ClassPlan| {
        let messages = class.sources.iter().map(|source| *source.payload_bytes().end());
        let sent = |message| {
            sent_as(plan, class).map(move |other| other.longest_anywhere_bytes(message)).max()
        };
        messages.filter_map(sent).max().unwrap_or(0)
    };
    let packets = plan.classes.iter().filter(uses).map(payload);
    let acks = plan.classes.iter().filter_map(|class| Some(class.window.as_ref()?.ack));
    let goes = |ack: &AckPlan| !(lanes_of_acks(plan, *ack) & lanes).is_empty();
    let acks = acks.filter(goes).map(|ack| ack.payload_bytes);
    let probes = plan.admission.as_deref();
    let probes = probes.filter(|of| !(lanes_of_probes(plan, of) & lanes).is_empty());
    packets.chain(acks).chain(probes.map(|of| of.payload_bytes)).max()
}

fn sends_to_itself(plan: &Plan, source: &SourcePlan) -> bool {
    match &source.messages {
        MessagePlan::Drawn(drawn) => {
            matches!(&drawn.destinations, DestinationPlan::Uniform(others) if others.own.is_empty())
        }
        MessagePlan::Replies(replies) => {
            let mut requests = plan.classes[replies.to.index()].sources.iter();
            requests.any(|of| of.endpoint == source.endpoint && sends_to_itself(plan, of))
        }
        MessagePlan::Scheduled(_) | MessagePlan::Stream(_) => false,
    }
}

pub(crate) fn destinations<'a>(
    plan: &'a Plan,
    source: &'a SourcePlan,
) -> Box<dyn Iterator<Item = EndpointId> + 'a> {
    let drawn = match &source.messages {
        MessagePlan::Replies(replies) => {
            let requests = plan.classes[replies.to.index()].sources.iter();
            let may_ask = move |request: &&SourcePlan| {
                request.endpoint != source.endpoint || sends_to_itself(plan, request)
            };
            return Box::new(requests.filter(may_ask).map(|request| request.endpoint));
        }
        MessagePlan::Stream(stream) => return Box::new(std::iter::once(stream.destination)),
        MessagePlan::Scheduled(schedule) => {
            return Box::new(schedule.iter().map(|message| message.draft.destination));
        }
        MessagePlan::Drawn(drawn) => drawn,
    };
    match &drawn.destinations {
        DestinationPlan::Fixed(to) => Box::new(std::iter::once(*to)),
        DestinationPlan::Weighted(weighted) => Box::new(weighted.things().iter().copied()),
        DestinationPlan::HotSpot { hot, share, .. } if *share >= 1.0 => {
            Box::new(hot.among.iter().copied().filter(|to| *to != source.endpoint))
        }
        DestinationPlan::Uniform(_) | DestinationPlan::HotSpot { .. } => {
            let itself = sends_to_itself(plan, source);
            Box::new(hosts(&plan.fabric).filter(move |to| itself || *to != source.endpoint))
        }
    }
}
