//! How many streams a host has, and what all of them take of memory.

use crate::compile::classes::context::ClassContext;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::Streams;
use gingham_kernel::Bytes;
use gingham_net::traffic::{DataPlan, STREAM_BYTES};
use gingham_topology::EndpointId;
use std::ops::RangeInclusive;

/// Streams of a host.
const COUNTS: RangeInclusive<i64> = 1..=1_000_000;
/// The most that streams may ask for of a link: far beyond what a study of overload asks for.
const LOAD_MAX: f64 = 100.0;

/// How many streams each of these hosts has.
pub(crate) fn counts(
    context: &ClassContext<'_>,
    streams: &Streams,
    data: &DataPlan,
    hosts: &[EndpointId],
    gathered: &mut Gathered,
) -> Result<Vec<u64>, LabError> {
    let counts = match (streams.count, context.class.load) {
        (Some(count), None) => vec![checked_count(context, count)?; hosts.len()],
        (None, Some(load)) => counts_by_load(context, load, data, hosts, gathered)?,
        (Some(_), Some(_)) => {
            let message = "count says how many streams a host has, and so does the load of the class: leave one of them out";
            return Err(context.error("streams.count", message).into());
        }
        (None, None) => {
            let message = "say how many streams a host has, such as count = 4, or the load of the class that they make up, \
                           such as load = 0.6";
            return Err(context.error("streams", message).into());
        }
    };
    check_memory(context, streams, counts.iter().sum())?;
    Ok(counts)
}

/// The number that is written.
pub(crate) fn checked_count(context: &ClassContext<'_>, count: i64) -> Result<u64, LabError> {
    let counted = u64::try_from(count).ok().filter(|_| COUNTS.contains(&count));
    counted.ok_or_else(|| {
        let message = format!("a host has from 1 to {} streams, not {count}", COUNTS.end());
        context.error("streams.count", message).into()
    })
}

/// As many as come nearest to a load.
fn counts_by_load(
    context: &ClassContext<'_>,
    load: f64,
    data: &DataPlan,
    hosts: &[EndpointId],
    gathered: &mut Gathered,
) -> Result<Vec<u64>, LabError> {
    if !(load > 0.0 && load <= LOAD_MAX) {
        let message = format!(
            "the load of streams is a fraction of a host's link, above 0 and at most {LOAD_MAX}, not {load}"
        );
        return Err(context.error("load", message).into());
    }
    let mut counts = Vec::with_capacity(hosts.len());
    let mut furthest = (0.0, load);
    for host in hosts {
        let of_one = data.bytes_per_ps() * context.links.byte_ps(*host);
        let count = (load / of_one).round();
        if count < 1.0 {
            let message = format!(
                "one stream of {} is {of_one:.3} of the link of {}, so that a load of {load} is less than half of one: let \
                 streams be slower, or the load at least {:.3}",
                rate_said(data),
                context.fabric.endpoint_name(*host),
                of_one / 2.0 + 5e-4
            );
            return Err(context.error("load", message).into());
        }
        let off = (count * of_one - load).abs();
        if off > furthest.0 {
            furthest = (off, count * of_one);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at least 1; what is too much saturates, and is refused"
        )]
        counts.push(count as u64);
    }
    if furthest.0 > 0.01 * load {
        let text = format!(
            "streams of {} come no nearer to a load of {load} than {:.4}",
            rate_said(data),
            furthest.1
        );
        context.note(gathered, text);
    }
    Ok(counts)
}

/// The mean rate of a stream.
fn rate_said(data: &DataPlan) -> String {
    format!("{:.2} Mbit/s", data.bytes_per_ps() * 8e6)
}

/// Refuses more streams than memory may hold.
pub(crate) fn check_memory(
    context: &ClassContext<'_>,
    streams: &Streams,
    count: u64,
) -> Result<(), LabError> {
    let needed = count.saturating_mul(STREAM_BYTES);
    let most = streams.memory_max;
    if needed <= most.0 {
        return Ok(());
    }
    let message = format!(
        "{count} streams would take about {}, and may take {most}: let there be fewer, each of more, or allow more \
         (traffic.{}.streams.memory_max)",
        Bytes(needed / 1_000_000 * 1_000_000),
        context.index
    );
    Err(context.error("streams.memory_max", message).into())
}
