//! Statistics of received packets, and the counters of the end.

use std::time::Duration;

use gingham_stripe::Instant;
use gingham_stripe_udp::End;
use hdrhistogram::Histogram;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde_json::{Value, json};

const SECOND_NS: u64 = 1_000_000_000;

#[derive(Debug)]
pub(crate) struct Measured {
    from_ns: u64,
    packet_bytes: u32,
    first_at_ns: Option<u64>,
    last_at_ns: u64,
    /// By second since the first packet; `counted_bytes` has those from `from_ns` on.
    seconds: Vec<u64>,
    seconds_lost: Vec<u64>,
    counted_bytes: u64,
    packets: u64,
    bytes: u64,
    out_of_order: u64,
    /// One more than the highest number received.
    expected: u64,
    delays_us: Histogram<u64>,
}

impl Measured {
    pub(crate) fn new(from: Duration, packet_bytes: u32) -> Self {
        Self {
            from_ns: u64::try_from(from.as_nanos()).unwrap_or(u64::MAX),
            packet_bytes,
            first_at_ns: None,
            last_at_ns: 0,
            seconds: Vec::new(),
            seconds_lost: Vec::new(),
            counted_bytes: 0,
            packets: 0,
            bytes: 0,
            out_of_order: 0,
            expected: 0,
            delays_us: Histogram::new_with_max(60_000_000, 3).expect("three digits"),
        }
    }

    pub(crate) fn take(&mut self, now: Instant, packet: &[u8]) {
        let Some((number, rest)) = packet.split_first_chunk() else { return };
        let Some((sent_at, _)) = rest.split_first_chunk() else { return };
        let (number, sent_at_ns) = (u64::from_be_bytes(*number), u64::from_be_bytes(*sent_at));
        let (now_ns, bytes) = (now.nanoseconds(), packet.len() as u64);
        let age_ns = now_ns - *self.first_at_ns.get_or_insert(now_ns);
        let second = usize::try_from(age_ns / SECOND_NS).expect("no run is so long");
        self.seconds.resize(self.seconds.len().max(second + 1), 0);
        self.seconds[second] += bytes;
        self.seconds_lost.resize(self.seconds.len(), 0);
        self.seconds_lost[second] += number.saturating_sub(self.expected);
        self.last_at_ns = now_ns;
        self.packets += 1;
        self.bytes += bytes;
        self.out_of_order += u64::from(number < self.expected);
        self.expected = self.expected.max(number.saturating_add(1));
        if age_ns >= self.from_ns {
            self.counted_bytes += bytes;
            self.delays_us.saturating_record(now_ns.saturating_sub(sent_at_ns) / 1_000);
        }
    }

    pub(crate) fn summary(&self, end: &End, offered: u64) -> Value {
        let counted_ns =
            self.first_at_ns.map_or(0, |at| self.last_at_ns.saturating_sub(at + self.from_ns));
        let delay_ms = |quantile| thousandth(self.delays_us.value_at_quantile(quantile));
        let seconds: Vec<_> = self.seconds.iter().map(|bytes| bytes * 8).collect();
        let wakeups = end.wakeups();
        let (sending, reception) = (end.sending(), end.reception());
        json!({
            "packet_bytes": self.packet_bytes,
            "offered": offered,
            "packets": self.packets,
            "bytes": self.bytes,
            "goodput_bits_per_s": per_second(self.counted_bytes * 8, counted_ns),
            "seconds_bits": seconds,
            "seconds_lost": self.seconds_lost,
            "longest_bytes": end.longest_bytes(),
            "too_long": end.too_long(),
            "out_of_order": self.out_of_order,
            "lost": self.expected - self.packets.min(self.expected),
            "delay_ms": { "p50": delay_ms(0.5), "p99": delay_ms(0.99), "max": thousandth(self.delays_us.max()) },
            "cpu_seconds": cpu_seconds(),
            "wakeups": {
                "all": wakeups.all, "timed": wakeups.timed, "late": wakeups.late,
                "latest_ms": wakeups.latest.as_secs_f64() * 1e3,
            },
            "sender": { "resets": sending.resets, "deaths": sending.deaths, "discards": sending.discards.total() },
            "receiver": { "epochs": reception.epochs, "repaired": reception.repaired, "given_up": reception.given_up, "discards": reception.discards.total() },
            "channels": (0..end.channels()).map(|channel| of_channel(end, channel)).collect::<Vec<_>>(),
        })
    }
}

fn of_channel(end: &End, channel: usize) -> Value {
    let counts = end.counts(channel);
    let flight = end.flight(channel).unwrap_or_default();
    json!({
        "sent": counts.sent, "sends": counts.sends, "full": counts.full, "refused": counts.refused,
        "unsent": counts.unsent, "came": counts.came, "batches": counts.batches,
        "strange": counts.strange, "gone": counts.gone, "reopened": counts.reopened,
        "is_in": end.is_in(channel),
        "too_long": counts.too_long,
        "frame_bytes": end.size(channel).frame_bytes,
        "reordering_window_ms": end.reordering_window(channel).as_secs_f64() * 1e3,
        "rate_bits_per_s": flight.bytes_per_second.map(|rate| rate * 8),
        "round_trip_ms": flight.round_trip.as_secs_f64() * 1e3,
        "round_trip_least_ms": flight.round_trip_least.as_secs_f64() * 1e3,
    })
}

#[expect(clippy::cast_precision_loss, reason = "numbers of a report")]
fn cpu_seconds() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the kernel counts");
    (usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1e6
}

#[expect(clippy::cast_precision_loss, reason = "numbers of a report")]
fn thousandth(count: u64) -> f64 {
    count as f64 / 1e3
}

#[expect(clippy::cast_precision_loss, reason = "numbers of a report")]
fn per_second(count: u64, span_ns: u64) -> f64 {
    if span_ns == 0 { 0.0 } else { count as f64 * 1e9 / span_ns as f64 }
}
