//! Turns: selection of the packet that an endpoint sends when its link is free (`timing.md`,
//! "Turns").

use super::Audit;
use crate::endpoints::differ::Audited;
use crate::endpoints::host::{Pick, levels};
use crate::endpoints::message::{Message, MessageIndex};
use crate::endpoints::queue::{Queue, What};
use crate::endpoints::throttle::{May, Throttle};
use gingham_kernel::Time;
use gingham_net::congestion::Queued;
use gingham_net::{
    Adapter, ClassId, Content, Credits, Excess, FlowKey, Next, Packet, PathId, Turn,
};
use gingham_topology::EndpointId;

impl Audit {
    fn first_of(&self, queue: &Queue) -> Option<MessageIndex> {
        queue.messages.iter().copied().find(|message| !self.messages[*message].is_sent())
    }

    /// Selects the next packet of a group. A message that the network refuses blocks its host.
    fn pick(&mut self, endpoint: EndpointId, group: usize, now: Time) -> Pick {
        let mut soonest: Option<Time> = None;
        for level in levels() {
            match self.pick_of_level(endpoint, (group, level), now) {
                Pick::Nothing => {}
                Pick::At(time) => soonest = Some(soonest.map_or(time, |other| other.min(time))),
                pick => return pick,
            }
        }
        soonest.map_or(Pick::Nothing, Pick::At)
    }

    fn pick_of_level(
        &mut self,
        endpoint: EndpointId,
        (group, level): (usize, usize),
        now: Time,
    ) -> Pick {
        let host = &self.hosts[endpoint.index()];
        if let Some(other) = host.first_other(group, level) {
            return Pick::Other(other);
        }
        let mut soonest: Option<Time> = None;
        let mut short: Vec<ClassId> = Vec::new();
        for place in host.ring(group, level) {
            let queue = &self.hosts[endpoint.index()].queues[place];
            let message = self.first_of(queue).expect("a queue in the ring has a message");
            let by_rate_limit = queue.state().earliest;
            let is_of_flow = queue.flow.is_some();
            let may = if by_rate_limit > now {
                May::At(by_rate_limit)
            } else {
                match self.waits_for_tokens(message, is_of_flow, &mut short, now) {
                    May::Begin => self.may_begin(message, now),
                    waits => waits,
                }
            };
            match may {
                May::Begin => return Pick::Queue(place, message),
                May::At(time) => soonest = Some(soonest.map_or(time, |other| other.min(time))),
                May::Held => {}
            }
        }
        soonest.map_or(Pick::Nothing, Pick::At)
    }

    /// Decides whether a message's next packet must wait for its own tokens, or because another
    /// flow of its class waits for tokens.
    fn waits_for_tokens(
        &self,
        message: MessageIndex,
        is_of_flow: bool,
        short: &mut Vec<ClassId>,
        now: Time,
    ) -> May {
        let of = &self.messages[message];
        let policing = self.plan.classes[of.class.index()].policing.as_ref();
        if !is_of_flow || policing.is_none_or(|policing| policing.excess != Excess::Delay) {
            return May::Begin;
        }
        if short.contains(&of.class) {
            return May::Held;
        }
        let bucket = &self.buckets[&(of.source, of.class)];
        let at = bucket.holds_at(now, of.next_bytes(&self.plan));
        if at == now {
            return May::Begin;
        }
        short.push(of.class);
        May::At(at)
    }

    fn may_begin(&mut self, message: MessageIndex, now: Time) -> May {
        let of = &self.messages[message];
        let post = &self.plan.classes[of.class.index()].post;
        if post.credits == Credits::Exempt || of.has_begun() {
            return May::Begin;
        }
        let ends = (of.source, of.destination);
        let may = match &self.throttle {
            Throttle::None => May::Begin,
            Throttle::AtLeastOne(rule) => {
                if rule.may_begin(&self.plan, ends, of.vc_class) {
                    May::Begin
                } else {
                    May::Held
                }
            }
            Throttle::SelfTuned(rule) => rule.may(now),
        };
        self.held[of.source.index()] |= may == May::Held;
        may
    }

    pub(in crate::endpoints) fn turn(
        &mut self,
        endpoint: EndpointId,
        group: usize,
        begins: Time,
        found: Turn,
    ) {
        let place = format!("endpoint {}, group {group}", endpoint.index());
        let pick = self.pick(endpoint, group, begins);
        let expected = match pick {
            Pick::Nothing => Turn::Nothing,
            Pick::At(time) => Turn::At(time),
            Pick::Other(other) => {
                let packet = self.hosts[endpoint.index()].others[other].packet;
                let (to, bytes) = (packet.destination, packet.payload_bytes);
                let path_id = self.paths[endpoint.index()].choose(&self.plan, to, bytes);
                Turn::Send(Packet { path_id, ..packet })
            }
            Pick::Queue(_, message) => {
                let Message { destination, payload_bytes, .. } = self.messages[message];
                let path_id =
                    self.paths[endpoint.index()].choose(&self.plan, destination, payload_bytes);
                Turn::Send(self.packet_of(message, path_id, &found))
            }
        };
        self.tally.check(Audited::Turn, (begins, place), "turn", &expected, &found);
        if let (Pick::Queue(_, message), Turn::Send(packet)) = (pick, found)
            && let Content::Data(slot) = packet.content
        {
            self.slots.insert(slot, message);
        }
        self.record_start(endpoint, pick, begins);
    }

    /// Returns the next packet of a message. The slot of the packet must be free or already belong
    /// to the message.
    fn packet_of(&self, message: MessageIndex, path_id: PathId, found: &Turn) -> Packet {
        let of = &self.messages[message];
        let known = self.slots.iter().find(|(_, other)| **other == message);
        let Turn::Send(packet) = found else {
            panic!("audit: a packet of message {message} ({of:?}) is due, found {found:?}")
        };
        let content = match (known, packet.content) {
            (Some((slot, _)), _) => Content::Data(*slot),
            (None, Content::Data(slot)) => {
                let before = self.slots.get(&slot).map(|other| &self.messages[*other]);
                let is_free = before.is_none_or(Message::has_arrived);
                assert!(is_free, "audit: the slot of message {message} holds {before:?}");
                packet.content
            }
            (None, content) => {
                panic!("audit: message {message} ({of:?}) is due, found {content:?}")
            }
        };
        of.next_packet(&self.plan, Packet { content, path_id, ..*packet })
    }

    fn record_start(&mut self, endpoint: EndpointId, pick: Pick, now: Time) {
        match pick {
            Pick::At(_) | Pick::Nothing => {}
            Pick::Other(other) => self.hosts[endpoint.index()].others[other].has_started = true,
            Pick::Queue(place, message) => {
                let payload_bytes = self.messages[message].next_bytes(&self.plan);
                self.messages[message].started_bytes.push(payload_bytes);
                let of = &self.messages[message];
                let queue = &mut self.hosts[endpoint.index()].queues[place];
                let policing = self.plan.classes[of.class.index()].policing.as_ref();
                let is_delayed = policing.is_some_and(|of| of.excess == Excess::Delay);
                if is_delayed && queue.flow.is_some() {
                    let bucket = self.buckets.get_mut(&(of.source, of.class));
                    bucket.expect("a policed class has one").take(now, payload_bytes);
                }
                self.number += 1;
                let is_last = of.is_sent();
                queue.happened(self.number, now, What::Started { payload_bytes, is_last });
            }
        }
    }

    pub(in crate::endpoints) fn next(
        &mut self,
        endpoint: EndpointId,
        group: usize,
        begins: Time,
        found: Next,
    ) {
        let expected = match self.pick(endpoint, group, begins) {
            Pick::Nothing => Next::Nothing,
            Pick::At(time) => Next::At(time),
            Pick::Other(other) => {
                let other = &self.hosts[endpoint.index()].others[other];
                let payload_bytes = other.packet.payload_bytes;
                Next::Packet { payload_bytes, created: other.since }
            }
            Pick::Queue(_, message) => {
                let of = &self.messages[message];
                Next::Packet { payload_bytes: of.next_bytes(&self.plan), created: of.created }
            }
        };
        let place = format!("endpoint {}, group {group}", endpoint.index());
        let at = (begins, place);
        self.tally.check(Audited::Candidate, at, "next packet", &expected, &found);
    }

    pub(in crate::endpoints) fn check_ready(
        &self,
        endpoint: EndpointId,
        group: usize,
        now: Time,
        found: bool,
    ) {
        let expected = self.hosts[endpoint.index()].has_ready(group, now);
        let place = format!("endpoint {}, group {group}", endpoint.index());
        self.tally.check(Audited::Groups, (now, place), "packet ready", &expected, &found);
    }

    pub(in crate::endpoints) fn check_groups(&self, endpoint: EndpointId, adapter: &Adapter) {
        let host = &self.hosts[endpoint.index()];
        let place = || (self.now, format!("endpoint {}", endpoint.index()));
        let groups: Vec<_> = adapter.groups().collect();
        self.tally.check(Audited::Groups, place(), "groups", &host.groups, &groups);
        for vc_class in host.vc_classes() {
            let (expected, found) = (host.group_of(vc_class), adapter.group_of(vc_class));
            self.tally.check(Audited::Groups, place(), "group of a VC class", &expected, &found);
        }
        let waiting = (0..groups.len()).filter(|group| host.is_waiting(*group));
        let expected = waiting.fold(0, |all, group| all | 1 << group);
        let found = adapter.waiting_groups();
        self.tally.check(Audited::Groups, place(), "groups that wait", &expected, &found);
    }

    /// Compares the packets reported as waiting with the first packets of all queues, except
    /// packets that a window or rate limit delays.
    pub(in crate::endpoints) fn check_queued(
        &self,
        endpoint: EndpointId,
        now: Time,
        found: &[Queued],
    ) {
        let host = &self.hosts[endpoint.index()];
        let mut expected: Vec<(usize, FlowKey, u32)> = Vec::new();
        for (group, level) in
            (0..host.groups.len()).flat_map(|group| levels().map(move |level| (group, level)))
        {
            if let Some(other) = host.first_other(group, level) {
                let packet = &host.others[other].packet;
                let Packet { class, source, destination, .. } = *packet;
                let key = FlowKey { class, source, destination, stream: None };
                expected.push((group, key, packet.payload_bytes));
            }
            for place in host.ring(group, level) {
                let queue = &host.queues[place];
                let message = self.first_of(queue).expect("a queue in the ring has a message");
                let of = &self.messages[message];
                if queue.state().earliest <= now {
                    let (class, source, destination) = (of.class, of.source, of.destination);
                    let key = FlowKey { class, source, destination, stream: None };
                    expected.push((group, key, of.next_bytes(&self.plan)));
                }
            }
        }
        let found = found.iter().map(|of| (of.group, of.flow, of.payload_bytes));
        let mut found: Vec<_> = found.collect();
        expected.sort_unstable();
        found.sort_unstable();
        let place = format!("endpoint {}", endpoint.index());
        self.tally.check(Audited::Waiting, (now, place), "waiting packets", &expected, &found);
    }
}
