//! Audit: the history of a run, recorded from notices, and the decisions that follow from it.

mod creation;
mod signals;
mod turns;

use super::admission::Admission;
use super::bucket::Bucket;
use super::differ::{Audited, Tally};
use super::host::{Host, Other};
use super::lane_choice::LaneDraws;
use super::marking::Marking;
use super::message::{Message, MessageIndex};
use super::orders::Orders;
use super::posting::Posting;
use super::probe::Probe;
use super::queue::What;
use super::receipts::Receipts;
use super::replies::{Replies, Reply};
use super::source_chooser::SourceChooser;
use super::throttle::{AtLeastOne, SelfTuned, Throttle};
use gingham_kernel::Time;
use gingham_net::traffic::{Source, SourcePlan};
use gingham_net::{
    Arrival, ClassId, Content, FlowKey, MessageSlot, NetworkEvent, Notice, Order, Packet, Plan,
    ThrottlePlan,
};
use gingham_topology::EndpointId;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Audit {
    plan: Arc<Plan>,
    now: Time,
    number: usize,
    sources: Vec<Source>,
    crashes: Vec<NetworkEvent>,
    created: Vec<usize>,
    messages: Vec<Message>,
    /// Message that uses each packet slot, until the slot is reused.
    slots: BTreeMap<MessageSlot, MessageIndex>,
    flows: Vec<FlowKey>,
    hosts: Vec<Host>,
    paths: Vec<SourceChooser>,
    buckets: BTreeMap<(EndpointId, ClassId), Bucket>,
    lanes: LaneDraws,
    /// Posted messages of each endpoint; empty if hosts have no channel adapters.
    posting: Vec<Posting>,
    throttle: Throttle,
    /// Whether congestion control holds the messages of each endpoint until it is woken.
    held: Vec<bool>,
    woken: u64,
    marking: Marking,
    admission: Option<Admission>,
    probe: Probe,
    replies: Replies,
    receipts: Receipts,
    orders: Orders,
    tally: Tally,
}

impl Audit {
    pub(super) fn new(plan: Arc<Plan>, tally: Tally) -> Self {
        let endpoints = || plan.fabric.endpoint_ids();
        let throttle = match plan.throttle() {
            None => Throttle::None,
            Some(ThrottlePlan::AtLeastOne) => Throttle::AtLeastOne(AtLeastOne::default()),
            Some(ThrottlePlan::SelfTuned(of)) => Throttle::SelfTuned(SelfTuned::new(&plan, of)),
        };
        let mut audit = Self {
            now: Time::ZERO,
            number: 0,
            sources: Source::all(&plan),
            crashes: Vec::new(),
            created: vec![0; plan.fabric.endpoints().len()],
            messages: Vec::new(),
            slots: BTreeMap::new(),
            flows: Vec::new(),
            hosts: endpoints().map(|end| Host::new(plan.lanes.first_lanes(end))).collect(),
            paths: endpoints().map(|end| SourceChooser::new(&plan, end)).collect(),
            buckets: buckets(&plan),
            lanes: LaneDraws::default(),
            posting: postings(&plan),
            throttle,
            held: vec![false; plan.fabric.endpoints().len()],
            woken: 0,
            marking: Marking::new(&plan),
            admission: plan.admission.as_ref().map(|of| Admission::new(&plan, of)),
            probe: Probe::new(&plan),
            replies: Replies::default(),
            receipts: Receipts::default(),
            orders: Orders::default(),
            tally,
            plan,
        };
        for source in 0..audit.sources.len() {
            audit.expect_next(source);
        }
        if let Throttle::SelfTuned(of) = &audit.throttle {
            audit.orders.wake_at(EndpointId::new(0), of.next_gather);
        }
        audit
    }

    fn expect_next(&mut self, source: usize) {
        if let Some(at) = self.sources[source].next_at() {
            self.orders.create_at(source, at);
        }
    }

    fn planned(&self, source: usize) -> &SourcePlan {
        let mut sources = self.plan.classes.iter().flat_map(|class| &class.sources);
        sources.nth(source).expect("every source is in the plan")
    }

    fn has_crashed(&self, source: usize) -> bool {
        let of = &self.sources[source];
        self.crashes.iter().any(|event| match event {
            NetworkEvent::HostCrash(host) => *host == of.endpoint(),
            NetworkEvent::ApplicationCrash(stream) => Some(*stream) == of.stream(),
        })
    }

    pub(super) fn network_event(&mut self, event: NetworkEvent) {
        self.crashes.push(event);
    }

    pub(super) fn carry_out(&mut self, order: Option<Order>) {
        self.orders.carry_out(self.now, order);
        if order.is_some() {
            self.tally.count(Audited::Order);
        }
    }

    /// Records a notice. Returns the expected packet if the endpoints may have changed the packet
    /// of the notice.
    pub(super) fn notice(&mut self, now: Time, notice: &Notice<'_>) -> Option<Packet> {
        self.now = now;
        match notice {
            Notice::Created { source } => self.created(*source),
            Notice::Began { endpoint, packet } => self.began(*endpoint, packet),
            Notice::Left { endpoint, began, flits, flit, content } => {
                self.paths[endpoint.index()].packet_left(now.since(*began), *flit * *flits);
                if let Content::Data(slot) = content {
                    self.left(*endpoint, *slot);
                }
            }
            Notice::SentOn { endpoint, packet, .. } => {
                return Some(self.sent_on(*endpoint, **packet));
            }
            Notice::Received { packet, arrival } => self.received(packet, arrival),
            Notice::Read { input, waiting_flits, packet, .. } => {
                let mut expected = self.signal_read(*input, **packet);
                expected.mark |= self.marking.read(&self.plan, *input, *waiting_flits);
                let diverted = self.probe.read(*input, packet);
                expected.destination = diverted.unwrap_or(expected.destination);
                return Some(expected);
            }
            Notice::Queued { stay } => self.marking.queued(stay, now),
            Notice::Forwarded { stay, left, packet } => {
                let mark = packet.mark | self.marking.forwarded(stay, *left, now);
                return Some(Packet { mark, ..**packet });
            }
            Notice::Settled { stay, has_space } => self.marking.settled(stay, *has_space, now),
            Notice::Lanes { output, free } => {
                if let Throttle::AtLeastOne(of) = &mut self.throttle
                    && let Some(switch) = of.reported(&self.plan, *output, *free)
                {
                    let plan = Arc::clone(&self.plan);
                    let channel = |end| plan.fabric.endpoint_channel(end);
                    self.wake(|end| plan.ends(channel(end)).target.node == switch);
                }
            }
            Notice::Loads { endpoint, loads } => {
                self.paths[endpoint.index()].loads_shown(loads);
            }
            Notice::Gathered { full } => self.gathered(*full),
            Notice::Woken { endpoint } => self.endpoint_woken(*endpoint),
            Notice::Sampled { .. } | Notice::TreesSampled { .. } => {}
        }
        None
    }

    fn message_in(&self, slot: MessageSlot) -> MessageIndex {
        self.slots[&slot]
    }

    fn wake(&mut self, is_woken: impl Fn(EndpointId) -> bool) {
        for endpoint in EndpointId::first(self.held.len()).filter(|end| is_woken(*end)) {
            if std::mem::take(&mut self.held[endpoint.index()]) {
                self.woken += 1;
                self.orders.send(endpoint);
            }
        }
    }

    pub(super) fn check_reports(&self, now: Time, machines: &gingham_net::Endpoints) {
        let found = machines.throttled();
        if matches!(self.throttle, Throttle::None) {
            assert_eq!(found, 0, "audit: nothing holds hosts");
        } else {
            let place = (now, "hosts");
            self.tally.check(Audited::Woken, place, "times woken", &self.woken, &found);
        }
        let Some(admission) = &self.admission else { return };
        admission.check(now, machines, &self.tally);
    }
}

// Arrivals at hosts: acknowledgements and their effects, replies, counts and wake-ups (`timing.md`,
// "Flows").

impl Audit {
    fn received(&mut self, packet: &Packet, arrival: &Arrival) {
        if packet.is_bad {
            return;
        }
        if let Throttle::SelfTuned(of) = &mut self.throttle {
            of.received(arrival.wire_bytes);
        }
        match packet.content {
            Content::Data(_) => self.acknowledge(packet),
            Content::Ack { packets, marked } => self.acknowledged(packet, packets, marked > 0),
            Content::Signal(signal) => self.signal_received(signal, packet),
            Content::Control => {}
        }
        self.control(packet);
        if let Content::Data(slot) = packet.content {
            self.data_received(slot, packet);
        }
    }

    /// Acknowledges a data packet, and possibly earlier packets, if an acknowledgement is due.
    fn acknowledge(&mut self, packet: &Packet) {
        let Some(flow) = packet.flow else { return };
        let class = self.flows[flow.index()].class;
        let Some(window) = self.plan.classes[class.index()].window.clone() else { return };
        let now = self.now;
        let due = self.receipts.arrive(flow, packet.mark, window.acknowledged, now);
        let Some((packets, marked)) = due else { return };
        let ends = (packet.destination, packet.source);
        let vc_class = window.ack.vc_class.unwrap_or_else(|| {
            self.plan.lanes.allowed.vc_class_of_pair(packet.destination, packet.source)
        });
        let ack = without_message(Content::Ack { packets, marked }, ends, packet);
        let (payload_bytes, priority) = (window.ack.payload_bytes, window.ack.priority);
        self.send_other(Packet { payload_bytes, priority, vc_class, flow: packet.flow, ..ack });
    }

    fn send_other(&mut self, packet: Packet) {
        let other = Other { packet, since: self.now, has_started: false };
        self.hosts[packet.source.index()].others.push(other);
        self.orders.send(packet.source);
    }

    /// Handles an acknowledgement at the source. The flow may send if the acknowledgement opens its
    /// window.
    fn acknowledged(&mut self, ack: &Packet, packets: u32, is_marked: bool) {
        let host = &mut self.hosts[ack.destination.index()];
        let queue = host.queues.iter_mut().find(|queue| queue.flow == ack.flow);
        let queue = queue.expect("what is acknowledged was sent");
        let was_shut = queue.is_shut();
        self.number += 1;
        queue.happened(self.number, self.now, What::Acknowledged { packets, is_marked });
        if was_shut && !queue.is_shut() {
            self.orders.send(ack.destination);
        }
    }

    fn control(&mut self, packet: &Packet) {
        let (controls, weighs) = self.probe.received(packet);
        if weighs {
            self.orders.weigh_freely();
        }
        for control in controls {
            let ends = (control.source, control.destination);
            let of = self.plan.probe.expect("there is a probe");
            let vc_class = self.plan.classes[packet.class.index()].vc_class.unwrap_or_else(|| {
                self.plan.lanes.allowed.vc_class_of_pair(control.source, control.destination)
            });
            let payload_bytes = of.control_bytes;
            let sent = without_message(Content::Control, ends, packet);
            self.send_other(Packet { payload_bytes, vc_class, flow: packet.flow, ..sent });
        }
    }

    /// Handles a data packet. The last packet of a message causes replies.
    fn data_received(&mut self, slot: MessageSlot, packet: &Packet) {
        let index = self.message_in(slot);
        let message = &mut self.messages[index];
        message.arrived_bytes += packet.payload_bytes;
        if !message.has_arrived() {
            return;
        }
        let delivered = message.as_created();
        let (class, from, here) = (message.class, message.source, message.destination);
        for source in 0..self.sources.len() {
            let of = &self.sources[source];
            let Some(plan) = self.planned(source).replies() else { continue };
            let at = self.now + plan.think;
            let is_active = self.plan.classes[of.class().index()].active.contains(&at);
            if (plan.to, of.endpoint()) != (class, here) || !is_active || self.has_crashed(source) {
                continue;
            }
            self.sources[source].delivered(&delivered, self.now);
            let reply = Reply { source, endpoint: here, destination: from, at };
            if at == self.now {
                self.reply(reply);
            } else {
                self.replies.expect(reply);
                self.orders.wake_at(here, at);
            }
        }
    }

    fn reply(&mut self, reply: Reply) {
        if self.has_crashed(reply.source) {
            return;
        }
        let draft = self.draw(reply.source);
        let (expected, found) = (&reply.destination, &draft.destination);
        self.tally.check(Audited::Reply, (self.now, "reply"), "destination", expected, found);
        self.create(reply.source, draft);
        self.orders.send(reply.endpoint);
    }

    fn endpoint_woken(&mut self, endpoint: EndpointId) {
        let now = self.now;
        self.orders.woken(endpoint, now);
        if let Throttle::SelfTuned(of) = &mut self.throttle
            && endpoint == EndpointId::new(0)
        {
            let wakes = of.learn(now);
            if of.gathers(now) {
                let next = of.next_gather;
                self.orders.wake_at(endpoint, next);
                self.orders.gather();
            }
            if wakes {
                self.wake(|_| true);
            }
        }
        if let Some(posting) = self.posting.get_mut(endpoint.index()) {
            posting.woken(now);
            self.carry_out_effects(endpoint);
        }
        for reply in self.replies.take_due(endpoint, now) {
            self.reply(reply);
        }
    }

    /// Records a count: the `full` buffers between switches plus the full send buffers.
    fn gathered(&mut self, full: u64) {
        let full = full + self.posting.iter().filter(|of| of.is_full()).count() as u64;
        let Throttle::SelfTuned(of) = &mut self.throttle else { return };
        let known_at = of.counted(full, self.now);
        let wakes = of.learn(self.now);
        if let Some(at) = known_at {
            self.orders.wake_at(EndpointId::new(0), at);
        }
        if wakes {
            self.wake(|_| true);
        }
    }
}

fn postings(plan: &Plan) -> Vec<Posting> {
    let Some(adapters) = plan.adapters else { return Vec::new() };
    plan.fabric.endpoint_ids().map(|endpoint| Posting::new(adapters, endpoint)).collect()
}

fn buckets(plan: &Plan) -> BTreeMap<(EndpointId, ClassId), Bucket> {
    let mut buckets = BTreeMap::new();
    for (class, of) in ClassId::first(plan.classes.len()).zip(&plan.classes) {
        let Some(policing) = &of.policing else { continue };
        for (source, refill) in of.sources.iter().zip(&policing.refill) {
            let bucket = Bucket::new(*refill, policing.burst_bytes);
            buckets.insert((source.endpoint, class), bucket);
        }
    }
    buckets
}

fn without_message(
    content: Content,
    (source, destination): (EndpointId, EndpointId),
    on: &Packet,
) -> Packet {
    Packet {
        content,
        source,
        destination,
        flow: None,
        path_id: gingham_net::PathId::PRIMARY,
        is_bad: false,
        is_first: false,
        is_last_of_stream: false,
        mark: false,
        ..*on
    }
}
