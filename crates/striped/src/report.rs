//! What the program says of itself: a line of JSON an event, on the standard output.

use std::io::{self, Write};

use gingham_stripe_crypt::{Counts, Discard};
use gingham_stripe_udp::End;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde_json::{Value, json};

use crate::allowed::Allowed;
use crate::entry::Entry;
use crate::packet::Answers;

/// The interface is there, and so are its routes; whether the kernel filters calls.
pub(crate) fn ready(name: &str, is_filtered: bool) -> Value {
    json!({ "event": "ready", "interface": name, "is_filtered": is_filtered })
}

/// What has been counted so far.
pub(crate) fn counters(
    event: &str,
    end: &End,
    entry: &Entry,
    answers: &Answers,
    allowed: &Allowed,
    refused: u64,
) -> Value {
    let channels: Vec<_> = (0..end.channels()).map(|number| channel(end, number)).collect();
    let (sending, reception, queue) = (end.sending(), end.reception(), entry.counters());
    json!({
        "event": event,
        "is_open": end.is_open(),
        "cpu_seconds": cpu_seconds(),
        "sent_packets": sending.packets,
        "sent_bytes": sending.bytes,
        "repairs": sending.repairs,
        "resets": sending.resets,
        "received_packets": reception.packets,
        "repaired": reception.repaired,
        "given_up": reception.given_up,
        "entry": {
            "packets": queue.enqueued_packets,
            "waiting": entry.backlog_packets(),
            "marked": queue.marked_packets,
            "dropped_target": queue.dropped_target_packets,
            "dropped_limit": queue.dropped_limit_packets,
            "sojourn_us_max": queue.sojourn_max_ns / 1_000,
        },
        "strange": entry.strange,
        "too_long": end.too_long() + answers.too_long,
        "too_long_answered": answers.given,
        "interface_refused": refused,
        "refused_sources": allowed.refused_sources,
        "refused_destinations": allowed.refused_destinations,
        "handshakes": end.handshakes().map(handshakes),
        "channels": channels,
    })
}

/// What is 0 of what was not taken is not told.
fn handshakes(counts: &Counts) -> Value {
    let counted = Discard::ALL.into_iter().map(|one| (one.name(), counts.discards.of(one)));
    let discards: serde_json::Map<_, _> = counted
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| (name.into(), count.into()))
        .collect();
    json!({
        "begun": counts.begun,
        "keys": counts.keys,
        "sessions": counts.sessions,
        "cookies": counts.cookies,
        "discards": discards,
    })
}

fn channel(end: &End, number: usize) -> Value {
    let (counts, flight) = (end.counts(number), end.flight(number));
    json!({
        "is_in": end.is_in(number),
        "bits_per_second": flight.and_then(|flight| flight.bytes_per_second).map(|rate| rate * 8),
        "round_trip_us": flight.map(|flight| flight.round_trip.as_micros()),
        "round_trip_us_min": flight.map(|flight| flight.round_trip_least.as_micros()),
        "sent": counts.sent,
        "sends": counts.sends,
        "full": counts.full,
        "refused": counts.refused,
        "came": counts.came,
        "strange": counts.strange,
        "moved": counts.moved,
        "gone": counts.gone,
        "reopened": counts.reopened,
    })
}

/// What the processor has done for this process, in seconds.
fn cpu_seconds() -> f64 {
    let seconds = |time: TimeVal| {
        let microseconds = u32::try_from(time.tv_usec()).unwrap_or(0);
        let seconds = u32::try_from(time.tv_sec()).unwrap_or(u32::MAX);
        f64::from(seconds) + f64::from(microseconds) / 1e6
    };
    getrusage(UsageWho::RUSAGE_SELF)
        .map_or(0.0, |usage| seconds(usage.user_time()) + seconds(usage.system_time()))
}

/// Prints an event. A reader that has gone away is no reason to end.
pub(crate) fn print(event: &Value) {
    let mut out = io::stdout().lock();
    let _: io::Result<()> = writeln!(out, "{event}").and_then(|()| out.flush());
}
