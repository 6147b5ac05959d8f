//! Time series tables.

use crate::measure::{LinkStep, PipeStep, Series};
use gingham_results::{Builder, Table, real};

pub(super) fn pipe_table(series: &Series, end_ns: u64) -> Table {
    let steps = Steps { width_ns: series.step().as_ps() / 1_000, end_ns };
    let rows: Vec<(u64, &PipeStep)> = (0..).zip(&series.pipe).collect();
    Builder::new(&rows)
        .integers(("from_ns", "ns"), "start of the step", move |row| steps.begins_ns(row.0))
        .integers(
            ("to_ns", "ns"),
            "end of the step, for the last one the end of the run",
            move |row| steps.ends_ns(row.0),
        )
        .integers(("packets_delivered", "packets"), "packets delivered", |row| {
            row.1.delivered_packets
        })
        .reals(("delivered_bits_per_s", "bit/s"), "delivery rate", move |row| {
            steps.bits_per_s(row.0, row.1.delivered_bytes)
        })
        .integers(("packets_out_of_order", "packets"), "of these, out of order", |row| {
            row.1.out_of_order_packets
        })
        .integers(("packets_lost", "packets"), "packets lost for any reason", |row| {
            row.1.lost_packets
        })
        .reals(
            ("delay_mean_ns", "ns"),
            "mean delay of the packets delivered; NaN without any",
            |row| real(row.1.delay_sum_ns) / real(u128::from(row.1.delivered_packets)),
        )
        .integers(
            ("packets_waiting", "packets"),
            "packets queued before the sender at the end of the step",
            |row| row.1.waiting_packets,
        )
        .integers(("entry_bytes", "B"), "their bytes", |row| row.1.waiting_bytes)
        .known(
            ("sojourn_p50_ns", "ns"),
            "median wait before the sender, of the packets sent",
            |row| row.1.sojourn_p50_ns.map(|ns| real(u128::from(ns))),
        )
        .known(
            ("sojourn_p99_ns", "ns"),
            "99th percentile of that wait; missing below 100 packets",
            |row| row.1.sojourn_p99_ns.map(|ns| real(u128::from(ns))),
        )
        .integers(
            ("entry_dropped", "packets"),
            "packets refused or dropped before the sender",
            |row| row.1.entry_dropped_packets,
        )
        .integers(("packets_marked", "packets"), "packets sent with a mark of that queue", |row| {
            row.1.marked_packets
        })
        .build("pipe", "one row per step of the run")
}

pub(super) fn channel_table(series: &Series, names: Vec<String>, end_ns: u64) -> Table {
    let steps = Steps { width_ns: series.step().as_ps() / 1_000, end_ns };
    let links = series.links().max(1);
    let rows: Vec<(usize, &LinkStep)> = series.channels.iter().enumerate().collect();
    let step = move |row: &(usize, &LinkStep)| (row.0 / links) as u64;
    Builder::new(&rows)
        .integers(("from_ns", "ns"), "start of the step", move |row| steps.begins_ns(step(row)))
        .integers(
            ("to_ns", "ns"),
            "end of the step, for the last one the end of the run",
            move |row| steps.ends_ns(step(row)),
        )
        .words("channel", "name of the channel", names, move |row| row.0 % links)
        .reals(("sent_bits_per_s", "bit/s"), "rate of data sent on it, with headers", move |row| {
            steps.bits_per_s(step(row), row.1.sent_bytes)
        })
        .reals(
            ("arrived_bits_per_s", "bit/s"),
            "rate of data that arrived, with headers",
            move |row| steps.bits_per_s(step(row), row.1.arrived_bytes),
        )
        .integers(("packets_lost", "packets"), "packets lost for any reason", |row| {
            row.1.lost_packets
        })
        .integers(("queue_bytes", "B"), "length of its queue at the end of the step", |row| {
            row.1.queue_bytes
        })
        .integers(("queue_ns", "ns"), "wait of a packet that joins the queue then", |row| {
            row.1.queue_wait.as_ps() / 1_000
        })
        .integers(
            ("buffer_packets", "packets"),
            "its packets in the receive buffer at the end of the step",
            |row| row.1.buffer_packets,
        )
        .integers(("quantum", ""), "its quantum at the end of the step; 0 without rounds", |row| {
            row.1.quantum_bytes
        })
        .known(
            ("estimated_bits_per_s", "bit/s"),
            "capacity estimated by the sender at the end of the step; missing without windows",
            |row| row.1.found_bytes_per_s.map(|rate| real(u128::from(rate) * 8)),
        )
        .integers(
            ("in_flight_bytes", "B"),
            "bytes in flight on it at the end of the step, as counted by windows",
            |row| row.1.in_flight_bytes,
        )
        .integers(
            ("window_bytes", "B"),
            "its window at the end of the step; 0 without windows",
            |row| row.1.window_bytes,
        )
        .known(
            ("pacing_rate_bytes_per_s", "B/s"),
            "its pacing rate at the end of the step; missing without pacing",
            |row| row.1.pacing_rate_bytes_per_s.map(|pace| real(u128::from(pace))),
        )
        .known(
            ("round_trip_ns", "ns"),
            "smoothed round-trip time at the end of the step, as measured by windows",
            |row| row.1.round_trip.map(|span| real(span.as_nanos())),
        )
        .known(("round_trip_min_ns", "ns"), "recent minimum of the round-trip time", |row| {
            row.1.round_trip_least.map(|span| real(span.as_nanos()))
        })
        .build("series", "one row per step of the run and channel")
}

#[derive(Clone, Copy)]
struct Steps {
    width_ns: u64,
    end_ns: u64,
}

impl Steps {
    const fn begins_ns(self, step: u64) -> u64 {
        step * self.width_ns
    }

    /// Returns the end of a step. The last step ends with the run, but is at least 1 ns long.
    fn ends_ns(self, step: u64) -> u64 {
        (self.begins_ns(step) + self.width_ns).min(self.end_ns.max(self.begins_ns(step) + 1))
    }

    fn bits_per_s(self, step: u64, bytes: u64) -> f64 {
        let ns = self.ends_ns(step) - self.begins_ns(step);
        real(u128::from(bytes) * 8) / (real(u128::from(ns)) / 1e9)
    }
}
