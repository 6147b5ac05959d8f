//! What a probe does on notices: it keeps them, sends control packets, and diverts some of them to
//! ends of switches, which answer.
//!
//! ```text
//!   received at a host    every so-manieth        ──► control packet back to where it came from
//!   received anywhere     every so-manieth        ──► another weight for a lane somewhere
//!   control packet read   every so-manieth        ──► goes to the end of the switch
//!   received at an end    each, every second one  ──► control packet back, and on to where one was to go
//! ```
//!
//! Invariant: what the end of a switch sent is neither diverted nor answered, so that no packet leads
//! to packets without end.

use super::Endpoints;
use crate::probe::Weights;
use crate::{Content, Noted, Notice, Order, Packet, PathSet, Plan, ProbePlan, Stay};
use gingham_kernel::Time;
use gingham_topology::{ChannelId, EndpointId};
use std::collections::{BTreeMap, VecDeque};

/// What a probe knows.
#[derive(Clone, Debug, Default)]
pub(super) struct Probe {
    noted: Vec<Noted>,
    /// Packets that were received.
    seen: u64,
    /// Those that hosts received.
    received: u64,
    /// What it orders of lanes.
    weights: Weights,
    /// Control packets of hosts that switches read.
    read: u64,
    /// Packets that ends of switches received.
    taken_in: u64,
    /// By end of a switch: where packets on their way to it were to go.
    diverted: BTreeMap<EndpointId, VecDeque<EndpointId>>,
}

impl Probe {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { weights: Weights::new(plan), ..Self::default() }
    }

    /// All notices in order.
    pub(super) fn noted(&self) -> &[Noted] {
        &self.noted
    }
}

/// Counts one more. Returns whether it is one of every so many.
fn is_due(count: &mut u64, every: u64) -> bool {
    *count += 1;
    every > 0 && count.is_multiple_of(every)
}

impl Endpoints {
    /// A packet has arrived: one of every so many is followed by one the other way, and what comes
    /// to the end of a switch is answered.
    #[cold]
    pub(super) fn probe_received(&mut self, plan: ProbePlan, packet: &Packet, now: Time) {
        if is_due(&mut self.probe.seen, plan.weigh_every) {
            self.orders.extend(self.probe.weights.next().map(Order::Weigh));
        }
        let fabric = &self.plan.fabric;
        let (here, from) = (packet.destination, packet.source);
        if packet.content != Content::Control && fabric.is_port_0(here) {
            return;
        }
        if fabric.is_port_0(here) {
            let diverted = self.probe.diverted.get_mut(&here).and_then(VecDeque::pop_front);
            let onward = diverted.expect("what comes to the end of a switch was diverted");
            self.control(plan, packet, (here, from), now);
            if is_due(&mut self.probe.taken_in, 2) {
                self.control(plan, packet, (here, onward), now);
            }
        } else if !fabric.is_port_0(from) && is_due(&mut self.probe.received, plan.control_every) {
            self.control(plan, packet, (here, from), now);
        }
    }

    /// Sends a control packet on account of another packet, if a path leads there.
    fn control(
        &mut self,
        plan: ProbePlan,
        on: &Packet,
        (source, destination): (EndpointId, EndpointId),
        now: Time,
    ) {
        if self.plan.fabric.is_port_0(source) && !self.plan.is_routed(source, destination) {
            return;
        }
        let control = Packet {
            content: Content::Control,
            source,
            destination,
            payload_bytes: plan.control_bytes,
            path_set: PathSet::default(),
            vc_class: self.plan.vc_class(on.class, source, destination),
            is_first: false,
            is_last_of_stream: false,
            mark: false,
            ..*on
        };
        self.order(control, now);
    }

    /// A switch has read a packet: one of every so many control packets goes to its end.
    #[cold]
    pub(super) fn probe_read(&mut self, input: ChannelId, packet: &mut Packet) {
        let every = self.plan.probe.map_or(0, |plan| plan.divert_every);
        let fabric = &self.plan.fabric;
        let Some(end) = fabric.port_0(fabric.target(input).node) else { return };
        let is_of_host = packet.content == Content::Control && !fabric.is_port_0(packet.source);
        if is_of_host && is_due(&mut self.probe.read, every) {
            self.probe.diverted.entry(end).or_default().push_back(packet.destination);
            packet.destination = end;
        }
    }

    /// Keeps a notice.
    #[cold]
    pub(super) fn note(&mut self, time: Time, notice: &Notice<'_>) {
        let at = |what, place| Noted {
            time,
            what,
            place,
            lane: 0,
            waiting_flits: 0,
            has_space: None,
            packet: None,
        };
        let noted = match notice {
            Notice::Created { source } => at("created", *source),
            Notice::Began { endpoint, packet } => {
                Noted { packet: Some(**packet), ..at("began", endpoint.index()) }
            }
            Notice::SentOn { endpoint, packet, .. } => {
                Noted { packet: Some(**packet), ..at("sent on", endpoint.index()) }
            }
            Notice::Left { endpoint, .. } => at("left", endpoint.index()),
            Notice::Received { packet, .. } => {
                Noted { packet: Some(**packet), ..at("received", packet.destination.index()) }
            }
            Notice::Read { input, lane, waiting_flits, packet } => Noted {
                lane: *lane,
                waiting_flits: *waiting_flits,
                packet: Some(**packet),
                ..at("read", input.index())
            },
            Notice::Queued { stay } => noted_stay("queued", time, stay),
            Notice::Forwarded { stay, packet, .. } => {
                Noted { packet: Some(**packet), ..noted_stay("forwarded", time, stay) }
            }
            Notice::Settled { stay, has_space } => {
                Noted { has_space: Some(*has_space), ..noted_stay("settled", time, stay) }
            }
            Notice::Lanes { .. } | Notice::Gathered { .. } => return,
            Notice::Woken { endpoint } => at("woken", endpoint.index()),
            Notice::Sampled { counts } => at("sampled", counts.len()),
            Notice::Looked { waiters } => at("looked", waiters.len()),
        };
        self.probe.noted.push(noted);
    }
}

#[cold]
fn noted_stay(what: &'static str, time: Time, stay: &Stay) -> Noted {
    let Stay { input, lane, wire_bytes, .. } = *stay;
    let place = input.index();
    Noted { time, what, place, lane, waiting_flits: wire_bytes, has_space: None, packet: None }
}
