//! Schedules: messages listed in a file.
//!
//! ```text
//!   created_ps,source,destination,payload_bytes
//!   0,h0,h3,512
//!   6250,h1,h0,64
//! ```
//!
//! The message table of a run has these columns, so it can be replayed. Columns may be in any
//! order; others are ignored.

use super::context::ClassContext;
use super::lengths::{payload, payload_message};
use crate::check::{Check, Sentence, check, refuse, when};
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use gingham_kernel::{FileName, Time};
use gingham_net::traffic::{Draft, MessagePlan, Scheduled, SourcePlan};
use gingham_topology::EndpointId;
use std::collections::BTreeMap;
use std::ops::Range;

pub(super) fn scheduled(
    context: &ClassContext<'_>,
    file: &FileName,
    active: &Range<Time>,
    gathered: &mut Gathered,
) -> Result<Vec<SourcePlan>, LabError> {
    check(&of_keys(), &context.subject(context), gathered)?;
    let mut sheet = super::sheet::open_sheet(context, "arrivals.schedule", file, gathered)?;
    let created = sheet.column("created_ps")?;
    let (source, destination) = (sheet.column("source")?, sheet.column("destination")?);
    let payload_bytes = sheet.column("payload_bytes")?;
    let mut messages: BTreeMap<EndpointId, Vec<Scheduled>> = BTreeMap::new();
    let (mut last, mut kept, mut all) = (Time::ZERO, 0, 0);
    while sheet.advance()? {
        let created = Time::from_ps(sheet.whole(created)?);
        if created < last {
            let message = format!(
                "a message of {} ps stands after one of {} ps; rows stand in order of time",
                created.as_ps(),
                last.as_ps()
            );
            return Err(sheet.error(message).into());
        }
        last = created;
        let source = super::matrix::host_in(context, &sheet, sheet.text(source))?;
        let destination = super::matrix::host_in(context, &sheet, sheet.text(destination))?;
        super::matrix::check_pair(context, &sheet, source, destination)?;
        let bytes = sheet.whole(payload_bytes)?;
        let payload_bytes = payload(bytes).ok_or_else(|| sheet.error(payload_message(bytes)))?;
        all += 1;
        if active.contains(&created) {
            kept += 1;
            let draft = Draft { destination, payload_bytes };
            messages.entry(source).or_default().push(Scheduled { created, draft });
        }
    }
    if kept == 0 {
        let message = match all {
            0 => "the file holds no message",
            _ => "every message lies outside start and stop",
        };
        return Err(sheet.error(message).into());
    }
    if kept < all {
        let left = all - kept;
        context.note(gathered, format!("{left} of {all} messages lie outside start and stop"));
    }
    let source = |(endpoint, messages): (EndpointId, Vec<Scheduled>)| SourcePlan {
        endpoint,
        messages: MessagePlan::Scheduled(messages.into()),
    };
    Ok(messages.into_iter().map(source).collect())
}

fn of_keys<'a>() -> [Check<&'a ClassContext<'a>>; 4] {
    [
        refuse("load", |it| beside(it.class.load.is_some(), "load")),
        refuse("length", |it| beside(it.class.length.is_some(), "length")),
        refuse("destinations", |it| beside(it.class.destinations.is_some(), "destinations")),
        refuse("hosts", |it| beside(it.class.hosts.is_some(), "hosts")),
    ]
}

fn beside(is_written: bool, key: &str) -> Option<Sentence> {
    when!(is_written, "a schedule already sets this; leave `{key}` out")
}
