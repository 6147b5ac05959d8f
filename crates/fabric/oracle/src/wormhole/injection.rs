//! Injection and ejection: hosts create, send and eject worms, and re-inject in-transit worms.

use crate::wormhole::event::{Event, Flit};
use crate::wormhole::host::{Host, InTransitPacket, Injection, LocalWorm};
use crate::wormhole::simulation::Simulation;
use crate::wormhole::worm::Worm;
use gingham_kernel::Time;
use gingham_net::{EjectionHead, Notice, Order, Turn};
use gingham_topology::{ChannelId, EndpointId, Fabric};
use std::collections::VecDeque;

impl Simulation {
    pub(crate) fn notify(&mut self, notice: Notice<'_>) {
        self.endpoints.notify(self.timeline.now, notice);
        self.carry_out();
    }

    pub(crate) fn carry_out(&mut self) {
        while let Some(order) = self.endpoints.next_order() {
            match order {
                Order::Send { endpoint } => {
                    let channel = self.host_channel(endpoint);
                    self.timeline.cause(self.timeline.now, Event::Transfer { channel });
                }
                Order::CreateAt { source, at } => self.timeline.cause(at, Event::Create { source }),
                Order::WakeAt { endpoint, at } => self.timeline.cause(at, Event::Wake { endpoint }),
                Order::Weigh(_) => unreachable!("a channel that is not divided has no weights"),
                Order::Gather => self.notify_gathered(),
            }
        }
    }

    pub(crate) fn notify_lane(&mut self, output: ChannelId) {
        let is_free = self.outputs[output.index()].owner.is_none();
        if let Some(free) = self.watched.change(output, |_| is_free) {
            self.notify(Notice::Lanes { output, free });
        }
    }

    fn notify_gathered(&mut self) {
        let full = self.watched.full(|channel, _| {
            let input = self.inputs[channel.index()].as_ref().expect("it ends at a switch");
            input.fill() > input.slack.stop as usize
        });
        self.endpoints.notify(self.timeline.now, Notice::Gathered { full });
    }

    pub(crate) fn send_from_host(&mut self, endpoint: EndpointId, channel: ChannelId) {
        if self.hosts[endpoint.index()].injection.is_none() {
            let next = self.send_on(endpoint).or_else(|| self.start_worm(endpoint));
            self.hosts[endpoint.index()].injection = next;
        }
        let Host { injection, packets, .. } = &mut self.hosts[endpoint.index()];
        let flit = match injection {
            None => return,
            Some(Injection::Local(local)) => {
                local.next += 1;
                self.flits_entered += 1;
                Flit { worm: local.worm, index: local.next - 1 }
            }
            Some(Injection::InTransit(worm)) => {
                let packet = packets.iter_mut().find(|packet| packet.worm == *worm);
                let Some(flit) = packet.expect("the worm goes on").received.pop_front() else {
                    return;
                };
                flit
            }
        };
        self.send_data(channel, flit);
        if self.worms.get(flit.worm).is_tail(flit.index) {
            let left = self.outputs[channel.index()].busy_until;
            self.timeline.cause(left, Event::Release { output: channel });
        }
    }

    fn send_on(&mut self, endpoint: EndpointId) -> Option<Injection> {
        let in_transit = &mut self.hosts[endpoint.index()].in_transit;
        let (worm, ready) = in_transit.next_ready(0, self.timeline.now)?;
        in_transit.begin(0);
        let (now, waited) = (self.timeline.now, self.timeline.now.since(ready));
        let packet = &mut self.worms.get_mut(worm).packet;
        self.endpoints.notify(now, Notice::SentOn { endpoint, waited, packet });
        self.carry_out();
        Some(Injection::InTransit(worm))
    }

    fn start_worm(&mut self, endpoint: EndpointId) -> Option<Injection> {
        let packet = match self.endpoints.turn(endpoint, 0, self.timeline.now) {
            Turn::Send(packet) => packet,
            Turn::At(time) => {
                self.timeline.cause(time, Event::Transfer { channel: self.host_channel(endpoint) });
                return None;
            }
            Turn::Nothing => return None,
        };
        if self.endpoints.wanted().began.has(&packet) {
            self.notify(Notice::Began { endpoint, packet: &packet });
        }
        let path = self.plan.path(packet.path_id, packet.source, packet.destination);
        let path = path.expect("destinations are drawn among those that a route reaches");
        let length = self.plan.length_of(&path[1..]);
        let flits = self.wormhole.worm_flits(packet.payload_bytes, length);
        let content = packet.content;
        let worm = Worm {
            packet,
            flits,
            length,
            path,
            head_arrived: None,
            index_expected: 0,
            hops_read: 0,
            lead: 0,
        };
        let (worm, started) = (self.worms.insert(worm), self.timeline.now);
        Some(Injection::Local(LocalWorm { worm, next: 0, flits, content, started }))
    }

    fn host_channel(&self, endpoint: EndpointId) -> ChannelId {
        self.plan.fabric.endpoint_channel(endpoint)
    }
}

// Arrivals at hosts: worms end there, or are ejected and re-injected, flit by flit.
//
// ```text
//   FlitArrives ─► input ─► ReadHead ─┬ ends here ──► consumed
//                (unread flits)       └ in transit: pool, memory, or it waits ─► InTransitPacket ─► Transfer
//                                                 ▲ Release: the tail has left ──────────────────────┘
// ```
//
// The input contains at most one unread head, unless the host stops its senders. In that case, the
// input is a slack buffer, where worms wait for pool space.
//
// Invariant: the used part of the pool is the sum of its worms' needs, and at most the pool size.

impl Simulation {
    pub(crate) fn receive_at_host(&mut self, channel: ChannelId, flit: Flit) {
        let head = self.host_mut(channel).head;
        match head {
            EjectionHead::Unread if self.worms.get(flit.worm).ends_with(channel) => {
                self.host_mut(channel).head = EjectionHead::Consumed;
                self.take_in(channel, flit);
            }
            EjectionHead::Unread => {
                self.put_unread(channel, flit);
                self.timeline.cause(self.timeline.now, Event::ReadHead { channel });
            }
            EjectionHead::Consumed | EjectionHead::InTransit => self.take_in(channel, flit),
            EjectionHead::Waiting { .. } => self.put_unread(channel, flit),
        }
    }

    pub(crate) fn release_host(&mut self, channel: ChannelId) {
        let endpoint = self.host_of(channel);
        let host = &mut self.hosts[endpoint.index()];
        match host.injection.take().expect("a tail had a worm") {
            Injection::Local(local) => {
                let flit = self.plan.channel(channel).flit;
                let (began, flits, content) = (local.started, local.flits, local.content);
                if self.endpoints.wanted().left {
                    self.notify(Notice::Left { endpoint, began, flits, flit, content });
                }
            }
            Injection::InTransit(worm) => {
                let place = host.packets.iter().position(|packet| packet.worm == worm);
                let packet = host.packets.remove(place.expect("the worm went on"));
                assert!(packet.received.is_empty(), "the tail was the last flit");
                if host.in_transit.release(worm, &packet.taken) {
                    self.timeline.cause(
                        self.timeline.now,
                        Event::ReadHead { channel: Fabric::reverse(channel) },
                    );
                }
            }
        }
    }

    pub(crate) fn read_at_host(&mut self, channel: ChannelId) {
        loop {
            if self.host_mut(channel).head == EjectionHead::Unread {
                let Some(flit) = self.unread(channel) else { return };
                self.read_worm(channel, flit);
            }
            if let EjectionHead::Waiting { since } = self.host_mut(channel).head
                && !self.admit(channel, since)
            {
                return;
            }
            while self.host_mut(channel).head != EjectionHead::Unread {
                let Some(flit) = self.unread(channel) else { return };
                self.leave_unread(channel);
                self.take_in(channel, flit);
            }
        }
    }

    fn read_worm(&mut self, channel: ChannelId, flit: Flit) {
        let worm = self.worms.get(flit.worm);
        self.host_mut(channel).head = if worm.ends_with(channel) {
            EjectionHead::Consumed
        } else {
            assert_eq!(worm.path[worm.hops_read], channel, "a worm is read along its path");
            assert_eq!(worm.lead, flit.index, "what came before was stripped or dropped");
            EjectionHead::Waiting { since: self.timeline.now }
        };
    }

    /// Admits the first worm in the input to the pool, or spills the worm. Returns false if it must
    /// wait.
    fn admit(&mut self, channel: ChannelId, since: Time) -> bool {
        let endpoint = self.host_at(channel);
        let id = self.unread(channel).expect("its head waits").worm;
        let worm = self.worms.get_mut(id);
        let first = worm.lead + u64::from(self.wormhole.mark_bytes);
        let bytes = worm.flits - first;
        let host = &mut self.hosts[endpoint.index()];
        let Some(taken) = host.in_transit.take_in(id, 0, bytes, since, self.timeline.now) else {
            let pool_bytes = self.plan.in_transit.pool_bytes;
            assert!(bytes <= pool_bytes, "a pool holds every worm that is sent on");
            return false;
        };
        worm.hops_read += 1;
        worm.lead = first;
        host.head = EjectionHead::InTransit;
        let received = VecDeque::new();
        host.packets.push(InTransitPacket { worm: id, taken, first, received });
        if taken.is_spilled {
            self.endpoints.collector_mut().on_spilled(endpoint, self.timeline.now);
        } else {
            let pool_bytes = host.in_transit.pool_bytes();
            self.endpoints.collector_mut().on_pool(endpoint, pool_bytes);
        }
        if let Some(ready) = taken.ready {
            self.timeline.cause(ready, Event::Transfer { channel: Fabric::reverse(channel) });
        }
        true
    }

    fn take_in(&mut self, channel: ChannelId, flit: Flit) {
        let is_tail = self.worms.get(flit.worm).is_tail(flit.index);
        let host = self.host_mut(channel);
        let head = host.head;
        if is_tail {
            host.head = EjectionHead::Unread;
        }
        match head {
            EjectionHead::Consumed => self.consume(flit),
            EjectionHead::InTransit => self.keep(channel, flit, is_tail),
            EjectionHead::Unread | EjectionHead::Waiting { .. } => {
                unreachable!("only what has room leaves the input")
            }
        }
    }

    fn consume(&mut self, flit: Flit) {
        self.flits_consumed += 1;
        let now = self.timeline.now;
        let worm = self.worms.get_mut(flit.worm);
        if worm.head_arrived.is_none() {
            worm.head_arrived = Some(now);
            worm.index_expected = flit.index;
        }
        assert_eq!(worm.index_expected, flit.index, "flits of a worm stay in order");
        worm.index_expected += 1;
        if worm.is_tail(flit.index) {
            let worm = self.worms.remove(flit.worm);
            let (packet, arrival) = (&worm.packet, &worm.arrival(now));
            self.notify(Notice::Received { packet, arrival });
        }
    }

    /// Stores a flit of an in-transit worm, or drops it if it belongs to the mark.
    fn keep(&mut self, channel: ChannelId, flit: Flit, is_tail: bool) {
        let now = self.timeline.now;
        let Host { in_transit, packets, .. } = self.host_mut(channel);
        let packet = packets.last_mut().expect("the worm was taken in");
        assert_eq!(packet.worm, flit.worm, "worms do not mix");
        if flit.index < packet.first {
            self.flits_dropped += 1;
            return;
        }
        packet.received.push_back(flit);
        let fetched =
            is_tail.then(|| in_transit.tail_received(flit.worm, &mut packet.taken, now)).flatten();
        let channel = Fabric::reverse(channel);
        self.timeline.cause(fetched.unwrap_or(now), Event::Transfer { channel });
    }

    fn unread(&self, channel: ChannelId) -> Option<Flit> {
        match &self.inputs[channel.index()] {
            Some(input) => input.front(),
            None => self.hosts[self.host_at(channel).index()].unread.front().copied(),
        }
    }

    fn put_unread(&mut self, channel: ChannelId, flit: Flit) {
        if self.inputs[channel.index()].is_some() {
            self.enter(channel, flit);
        } else {
            self.host_mut(channel).unread.push_back(flit);
        }
    }

    fn leave_unread(&mut self, channel: ChannelId) {
        if self.inputs[channel.index()].is_some() {
            self.leave(channel);
        } else {
            self.host_mut(channel).unread.pop_front();
        }
    }

    pub(crate) fn is_waiting_at_host(&self, channel: ChannelId) -> bool {
        let waits = |endpoint: EndpointId| {
            matches!(self.hosts[endpoint.index()].head, EjectionHead::Waiting { .. })
        };
        self.endpoint_of[Fabric::reverse(channel).index()].is_some_and(waits)
    }

    pub(crate) fn ends_at_host(&self, channel: ChannelId) -> bool {
        self.endpoint_of[Fabric::reverse(channel).index()].is_some()
    }

    fn host_at(&self, channel: ChannelId) -> EndpointId {
        self.host_of(Fabric::reverse(channel))
    }

    fn host_of(&self, channel: ChannelId) -> EndpointId {
        self.endpoint_of[channel.index()].expect("a host sends here")
    }

    fn host_mut(&mut self, channel: ChannelId) -> &mut Host {
        let endpoint = self.host_at(channel);
        &mut self.hosts[endpoint.index()]
    }
}
