//! Event and packet tables.

use super::rates::ns;
use crate::measure::{EventKind, EventRow, Fate, PacketRow};
use gingham_results::{Builder, Table};

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

pub(super) fn event_table(rows: &[EventRow], names: Vec<String>) -> Table {
    Builder::new(rows)
        .integers(("time_ns", "ns"), "time of the event", |row| ns(row.at))
        .words("event", "kind of the event", texts(&EventKind::NAMES), |row| row.kind as usize)
        .words("channel", "channel of the event", names, |row| row.channel)
        .integers(("packet", ""), "number of the packet, from 1; 0 for a marker", |row| row.packet)
        .integers(("bytes", "B"), "its length, without header", |row| u64::from(row.bytes))
        .integers(
            ("round", ""),
            "round of the sender's scheduler when sent, of the receiver's when delivered, or in the marker; 0 if \
             there is none",
            |row| row.number.map_or(0, |number| u64::from(number.round.get())),
        )
        .integers(("deficit_bytes", "B"), "deficit before the packet, from the same source as the round", |row| {
            row.number.map_or(0, |number| u64::from(number.deficit_bytes))
        })
        .build("events", "one row for each of the first `measure.events` events")
}

pub(super) fn packet_table(rows: &[PacketRow], names: Vec<String>, sources: Vec<String>) -> Table {
    let rows: Vec<(u64, &PacketRow)> = (1..).zip(rows).collect();
    let delivered = |row: &(u64, &PacketRow)| row.1.delivered.map_or(0, ns);
    Builder::new(&rows)
        .integers(("packet", ""), "number of the packet in the order of sending, from 1", |row| {
            row.0
        })
        .words("source", "its source", sources, |row| usize::from(row.1.source))
        .integers(
            ("of_source", ""),
            "its number at its source; of a transport, its segment",
            |row| row.1.of_source,
        )
        .integers(("frame", ""), "its frame, from 1; 0 if there are none", |row| {
            u64::from(row.1.frame)
        })
        .integers(("bytes", "B"), "its length", |row| u64::from(row.1.bytes))
        .words("channel", "the channel it went on", names, |row| usize::from(row.1.channel))
        .integers(("created_ns", "ns"), "created by its source", |row| ns(row.1.created))
        .integers(("sent_ns", "ns"), "sent on its channel", |row| ns(row.1.sent))
        .integers(("delivered_ns", "ns"), "delivered; 0 if it was not", delivered)
        .integers(
            ("position", ""),
            "its place in the order of delivery, from 1; 0 if it was not delivered",
            |row| row.1.position,
        )
        .words("fate", "what became of it", texts(&Fate::NAMES), |row| row.1.fate as usize)
        .build("packets", "one row for each of the first `measure.packets` packets")
}
