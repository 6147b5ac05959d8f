//! What the program says of itself: a line of JSON an event, on the standard output.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use crate::status::Status;

/// The interface is there, and so are its routes; whether the kernel filters calls.
pub(crate) fn ready(name: &str, is_filtered: bool) -> Value {
    json!({ "event": "ready", "interface": name, "is_filtered": is_filtered })
}

/// An event, and what has been counted so far.
#[derive(Debug, Serialize)]
struct Counters<'a> {
    event: &'a str,
    #[serde(flatten)]
    status: &'a Status,
}

/// What has been counted so far.
pub(crate) fn counters(event: &str, status: &Status) -> Value {
    serde_json::to_value(Counters { event, status }).expect("numbers and names")
}

/// Prints an event. A reader that has gone away is no reason to end.
pub(crate) fn print(event: &Value) {
    let mut out = io::stdout().lock();
    let _: io::Result<()> = writeln!(out, "{event}").and_then(|()| out.flush());
}
