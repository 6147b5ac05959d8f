//! Traces of a run's first events and packets.

use gingham_fairq::Number;
use gingham_kernel::Time;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EventKind {
    Send,
    Drop,
    Lose,
    Marker,
    DropMarker,
    LoseMarker,
    Arrive,
    ArriveMarker,
    Damaged,
    Discard,
    Deliver,
    Repair,
    LoseRepair,
}

impl EventKind {
    pub(crate) const NAMES: [&'static str; 13] = [
        "send",
        "drop",
        "lose",
        "marker",
        "drop-marker",
        "lose-marker",
        "arrive",
        "arrive-marker",
        "damaged",
        "discard",
        "deliver",
        "repair",
        "lose-repair",
    ];
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct EventRow {
    pub(crate) at: Time,
    pub(crate) kind: EventKind,
    pub(crate) channel: usize,
    /// Packet number; 0 for a marker.
    pub(crate) packet: u64,
    pub(crate) bytes: u32,
    pub(crate) number: Option<Number>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    InFlight,
    Delivered,
    Lost,
    Dropped,
    Damaged,
    Discarded,
}

impl Fate {
    pub(crate) const NAMES: [&'static str; 6] =
        ["under way", "delivered", "lost", "dropped", "damaged", "discarded"];
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketRow {
    pub(crate) source: u16,
    pub(crate) channel: u8,
    pub(crate) bytes: u32,
    pub(crate) of_source: u64,
    pub(crate) frame: u32,
    pub(crate) created: Time,
    pub(crate) sent: Time,
    pub(crate) delivered: Option<Time>,
    /// Position in delivery order, from 1; 0 if not delivered.
    pub(crate) position: u64,
    pub(crate) fate: Fate,
}

#[derive(Debug)]
pub(crate) struct Trace {
    events_max: usize,
    packets_max: usize,
    pub(crate) events: Vec<EventRow>,
    pub(crate) packets: Vec<PacketRow>,
}

impl Trace {
    pub(crate) const fn new(events_max: usize, packets_max: usize) -> Self {
        Self { events_max, packets_max, events: Vec::new(), packets: Vec::new() }
    }

    pub(crate) fn event(&mut self, row: EventRow) {
        if self.events.len() < self.events_max {
            self.events.push(row);
        }
    }

    pub(crate) fn packet(&mut self, row: PacketRow) {
        if self.packets.len() < self.packets_max {
            self.packets.push(row);
        }
    }

    pub(crate) fn row(&mut self, number: u64) -> Option<&mut PacketRow> {
        self.packets.get_mut(usize::try_from(number).ok()?.checked_sub(1)?)
    }
}
