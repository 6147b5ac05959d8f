//! The loop: the next event, what it brings about at both ends, and what that schedules.
//!
//! After each event at an end everything is polled until there is nothing: messages before packets,
//! as the protocol asks, and timers anew.
//!
//! Invariant: a packet that a source gave is in exactly one place: before the sender, on its way, in a
//! buffer of the receiver, given out, or counted as refused or lost.

use super::Progress;
use super::event::{Cargo, Event, Load, Slots};
use super::link::{Kind, Link};
use super::receiving::ReceivingEnd;
use super::sending::SendingEnd;
use crate::measure::{Loss, Meter};
use crate::plan::Plan;
use crate::traffic::{Packet, Source, Turn};
use gingham_fairq::Number;
use gingham_kernel::{Rate, Span, Time, Wheel};
use gingham_linkemu::{Arrival, Fate};
use gingham_results::real;
use gingham_stripe::{Kind as MessageKind, MESSAGE_BYTES_MAX, Message};
use std::collections::VecDeque;

/// A run under way.
#[derive(Debug)]
pub(crate) struct Engine {
    now: Time,
    stop: Time,
    end: Time,
    done: bool,
    wheel: Wheel<Event>,
    slots: Slots,
    links: Vec<Link>,
    sender: SendingEnd,
    receiver: ReceivingEnd,
    sources: Vec<Source>,
    turn: Turn,
    /// What waits before the sender.
    queue: VecDeque<Packet>,
    queue_bytes: u64,
    queue_bytes_max: u64,
    /// Copies that wait for room.
    copies: VecDeque<Packet>,
    backpressure: bool,
    reader: Option<Rate>,
    /// The reader is busy until then.
    read_at: Time,
    /// Timers that are set: an earlier one replaces them, a later one waits for them.
    pump_at: Option<Time>,
    sender_at: Option<Time>,
    receiver_at: Option<Time>,
    /// Numbers of what goes on a way, so that events of one instant have an order.
    offered: u64,
    meter: Meter,
}

impl Engine {
    pub(crate) fn new(plan: &Plan) -> Self {
        let source = |(id, source)| Source::new(id, source, plan.seed, plan.stop);
        let mut engine = Self {
            now: Time::ZERO,
            stop: plan.stop,
            end: plan.end,
            done: false,
            wheel: Wheel::new(),
            slots: Slots::default(),
            links: plan.links.iter().map(|link| Link::new(link, plan.seed)).collect(),
            sender: SendingEnd::new(plan),
            receiver: ReceivingEnd::new(plan),
            sources: plan.sources.iter().enumerate().map(source).collect(),
            turn: Turn::default(),
            queue: VecDeque::new(),
            queue_bytes: 0,
            queue_bytes_max: plan.queue_bytes,
            copies: VecDeque::new(),
            backpressure: plan.backpressure,
            reader: plan.reader,
            read_at: Time::ZERO,
            pump_at: None,
            sender_at: None,
            receiver_at: None,
            offered: 0,
            meter: Meter::new(plan),
        };
        engine.start();
        engine
    }

    fn start(&mut self) {
        for (source, first) in (0_u16..).zip(self.sources.iter().map(Source::first)) {
            if let Some(first) = first {
                self.wheel.schedule(first.as_ps(), Event::Send { source });
            }
        }
        for channel in 0..self.links.len() {
            self.schedule_change(channel);
        }
        self.wheel.schedule(self.meter.series.ends().as_ps(), Event::Step);
        self.pump();
    }

    /// Handles at most so many events; tells whether there is nothing left to do.
    pub(crate) fn advance(&mut self, events_max: u64) -> bool {
        for _ in 0..events_max {
            if self.done {
                break;
            }
            match self.wheel.pop() {
                Some((at, event)) if at <= self.end.as_ps() && !self.is_over(at) => {
                    self.now = Time::from_ps(at);
                    self.handle(event);
                }
                _ => self.done = true,
            }
        }
        self.done
    }

    /// Whether sources have stopped and nothing is under way any more.
    fn is_over(&self, at: u64) -> bool {
        at >= self.stop.as_ps()
            && self.queue.is_empty()
            && self.copies.is_empty()
            && self.slots.packets() == 0
            && (0..self.links.len()).all(|channel| self.receiver.buffered_packets(channel) == 0)
    }

    pub(crate) fn progress(&self, done: bool) -> Progress {
        let share = real(u128::from(self.now.as_ps())) / real(u128::from(self.stop.as_ps()));
        let meter = &self.meter;
        Progress {
            fraction: if done { 1.0 } else { share.min(1.0) },
            now_ps: self.now.as_ps(),
            delivered: meter.delivered_packets,
            under_way: meter
                .sent_packets
                .saturating_sub(meter.delivered_packets + meter.lost_packets()),
            done,
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Change { channel } => {
                self.links[usize::from(channel)].change(self.now);
                self.schedule_change(usize::from(channel));
                self.pump();
            }
            Event::Arrive { channel, slot, .. } => self.arrive(usize::from(channel), slot),
            Event::Return { channel, slot, .. } => self.come_back(usize::from(channel), slot),
            Event::Acknowledge { source, expected, got, .. } => {
                self.acknowledge(source, expected, got);
            }
            Event::Timeout { source } => self.time_out(source),
            Event::Send { source } => self.tick(source),
            Event::Read => self.read(),
            // An event whose place an earlier one took is for nothing: what it would set anew, that
            // one has.
            Event::Pump if self.pump_at == Some(self.now) => {
                self.pump_at = None;
                self.pump();
            }
            Event::SenderTimer if self.sender_at == Some(self.now) => {
                self.sender_at = None;
                self.pump();
            }
            Event::ReceiverTimer if self.receiver_at == Some(self.now) => {
                self.receiver_at = None;
                self.read();
            }
            Event::Pump | Event::SenderTimer | Event::ReceiverTimer => {}
            Event::Step => self.end_step(),
        }
    }

    fn schedule_change(&mut self, channel: usize) {
        if let Some(at) = self.links[channel].next_change() {
            self.wheel.schedule(at.as_ps(), Event::Change { channel: small(channel) });
        }
    }

    /// A source's clock has come round.
    fn tick(&mut self, source: u16) {
        let mut packets = Vec::new();
        let next = self.sources[usize::from(source)].tick(self.now, &mut packets);
        if let Some(next) = next {
            self.wheel.schedule(next.as_ps(), Event::Send { source });
        }
        self.take_offers(&packets);
        self.set_timeout(source);
    }

    /// Packets of a source come to the queue before the sender.
    fn take_offers(&mut self, packets: &[Packet]) {
        for packet in packets {
            let room = self.queue_bytes + u64::from(packet.bytes) <= self.queue_bytes_max;
            self.meter.offered(packet, room);
            if room {
                self.queue_bytes += u64::from(packet.bytes);
                self.queue.push_back(*packet);
            }
        }
        self.pump();
    }

    /// Sends messages that are due, and packets as far as there is room.
    fn pump(&mut self) {
        loop {
            self.send_messages();
            self.send_copies();
            let Some(packet) = self.next_packet() else { break };
            let channel = self.sender.channel(&packet, &self.links, self.now);
            match channel.filter(|channel| self.may_send(*channel, packet.bytes)) {
                Some(channel) => self.send(channel),
                None => break,
            }
        }
        self.set_sender_timer();
    }

    /// The packet that is sent next, which stays where it is.
    fn next_packet(&mut self) -> Option<Packet> {
        if self.queue.is_empty()
            && let Some(packet) = self.turn.pull(&mut self.sources, self.now)
        {
            self.meter.offered(&packet, true);
            self.queue_bytes += u64::from(packet.bytes);
            self.queue.push_back(packet);
        }
        self.queue.front().copied()
    }

    /// Whether the packet may go on the channel now: after the copies that wait for that.
    fn may_send(&mut self, channel: usize, bytes: u32) -> bool {
        let waits = self.copies.iter().any(|copy| usize::from(copy.channel) == channel);
        !waits && self.has_room(channel, bytes)
    }

    /// Whether there is room for so many bytes on the channel now; if there is no room, asks again when there is.
    fn has_room(&mut self, channel: usize, bytes: u32) -> bool {
        if !self.backpressure {
            return true;
        }
        let link = &self.links[channel];
        // Markers and their like find room, too, as far as the queue is long enough for that.
        let reserve = MESSAGE_BYTES_MAX as u64 * 2;
        let wanted = u64::from(bytes + self.receiver.header_bytes()) + reserve;
        let at = link.room_at(self.now, wanted.min(link.queue_bytes()));
        if at > self.now && self.pump_at.is_none_or(|pump_at| pump_at > at) {
            self.pump_at = Some(at);
            self.wheel.schedule(at.as_ps(), Event::Pump);
        }
        at == self.now
    }

    /// The first packet of the queue goes on its channel.
    fn send(&mut self, channel: usize) {
        let packet = self.queue.pop_front().expect("there is a packet to send");
        self.queue_bytes -= u64::from(packet.bytes);
        let number = self.meter.sent_packets + 1;
        let mut packet = Packet { number, channel: small(channel), sent: self.now, ..packet };
        let place = self.sender.send(&mut packet, self.now);
        let wire_bytes = packet.bytes + self.receiver.header_bytes();
        self.meter.sent(&packet, wire_bytes, place);
        let fate = self.links[channel].offer(self.now, wire_bytes, Kind::Data);
        if let Fate::Dropped(reason) = fate {
            self.meter.lost(self.now, &packet, reason.into());
        }
        for arrival in fate.arrivals() {
            self.put_on_way(channel, arrival, Load::Packet(packet));
        }
    }

    /// Copies of lost packets, as far as there is room; they go before packets that were never sent.
    fn send_copies(&mut self) {
        while let Some(copy) = self.sender.poll_repair(self.now) {
            self.copies.push_back(copy);
        }
        for _ in 0..self.copies.len() {
            let copy = self.copies.pop_front().expect("counted");
            if self.has_room(usize::from(copy.channel), copy.bytes) {
                self.send_copy(&copy);
            } else {
                self.copies.push_back(copy);
            }
        }
    }

    fn send_copy(&mut self, copy: &Packet) {
        let channel = usize::from(copy.channel);
        let wire_bytes = copy.bytes + self.receiver.header_bytes();
        let fate = self.links[channel].offer(self.now, wire_bytes, Kind::Copy);
        let lost = matches!(fate, Fate::Dropped(_));
        self.meter.copy_sent(self.now, copy, wire_bytes, lost);
        for arrival in fate.arrivals() {
            self.put_on_way(channel, arrival, Load::Packet(*copy));
        }
    }

    fn send_messages(&mut self) {
        while let Some((channel, message)) = self.sender.poll_message(self.now) {
            let bytes = length_of(&message);
            let marker = marker_number(&message);
            self.meter.message_sent(self.now, channel, bytes, marker);
            let fate = self.links[channel].offer(self.now, bytes, Kind::Message);
            if let (Fate::Dropped(reason), Some(number)) = (fate, marker) {
                self.meter.marker_lost(self.now, channel, bytes, reason.into(), number);
            }
            for arrival in fate.arrivals() {
                self.put_on_way(channel, arrival, Load::Message(message));
            }
        }
    }

    fn put_on_way(&mut self, channel: usize, arrival: Arrival, load: Load) {
        let slot = self.slots.put(Cargo { load, flipped_bit: arrival.flipped_bit });
        self.offered += 1;
        let event = Event::Arrive { channel: small(channel), number: self.offered, slot };
        self.wheel.schedule(arrival.at.as_ps(), event);
    }

    /// Something has reached the receiver.
    fn arrive(&mut self, channel: usize, slot: u32) {
        let cargo = self.slots.take(slot);
        match cargo.load {
            Load::Packet(packet) => self.take_packet(channel, &packet, cargo.flipped_bit),
            Load::Message(message) => {
                if let Some(number) = marker_number(&message) {
                    self.meter.marker_arrived(self.now, channel, length_of(&message), number);
                }
                let bytes = damaged(message, cargo.flipped_bit);
                self.receiver.take_message(self.now, channel, &bytes);
            }
        }
        self.read();
    }

    fn take_packet(&mut self, channel: usize, packet: &Packet, flipped_bit: Option<u64>) {
        let wire_bytes = packet.bytes + self.receiver.header_bytes();
        if flipped_bit.is_some() {
            self.meter.lost(self.now, packet, Loss::Damaged);
            return;
        }
        self.meter.arrived(self.now, packet, wire_bytes);
        if !self.receiver.take_packet(self.now, channel, *packet) {
            self.meter.lost(self.now, packet, Loss::Discarded);
        }
        self.meter.buffered(channel, self.receiver.buffered_packets(channel));
    }

    /// Gives out what is in order, as fast as it is read, and sends what the receiver has to say.
    fn read(&mut self) {
        while self.read_at <= self.now
            && let Some((packet, number)) = self.receiver.poll_packet(self.now)
        {
            self.deliver(&packet, number);
            if let Some(rate) = self.reader {
                let bytes = u128::from(packet.bytes) * PS_PER_SECOND;
                let busy_ps = bytes.div_ceil(u128::from(rate.bytes_per_second()));
                self.read_at = self.now + Span::from_ps(u64::try_from(busy_ps).unwrap_or(u64::MAX));
                self.wheel.schedule(self.read_at.as_ps(), Event::Read);
            }
        }
        while let Some((channel, message)) = self.receiver.poll_message(self.now) {
            if let Some(arrival) = self.links[channel].offer_back(self.now, length_of(&message)) {
                let load = Load::Message(message);
                let slot = self.slots.put(Cargo { load, flipped_bit: arrival.flipped_bit });
                self.offered += 1;
                let event = Event::Return { channel: small(channel), number: self.offered, slot };
                self.wheel.schedule(arrival.at.as_ps(), event);
            }
        }
        self.set_receiver_timer();
    }

    /// A packet is given out: to whoever reads, or to the far end of its transport.
    fn deliver(&mut self, packet: &Packet, number: Option<Number>) {
        self.meter.delivered(self.now, packet, number);
        let Some(reno) = &mut self.sources[usize::from(packet.source)].reno else {
            self.meter.useful(self.now, packet.source, u64::from(packet.bytes));
            return;
        };
        let (expected, handed_on) = reno.deliver(packet.of_source, packet.bytes);
        let at = self.now + reno.ack_delay();
        self.meter.useful(self.now, packet.source, handed_on);
        self.offered += 1;
        let (source, got) = (packet.source, packet.of_source);
        let event = Event::Acknowledge { source, number: self.offered, expected, got };
        self.wheel.schedule(at.as_ps(), event);
    }

    /// Something has come back to the sender.
    fn come_back(&mut self, channel: usize, slot: u32) {
        let cargo = self.slots.take(slot);
        if let Load::Message(message) = cargo.load {
            let bytes = damaged(message, cargo.flipped_bit);
            self.sender.take_message(self.now, channel, &bytes);
        }
        self.pump();
    }

    fn acknowledge(&mut self, source: u16, expected: u64, got: u64) {
        if let Some(reno) = &mut self.sources[usize::from(source)].reno {
            reno.acknowledge(self.now, expected, got);
        }
        self.fill(source);
    }

    fn time_out(&mut self, source: u16) {
        if let Some(reno) = &mut self.sources[usize::from(source)].reno {
            reno.check_timeout(self.now);
        }
        self.fill(source);
    }

    /// A transport sends what it may.
    fn fill(&mut self, source: u16) {
        let mut packets = Vec::new();
        self.sources[usize::from(source)].fill(self.now, &mut packets);
        self.take_offers(&packets);
        self.set_timeout(source);
    }

    /// A step of the series ends: what is filled now is noted.
    fn end_step(&mut self) {
        self.meter.series.pipe().waiting_packets = self.queue.len() as u64;
        for channel in 0..self.links.len() {
            let queue_bytes = self.links[channel].backlog_bytes(self.now);
            let buffer_packets = self.receiver.buffered_packets(channel) as u64;
            let quantum_bytes = self.sender.quantum(channel).map_or(0, u64::from);
            let step = self.meter.series.channel(channel);
            step.queue_bytes = queue_bytes;
            step.buffer_packets = buffer_packets;
            step.quantum_bytes = quantum_bytes;
        }
        self.meter.series.begin();
        if self.now < self.stop {
            self.wheel.schedule(self.meter.series.ends().as_ps(), Event::Step);
        }
    }

    /// A transport's timer is asked again when it may have run out; asking too early does no harm.
    fn set_timeout(&mut self, source: u16) {
        let timeout = self.sources[usize::from(source)].take_timer(self.now);
        if let Some(at) = timeout {
            self.wheel.schedule(at.max(self.now).as_ps(), Event::Timeout { source });
        }
    }

    fn set_sender_timer(&mut self) {
        if let Some(at) = self.sender.timeout()
            && self.sender_at.is_none_or(|set| set > at)
        {
            let at = at.max(self.now);
            self.sender_at = Some(at);
            self.wheel.schedule(at.as_ps(), Event::SenderTimer);
        }
    }

    fn set_receiver_timer(&mut self) {
        if let Some(at) = self.receiver.timeout()
            && self.receiver_at.is_none_or(|set| set > at)
        {
            let at = at.max(self.now);
            self.receiver_at = Some(at);
            self.wheel.schedule(at.as_ps(), Event::ReceiverTimer);
        }
    }

    pub(crate) const fn now(&self) -> Time {
        self.now
    }

    pub(crate) const fn is_done(&self) -> bool {
        self.done
    }

    pub(crate) const fn meter(&self) -> &Meter {
        &self.meter
    }

    pub(crate) fn links(&self) -> &[Link] {
        &self.links
    }

    pub(crate) fn sources(&self) -> &[Source] {
        &self.sources
    }

    pub(crate) const fn sender(&self) -> &SendingEnd {
        &self.sender
    }

    pub(crate) const fn receiver(&self) -> &ReceivingEnd {
        &self.receiver
    }
}

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// A channel's number in an event.
fn small(channel: usize) -> u8 {
    u8::try_from(channel).expect("at most 64 channels")
}

fn length_of(message: &Message) -> u32 {
    u32::try_from(message.to_bytes().len()).expect("messages are short")
}

/// The number of the next packet that a marker tells.
const fn marker_number(message: &Message) -> Option<Number> {
    match message.kind {
        MessageKind::Marker(marker) => Some(marker.standing.next),
        _ => None,
    }
}

/// A message as bytes, with one of its bits damaged.
fn damaged(message: Message, flipped_bit: Option<u64>) -> Vec<u8> {
    let mut bytes = message.to_bytes().to_vec();
    if let Some(bit) = flipped_bit {
        let byte = usize::try_from(bit / 8).expect("messages are short");
        bytes[byte] ^= 0x80 >> (bit % 8);
    }
    bytes
}
