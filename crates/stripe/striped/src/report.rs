//! Events on standard output, one JSON object per line.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use crate::status::Status;

pub(crate) fn ready(name: &str, is_filtered: bool) -> Value {
    json!({ "event": "ready", "interface": name, "is_filtered": is_filtered })
}

#[derive(Debug, Serialize)]
struct Counters<'a> {
    event: &'a str,
    #[serde(flatten)]
    status: &'a Status,
}

pub(crate) fn counters(event: &str, status: &Status) -> Value {
    serde_json::to_value(Counters { event, status }).expect("numbers and names")
}

pub(crate) fn print(event: &Value) {
    let mut out = io::stdout().lock();
    let _: io::Result<()> = writeln!(out, "{event}").and_then(|()| out.flush());
}
