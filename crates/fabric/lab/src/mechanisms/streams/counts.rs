//! Number of streams of each host: the total load should be as close as possible to the requested
//! load.

use super::checks::{Counted, Streaming, of_counts, of_memory};
use crate::check::check;
use crate::compile::classes::context::ClassContext;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use gingham_net::traffic::DataPlan;
use gingham_topology::EndpointId;

pub(super) fn counts(
    of: &Streaming<'_>,
    data: &DataPlan,
    hosts: &[EndpointId],
    gathered: &mut Gathered,
) -> Result<Vec<u64>, LabError> {
    check(&of_counts(), &of.context.subject(of), gathered)?;
    let counts = match (of.streams.count, of.context.class.load) {
        (None, Some(load)) => counts_by_load(of.context, load, data, hosts, gathered)?,
        (count, _) => vec![checked_count(count); hosts.len()],
    };
    check_memory(of, counts.iter().sum(), gathered)?;
    Ok(counts)
}

pub(super) fn checked_count(count: Option<i64>) -> u64 {
    u64::try_from(count.unwrap_or(1)).expect("a check refuses fewer streams than one")
}

pub(super) fn check_memory(
    of: &Streaming<'_>,
    count: u64,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    let counted = of.context.subject(Counted { streaming: of, count });
    check(&of_memory(), &counted, gathered)
}

fn counts_by_load(
    context: &ClassContext<'_>,
    load: f64,
    data: &DataPlan,
    hosts: &[EndpointId],
    gathered: &mut Gathered,
) -> Result<Vec<u64>, LabError> {
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

fn rate_said(data: &DataPlan) -> String {
    format!("{:.2} Mbit/s", data.bytes_per_ps() * 8e6)
}
