//! Sender's part of the event loop: messages first, then retransmissions, then new packets.

use super::Engine;
use crate::run::event::{Cargo, Event, Load};
use crate::run::link::Kind;
use crate::run::wire::{damaged, length_of, marker_number, small};
use crate::traffic::Packet;
use gingham_linkemu::{Arrival, Fate};
use gingham_stripe::MESSAGE_BYTES_MAX;

impl Engine {
    /// Sends as much as possible. After an interruption by the step limit, the next call continues
    /// at the same simulated time.
    pub(super) fn pump(&mut self) {
        self.is_pumping = true;
        while self.is_pumping && self.steps.are_left() && !self.steps.is_stuck() {
            self.steps.take(false);
            self.is_pumping = self.pump_one();
        }
        if !self.is_pumping {
            self.set_sender_timer();
        }
    }

    fn pump_one(&mut self) -> bool {
        self.send_messages();
        self.send_copies();
        let Some(packet) = self.next_packet() else { return false };
        let channel = self.sender.channel(&packet, &self.links, self.now);
        match channel.filter(|channel| self.may_send(*channel, packet.bytes)) {
            Some(channel) => self.send(channel),
            None if self.sender.is_too_long(packet.bytes) => self.drop_too_long(),
            None => return false,
        }
        self.steps.see(packet.source);
        true
    }

    fn drop_too_long(&mut self) {
        if let Some(packet) = self.entry.take(self.now, &mut self.meter) {
            self.meter.dropped_before(&packet);
        }
    }

    fn next_packet(&mut self) -> Option<Packet> {
        if self.entry.is_empty()
            && let Some(packet) =
                self.turn.pull(&mut self.sources, self.now, |bytes| !self.sender.is_too_long(bytes))
        {
            self.entry.pull(self.now, &packet, &mut self.meter);
        }
        self.entry.peek(self.now, &mut self.meter)
    }

    /// Returns whether a new packet may be sent on a channel; copies waiting for that channel are
    /// sent first.
    fn may_send(&mut self, channel: usize, bytes: u32) -> bool {
        let waits = self.copies.iter().any(|copy| usize::from(copy.channel) == channel);
        !waits && self.has_room(channel, bytes)
    }

    /// Returns whether the channel's queue has room; otherwise schedules another attempt.
    fn has_room(&mut self, channel: usize, bytes: u32) -> bool {
        if !self.backpressure {
            return true;
        }
        let link = &self.links[channel];
        let reserve = MESSAGE_BYTES_MAX as u64 * 2;
        let wanted = u64::from(bytes + self.receiver.header_bytes()) + reserve;
        let at = link.room_at(self.now, wanted.min(link.queue_bytes()));
        if at > self.now && self.pump_at.is_none_or(|pump_at| pump_at > at) {
            self.pump_at = Some(at);
            self.wheel.schedule(at.as_ps(), Event::Pump);
        }
        at == self.now
    }

    fn send(&mut self, channel: usize) {
        let next = self.entry.take(self.now, &mut self.meter);
        let packet = next.expect("there is a packet to send");
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

    fn send_copies(&mut self) {
        while let Some(copy) = self.sender.poll_repair(self.now) {
            self.copies.push_back(copy);
        }
        for _ in 0..self.copies.len() {
            let copy = self.copies.pop_front().expect("counted");
            if self.has_room(usize::from(copy.channel), copy.bytes + Packet::BYTES_OF_COPY) {
                self.send_copy(&copy);
            } else {
                self.copies.push_back(copy);
            }
        }
    }

    fn send_copy(&mut self, copy: &Packet) {
        let channel = usize::from(copy.channel);
        let wire_bytes = copy.bytes + self.receiver.header_bytes() + Packet::BYTES_OF_COPY;
        let fate = self.links[channel].offer(self.now, wire_bytes, Kind::Copy);
        let lost = matches!(fate, Fate::Dropped(_));
        self.meter.copy_sent(self.now, copy, wire_bytes, lost);
        for arrival in fate.arrivals() {
            self.put_on_way(channel, arrival, Load::Packet(*copy));
        }
    }

    fn send_messages(&mut self) {
        while let Some((channel, message)) = self.sender.poll_message(self.now) {
            // Some messages are padded, to probe a channel that lost all long packets.
            let bytes = length_of(&message).max(self.sender.padded_bytes(channel));
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

    pub(super) fn put_on_way(&mut self, channel: usize, arrival: Arrival, load: Load) {
        let slot = self.slots.put(Cargo { load, flipped_bit: arrival.flipped_bit });
        self.offered += 1;
        let event = Event::Arrive { channel: small(channel), number: self.offered, slot };
        self.wheel.schedule(arrival.at.as_ps(), event);
    }

    pub(super) fn come_back(&mut self, channel: usize, slot: u32) {
        let cargo = self.slots.take(slot);
        if let Load::Message(message) = cargo.load {
            let bytes = damaged(message, cargo.flipped_bit);
            self.sender.take_message(self.now, channel, &bytes);
            self.entry.follow(&self.sender);
        }
        self.pump();
    }
}
