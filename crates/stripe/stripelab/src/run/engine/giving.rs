//! Receiver's part of the event loop: arrivals, deliveries and reports.

use super::Engine;
use crate::measure::Loss;
use crate::run::event::{Cargo, Event, Load};
use crate::run::wire::{damaged, length_of, marker_number, small};
use crate::traffic::Packet;
use gingham_entry::Ecn;
use gingham_fairq::Number;
use gingham_kernel::Span;

const PS_PER_SECOND: u128 = 1_000_000_000_000;

impl Engine {
    pub(super) fn arrive(&mut self, channel: usize, slot: u32) {
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

    pub(super) fn read(&mut self) {
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

    fn deliver(&mut self, packet: &Packet, number: Option<Number>) {
        self.meter.delivered(self.now, packet, number);
        let Some(transport) = &mut self.sources[usize::from(packet.source)].transport else {
            self.meter.useful(self.now, packet.source, u64::from(packet.bytes));
            return;
        };
        let (expected, handed_on) = transport.deliver(packet.of_source, packet.bytes);
        let at = self.now + transport.ack_delay();
        self.meter.useful(self.now, packet.source, handed_on);
        self.offered += 1;
        let (source, got, marked) = (packet.source, packet.of_source, packet.ecn == Ecn::Ce);
        let event = Event::Acknowledge { source, number: self.offered, expected, got, marked };
        self.wheel.schedule(at.as_ps(), event);
    }
}
