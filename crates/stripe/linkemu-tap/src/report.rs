//! Events on standard output, one JSON object per line.

use crate::direction::Direction;
use crate::end::Tap;
use serde_json::{Value, json};
use std::io::{self, Write};

pub(crate) fn ready(taps: &[Tap; 2]) -> Value {
    let [left, right] = taps.each_ref().map(|tap| tap.end.to_string());
    json!({ "event": "ready", "left": left, "right": right })
}

pub(crate) fn counters(event: &str, seconds: f64, directions: &[Direction; 2]) -> Value {
    let [forth, back] = directions.each_ref().map(direction);
    json!({ "event": event, "seconds": seconds, "forth": forth, "back": back })
}

fn direction(direction: &Direction) -> Value {
    let (counters, delivered) = (direction.counters(), direction.delivered);
    json!({
        "offered": counters.offered,
        "duplicated": counters.duplicated,
        "queue_full": counters.queue_full,
        "outage": counters.outage,
        "lost": counters.lost,
        "corrupted": counters.corrupted,
        "held_back": counters.held_back,
        "under_way": direction.in_flight(),
        "delivered": delivered.frames,
        "delivered_bytes": delivered.bytes,
        "refused": delivered.refused,
        "late": delivered.late,
        "late_after_us": direction.late_after().as_ps() / 1_000_000,
        "late_us_max": delivered.latest.as_ps() / 1_000_000,
    })
}

pub(crate) fn print(event: &Value) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{event}").and_then(|()| out.flush());
}
