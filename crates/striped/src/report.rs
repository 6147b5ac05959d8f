//! What the program says of itself: a line of JSON an event, on the standard output.

use std::io::{self, Write};

use gingham_stripe_crypt::{Counts, Discard, Discards};
use gingham_stripe_udp::End;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde_json::{Value, json};

use crate::packet::Answers;
use crate::peers::{Peer, Peers};

/// The interface is there, and so are its routes; whether the kernel filters calls.
pub(crate) fn ready(name: &str, is_filtered: bool) -> Value {
    json!({ "event": "ready", "interface": name, "is_filtered": is_filtered })
}

/// What has been counted so far: of one peer beside what is of the bundle, of several in a list.
pub(crate) fn counters(event: &str, peers: &Peers, answers: &Answers, refused: u64) -> Value {
    let strangers = peers.ends.strangers();
    let too_long: u64 = peers.list().map(|(_, end)| end.too_long()).sum();
    let bundle = json!({
        "event": event,
        "cpu_seconds": cpu_seconds(),
        "too_long": too_long + answers.too_long,
        "too_long_answered": answers.given,
        "interface_refused": refused,
        "refused_destinations": peers.refused_destinations,
        "strangers": {
            "found": strangers.found,
            "untried": strangers.untried,
            "cookies": strangers.cookies,
            "discards": discards(&strangers.discards),
        },
    });
    let mut each: Vec<_> = peers.list().map(|(peer, end)| of_peer(peer, end)).collect();
    let mut told = if each.len() == 1 { each.remove(0) } else { json!({ "peers": each }) };
    if let (Value::Object(told), Value::Object(bundle)) = (&mut told, bundle) {
        told.extend(bundle);
    }
    // Of one peer whatever comes is a try to be that one.
    if let (Some(end), true) = (peers.ends.end(0), told.get("peers").is_none()) {
        let both = end.handshakes().map(|counts| counts.discards.with(&strangers.discards));
        if let (Some(both), Some(handshakes)) = (both, told.get_mut("handshakes")) {
            handshakes["discards"] = discards(&both);
        }
    }
    told
}

fn of_peer(peer: &Peer, end: &End) -> Value {
    let channels: Vec<_> = (0..end.channels()).map(|number| channel(end, number)).collect();
    let (sending, reception, queue) = (end.sending(), end.reception(), peer.entry.counters());
    json!({
        "name": peer.name,
        "is_open": end.is_open(),
        "sent_packets": sending.packets,
        "sent_bytes": sending.bytes,
        "repairs": sending.repairs,
        "resets": sending.resets,
        "received_packets": reception.packets,
        "repaired": reception.repaired,
        "given_up": reception.given_up,
        "entry": {
            "packets": queue.enqueued_packets,
            "waiting": peer.entry.backlog_packets(),
            "marked": queue.marked_packets,
            "dropped_target": queue.dropped_target_packets,
            "dropped_limit": queue.dropped_limit_packets,
            "sojourn_us_max": queue.sojourn_max_ns / 1_000,
        },
        "strange": peer.entry.strange,
        "too_long": end.too_long(),
        "refused_sources": peer.refused_sources,
        "handshakes": end.handshakes().map(handshakes),
        "channels": channels,
    })
}

fn handshakes(counts: &Counts) -> Value {
    json!({
        "begun": counts.begun,
        "keys": counts.keys,
        "sessions": counts.sessions,
        "cookies": counts.cookies,
        "discards": discards(&counts.discards),
    })
}

/// What is 0 of what was not taken is not told.
fn discards(counts: &Discards) -> Value {
    let counted = Discard::ALL.into_iter().map(|one| (one.name(), counts.of(one)));
    let told: serde_json::Map<_, _> = counted
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| (name.into(), count.into()))
        .collect();
    told.into()
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
