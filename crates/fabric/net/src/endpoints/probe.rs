//! Test probe of a run: records notices, sends control packets, and diverts some of them to port 0
//! of a switch, which responds.
//!
//! A port 0 responds to each packet with a control packet to the source, and to every second packet
//! also with a control packet to the packet's original destination.
//!
//! Invariant: packets from a port 0 are neither diverted nor responded to, so that the number of
//! packets stays finite.

use super::outbox::Outbox;
use crate::probe::Weights;
use crate::{Content, Noted, Notice, Order, Packet, Plan, ProbePlan, Stay};
use gingham_kernel::Time;
use gingham_topology::{ChannelId, EndpointId};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) struct Probe {
    plan: Arc<Plan>,
    of: ProbePlan,
    noted: Vec<Noted>,
    seen: u64,
    received: u64,
    weights: Weights,
    read: u64,
    taken_in: u64,
    /// For each port 0: original destinations of diverted packets in flight.
    diverted: BTreeMap<EndpointId, VecDeque<EndpointId>>,
}

fn is_due(count: &mut u64, every: u64) -> bool {
    *count += 1;
    every > 0 && count.is_multiple_of(every)
}

impl Probe {
    pub(super) fn new(plan: &Arc<Plan>) -> Option<Self> {
        Some(Self {
            of: plan.probe?,
            weights: Weights::new(plan),
            plan: Arc::clone(plan),
            noted: Vec::new(),
            seen: 0,
            received: 0,
            read: 0,
            taken_in: 0,
            diverted: BTreeMap::new(),
        })
    }

    pub(super) fn noted(&self) -> &[Noted] {
        &self.noted
    }

    #[cold]
    pub(super) fn on_received(&mut self, packet: &Packet, outbox: &mut Outbox, now: Time) {
        if is_due(&mut self.seen, self.of.weigh_every)
            && let Some(weighing) = self.weights.next()
        {
            outbox.order(Order::Weigh(weighing));
        }
        let fabric = &self.plan.fabric;
        let (here, from) = (packet.destination, packet.source);
        if packet.content != Content::Control && fabric.is_port_0(here) {
            return;
        }
        if fabric.is_port_0(here) {
            let diverted = self.diverted.get_mut(&here).and_then(VecDeque::pop_front);
            let onward = diverted.expect("a control packet at the end of a switch was diverted");
            self.control(packet, (here, from), outbox, now);
            if is_due(&mut self.taken_in, 2) {
                self.control(packet, (here, onward), outbox, now);
            }
        } else if !fabric.is_port_0(from) && is_due(&mut self.received, self.of.control_every) {
            self.control(packet, (here, from), outbox, now);
        }
    }

    fn control(
        &self,
        on: &Packet,
        (source, destination): (EndpointId, EndpointId),
        outbox: &mut Outbox,
        now: Time,
    ) {
        if self.plan.fabric.is_port_0(source) && !self.plan.is_routed(source, destination) {
            return;
        }
        let level = (on.priority, self.plan.vc_class(on.class, source, destination));
        let (ends, payload_bytes) = ((source, destination), self.of.control_bytes);
        let control =
            Packet::without_message(Content::Control, on.class, ends, level, payload_bytes);
        let control = Packet { flow: on.flow, ..control };
        outbox.send(control, now);
    }

    #[cold]
    pub(super) fn on_read(&mut self, input: ChannelId, packet: &mut Packet) {
        let fabric = &self.plan.fabric;
        let Some(end) = fabric.port_0(fabric.target(input).node) else { return };
        let is_of_host = packet.content == Content::Control && !fabric.is_port_0(packet.source);
        if is_of_host && is_due(&mut self.read, self.of.divert_every) {
            self.diverted.entry(end).or_default().push_back(packet.destination);
            packet.destination = end;
        }
    }

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
            Notice::Lanes { .. } | Notice::Loads { .. } | Notice::Gathered { .. } => return,
            Notice::Woken { endpoint } => at("woken", endpoint.index()),
            Notice::Sampled { counts } => at("sampled", counts.len()),
            Notice::TreesSampled { waiters } => at("trees sampled", waiters.len()),
        };
        self.noted.push(noted);
    }
}

#[cold]
fn noted_stay(what: &'static str, time: Time, stay: &Stay) -> Noted {
    let Stay { input, lane, wire_bytes, .. } = *stay;
    let place = input.index();
    Noted { time, what, place, lane, waiting_flits: wire_bytes, has_space: None, packet: None }
}
