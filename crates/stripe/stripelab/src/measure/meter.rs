//! Counters for a run's events.

use super::order::Place;
use super::{Delays, EventKind, EventRow, Fate, Order, PacketRow, Recovery, Series, Trace};
use crate::plan::Plan;
use crate::traffic::Packet;
use gingham_fairq::Number;
use gingham_kernel::{Span, Time};
use gingham_linkemu::DropReason;

const SECTIONS: usize = 40;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Loss {
    Channel,
    Queue,
    Policer,
    Outage,
    Damaged,
    Discarded,
}

impl From<DropReason> for Loss {
    fn from(reason: DropReason) -> Self {
        match reason {
            DropReason::QueueFull => Self::Queue,
            DropReason::Policed => Self::Policer,
            DropReason::Outage => Self::Outage,
            DropReason::Lost | DropReason::TooLong => Self::Channel,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sections {
    start: Time,
    stop: Time,
}

impl Sections {
    pub(crate) fn at(&self, now: Time) -> Option<usize> {
        if now < self.start || now >= self.stop {
            return None;
        }
        let since = u128::from(now.since(self.start).as_ps());
        let index = since * SECTIONS as u128 / u128::from(self.window().as_ps());
        Some(usize::try_from(index).expect("below the number of sections"))
    }

    pub(crate) fn window(&self) -> Span {
        self.stop.since(self.start)
    }

    pub(crate) const fn start(&self) -> Time {
        self.start
    }

    pub(crate) fn past(&self, now: Time) -> Span {
        if now <= self.start { Span::ZERO } else { now.min(self.stop).since(self.start) }
    }

    pub(crate) fn over(&self, now: Time) -> usize {
        if now >= self.stop { SECTIONS } else { self.at(now).unwrap_or(0) }
    }
}

pub(crate) type ByteSections = [u64; SECTIONS];

#[derive(Debug)]
pub(crate) struct SourceCount {
    pub(crate) offered_packets: u64,
    pub(crate) offered_bytes: u64,
    pub(crate) refused_packets: u64,
    pub(crate) dropped_packets: u64,
    pub(crate) delivered_packets: u64,
    pub(crate) delivered_bytes: u64,
    pub(crate) out_of_order_packets: u64,
    /// Goodput in each section: bytes that are useful to the reader.
    pub(crate) useful_bytes: ByteSections,
    pub(crate) order: Order,
    pub(crate) delays: Delays,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkCount {
    pub(crate) sent_packets: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) arrived_packets: u64,
    pub(crate) arrived_bytes: u64,
    pub(crate) lost_packets: u64,
    pub(crate) dropped_packets: u64,
    pub(crate) policed_packets: u64,
    pub(crate) discarded_packets: u64,
    pub(crate) message_bytes: u64,
    pub(crate) messages: u64,
    pub(crate) buffer_packets_max: u64,
    pub(crate) window_bytes: u64,
}

#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) sections: Sections,
    pub(crate) sources: Vec<SourceCount>,
    pub(crate) links: Vec<LinkCount>,
    pub(crate) delivered_bytes: ByteSections,
    pub(crate) in_order_bytes: ByteSections,
    pub(crate) order: Order,
    pub(crate) delays: Delays,
    pub(crate) recovery: Recovery,
    pub(crate) series: Series,
    pub(crate) trace: Trace,
    pub(crate) sent_packets: u64,
    pub(crate) delivered_packets: u64,
    pub(crate) duplicated_packets: u64,
    pub(crate) copies_sent: u64,
    pub(crate) repaired_packets: u64,
    pub(crate) out_of_order_packets: u64,
    pub(crate) window_packets: u64,
    pub(crate) window_out_of_order: u64,
    pub(crate) losses: [u64; 6],
    pub(crate) markers_sent: u64,
    pub(crate) markers_lost: u64,
    pub(crate) sojourns: Delays,
    pub(crate) waiting_bytes_max: u64,
    pub(crate) marked_packets: u64,
    pub(crate) last_delivery: Option<Time>,
    pub(crate) longest_gap: Span,
}

impl Meter {
    pub(crate) fn new(plan: &Plan) -> Self {
        let source = |_| SourceCount {
            offered_packets: 0,
            offered_bytes: 0,
            refused_packets: 0,
            dropped_packets: 0,
            delivered_packets: 0,
            delivered_bytes: 0,
            out_of_order_packets: 0,
            useful_bytes: [0; SECTIONS],
            order: Order::new(),
            delays: Delays::new(SECTIONS),
        };
        Self {
            sections: Sections { start: plan.warm_up, stop: plan.stop },
            sources: plan.sources.iter().map(source).collect(),
            links: vec![LinkCount::default(); plan.links.len()],
            delivered_bytes: [0; SECTIONS],
            in_order_bytes: [0; SECTIONS],
            order: Order::new(),
            delays: Delays::new(SECTIONS),
            recovery: Recovery::default(),
            series: Series::new(plan.step, plan.links.len()),
            trace: Trace::new(plan.events_max, plan.packets_max),
            sent_packets: 0,
            delivered_packets: 0,
            duplicated_packets: 0,
            copies_sent: 0,
            repaired_packets: 0,
            out_of_order_packets: 0,
            window_packets: 0,
            window_out_of_order: 0,
            losses: [0; 6],
            markers_sent: 0,
            markers_lost: 0,
            sojourns: Delays::new(SECTIONS),
            waiting_bytes_max: 0,
            marked_packets: 0,
            last_delivery: None,
            longest_gap: Span::ZERO,
        }
    }

    pub(crate) fn offered(&mut self, packet: &Packet) {
        let source = &mut self.sources[usize::from(packet.source)];
        source.offered_packets += 1;
        source.offered_bytes += u64::from(packet.bytes);
    }

    pub(crate) fn refused(&mut self, packet: &Packet) {
        self.sources[usize::from(packet.source)].refused_packets += 1;
        self.series.pipe().entry_dropped_packets += 1;
    }

    pub(crate) fn dropped_before(&mut self, packet: &Packet) {
        self.sources[usize::from(packet.source)].dropped_packets += 1;
        self.series.pipe().entry_dropped_packets += 1;
    }

    pub(crate) fn marked(&mut self) {
        self.marked_packets += 1;
        self.series.pipe().marked_packets += 1;
    }

    pub(crate) fn waits(&mut self, bytes: u64) {
        self.waiting_bytes_max = self.waiting_bytes_max.max(bytes);
    }

    pub(crate) fn sent(&mut self, packet: &Packet, wire_bytes: u32, number: Option<Number>) {
        self.sent_packets += 1;
        let sojourn_ns = packet.sent.since(packet.created).as_ps() / 1_000;
        self.series.waited(sojourn_ns);
        if let Some(section) = self.sections.at(packet.sent) {
            self.sojourns.record(section, sojourn_ns);
        }
        let channel = usize::from(packet.channel);
        let link = &mut self.links[channel];
        link.sent_packets += 1;
        link.sent_bytes += u64::from(wire_bytes);
        self.series.channel(channel).sent_bytes += u64::from(wire_bytes);
        self.note(packet.sent, EventKind::Send, packet, number);
        self.trace.packet(PacketRow {
            source: packet.source,
            channel: packet.channel,
            bytes: packet.bytes,
            of_source: packet.of_source,
            frame: packet.frame,
            created: packet.created,
            sent: packet.sent,
            delivered: None,
            position: 0,
            fate: Fate::InFlight,
        });
    }

    pub(crate) fn copy_sent(&mut self, now: Time, copy: &Packet, wire_bytes: u32, lost: bool) {
        self.copies_sent += 1;
        self.links[usize::from(copy.channel)].sent_bytes += u64::from(wire_bytes);
        self.note(now, EventKind::Repair, copy, None);
        if lost {
            self.note(now, EventKind::LoseRepair, copy, None);
        }
    }

    pub(crate) fn lost(&mut self, now: Time, packet: &Packet, loss: Loss) {
        if packet.is_copy() {
            self.note(now, EventKind::LoseRepair, packet, None);
            return;
        }
        let channel = usize::from(packet.channel);
        let (kind, fate) = match loss {
            Loss::Channel | Loss::Outage => (EventKind::Lose, Fate::Lost),
            Loss::Queue | Loss::Policer => (EventKind::Drop, Fate::Dropped),
            Loss::Damaged => (EventKind::Damaged, Fate::Damaged),
            Loss::Discarded => (EventKind::Discard, Fate::Discarded),
        };
        self.losses[loss as usize] += 1;
        let link = &mut self.links[channel];
        match fate {
            Fate::Dropped if loss == Loss::Policer => link.policed_packets += 1,
            Fate::Dropped => link.dropped_packets += 1,
            Fate::Discarded => link.discarded_packets += 1,
            _ => link.lost_packets += 1,
        }
        self.series.pipe().lost_packets += 1;
        self.series.channel(channel).lost_packets += 1;
        self.recovery.lost(now);
        self.note(now, kind, packet, None);
        if let Some(row) = self.trace.row(packet.number)
            && row.delivered.is_none()
        {
            row.fate = fate;
        }
    }

    pub(crate) fn lost_packets(&self) -> u64 {
        self.losses.iter().sum::<u64>().saturating_sub(self.repaired_packets)
    }

    pub(crate) fn unaccounted_packets(&self) -> u64 {
        let unique = self.delivered_packets - self.duplicated_packets;
        self.sent_packets.saturating_sub(unique + self.lost_packets())
    }

    pub(crate) const fn lost_by(&self, loss: Loss) -> u64 {
        self.losses[loss as usize]
    }

    pub(crate) fn arrived(&mut self, now: Time, packet: &Packet, wire_bytes: u32) {
        let channel = usize::from(packet.channel);
        let link = &mut self.links[channel];
        link.arrived_packets += 1;
        link.arrived_bytes += u64::from(wire_bytes);
        if self.sections.at(now).is_some() {
            link.window_bytes += u64::from(wire_bytes);
        }
        self.series.channel(channel).arrived_bytes += u64::from(wire_bytes);
        self.note(now, EventKind::Arrive, packet, None);
    }

    pub(crate) fn buffered(&mut self, channel: usize, packets: usize) {
        let most = &mut self.links[channel].buffer_packets_max;
        *most = (*most).max(packets as u64);
    }

    pub(crate) fn delivered(
        &mut self,
        now: Time,
        packet: &Packet,
        number: Option<Number>,
    ) -> Place {
        let place = self.order.take(packet.number);
        self.delivered_packets += 1;
        let late = u64::from(place == Place::OutOfOrder);
        self.out_of_order_packets += late;
        self.duplicated_packets += u64::from(place == Place::Twice);
        self.repaired_packets += u64::from(packet.is_copy());
        if place == Place::OutOfOrder {
            self.recovery.out_of_order(now);
        }
        let delay_ns = now.since(packet.created).as_ps() / 1_000;
        let step = self.series.pipe();
        step.delivered_packets += 1;
        step.delivered_bytes += u64::from(packet.bytes);
        step.out_of_order_packets += late;
        step.delay_sum_ns += u128::from(delay_ns);
        let source = &mut self.sources[usize::from(packet.source)];
        source.delivered_packets += 1;
        source.delivered_bytes += u64::from(packet.bytes);
        source.out_of_order_packets +=
            u64::from(source.order.take(packet.number) == Place::OutOfOrder);
        self.count_in_window(now, packet, place, delay_ns);
        self.measure_gap(now);
        self.note(now, EventKind::Deliver, packet, number);
        let position = self.delivered_packets;
        if let Some(row) = self.trace.row(packet.number)
            && row.delivered.is_none()
        {
            (row.delivered, row.position, row.fate) = (Some(now), position, Fate::Delivered);
        }
        place
    }

    fn count_in_window(&mut self, now: Time, packet: &Packet, place: Place, delay_ns: u64) {
        let Some(section) = self.sections.at(now) else { return };
        let bytes = u64::from(packet.bytes);
        self.window_packets += 1;
        self.window_out_of_order += u64::from(place == Place::OutOfOrder);
        if place != Place::Twice {
            self.delivered_bytes[section] += bytes;
        }
        if place == Place::InOrder {
            self.in_order_bytes[section] += bytes;
        }
        self.delays.record(section, delay_ns);
        self.sources[usize::from(packet.source)].delays.record(section, delay_ns);
    }

    fn measure_gap(&mut self, now: Time) {
        if let Some(last) = self.last_delivery
            && self.sections.at(now).is_some()
        {
            self.longest_gap = self.longest_gap.max(now.since(last));
        }
        self.last_delivery = Some(now);
    }

    pub(crate) fn useful(&mut self, now: Time, source: u16, bytes: u64) {
        if let Some(section) = self.sections.at(now) {
            self.sources[usize::from(source)].useful_bytes[section] += bytes;
        }
    }

    pub(crate) fn message_sent(
        &mut self,
        now: Time,
        channel: usize,
        bytes: u32,
        marker: Option<Number>,
    ) {
        let link = &mut self.links[channel];
        link.messages += 1;
        link.message_bytes += u64::from(bytes);
        if marker.is_some() {
            self.markers_sent += 1;
            self.note_marker(now, EventKind::Marker, channel, bytes, marker);
        }
    }

    pub(crate) fn marker_lost(
        &mut self,
        now: Time,
        channel: usize,
        bytes: u32,
        loss: Loss,
        number: Number,
    ) {
        self.markers_lost += 1;
        let kind = match loss {
            Loss::Queue | Loss::Policer => EventKind::DropMarker,
            _ => EventKind::LoseMarker,
        };
        self.note_marker(now, kind, channel, bytes, Some(number));
    }

    pub(crate) fn marker_arrived(&mut self, now: Time, channel: usize, bytes: u32, number: Number) {
        self.note_marker(now, EventKind::ArriveMarker, channel, bytes, Some(number));
    }

    fn note(&mut self, at: Time, kind: EventKind, packet: &Packet, number: Option<Number>) {
        let channel = usize::from(packet.channel);
        let row =
            EventRow { at, kind, channel, packet: packet.number, bytes: packet.bytes, number };
        self.trace.event(row);
    }

    fn note_marker(
        &mut self,
        at: Time,
        kind: EventKind,
        channel: usize,
        bytes: u32,
        number: Option<Number>,
    ) {
        self.trace.event(EventRow { at, kind, channel, packet: 0, bytes, number });
    }
}
