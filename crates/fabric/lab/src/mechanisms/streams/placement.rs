//! Placement of streams on destinations.
//!
//! ```text
//!   4 hosts, 4 streams each         turns: + 2, + 1, + 3, + 2      in a random order, repeated
//!     h0 ─► h2 h1 h3 h2
//!     h1 ─► h3 h2 h0 h3             in every turn each host receives one stream
//! ```

use super::checks::Streaming;
use super::counts::{check_memory, checked_count, counts};
use crate::compile::classes::chosen_hosts::{hosts_near, sending_hosts};
use crate::compile::classes::context::ClassContext;
use crate::compile::follow::ends;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::Placement;
use gingham_kernel::{Purpose, Stream};
use gingham_net::traffic::{DataPlan, OtherHosts};
use gingham_topology::EndpointId;

pub(crate) type Pair = (EndpointId, EndpointId);

pub(super) fn placed(
    of: &Streaming<'_>,
    data: &DataPlan,
    gathered: &mut Gathered,
) -> Result<Vec<Pair>, LabError> {
    let Streaming { context, streams, .. } = *of;
    if let Placement::Pairs(pairs) = &streams.placement {
        return placed_pairs(of, pairs, gathered);
    }
    let hosts = sending_hosts(context)?;
    let has_others = |host: &EndpointId| hosts_near(context, *host).has_any();
    let (senders, silent): (Vec<EndpointId>, Vec<EndpointId>) =
        hosts.into_iter().partition(has_others);
    if senders.is_empty() {
        let message = "none of the hosts can reach another one to send a stream to";
        return Err(context.error("hosts", message).into());
    }
    if !silent.is_empty() {
        let text = format!("{} hosts can reach no other and are silent", silent.len());
        context.note(gathered, text);
    }
    let counts = counts(of, data, &senders, gathered)?;
    let place = match streams.placement {
        Placement::Random => placed_randomly,
        _ => placed_evenly,
    };
    let mut placed = Vec::new();
    for (host, count) in senders.into_iter().zip(counts) {
        place(context, host, count, &mut placed);
    }
    Ok(placed)
}

fn placed_evenly(context: &ClassContext<'_>, host: EndpointId, count: u64, placed: &mut Vec<Pair>) {
    let OtherHosts { among, own } = hosts_near(context, host);
    let others = among.len() - own.len();
    let turns = turns(context, others);
    let turn = |stream: u64| {
        let turn = turns[usize::try_from(stream % others as u64).expect("below a length")];
        // Turns are counted from the last endpoint of the host's node.
        among[(own.end + turn) % among.len()]
    };
    placed.extend((0..count).map(|stream| (host, turn(stream))));
}

/// Returns the offset from a host to its destination for each turn; all hosts share these offsets.
fn turns(context: &ClassContext<'_>, others: usize) -> Vec<usize> {
    let mut turns: Vec<usize> = (0..others).collect();
    let (seed, name) = (context.source.scenario.seed, &context.class.name);
    Stream::new(seed, name, Purpose::Permutation).shuffle(&mut turns);
    turns
}

fn placed_randomly(
    context: &ClassContext<'_>,
    host: EndpointId,
    count: u64,
    placed: &mut Vec<Pair>,
) {
    let OtherHosts { among, own } = hosts_near(context, host);
    let (seed, class) = (context.source.scenario.seed, &context.class.name);
    let port = context.fabric.endpoint(host);
    let name = context.fabric.node(port.node).stable_name();
    let name = format!("{name}[{}]/{class}/placement", port.port);
    let mut stream = Stream::new(seed, &name, Purpose::Destination);
    let mut draw = || {
        let place = stream.below((among.len() - own.len()) as u64);
        let place = usize::try_from(place).expect("below a length");
        among[if place < own.start { place } else { place + own.len() }]
    };
    placed.extend((0..count).map(|_| (host, draw())));
}

fn placed_pairs(
    of: &Streaming<'_>,
    pairs: &[String],
    gathered: &mut Gathered,
) -> Result<Vec<Pair>, LabError> {
    let count = checked_count(of.streams.count);
    check_memory(of, count.saturating_mul(pairs.len() as u64), gathered)?;
    let mut placed = Vec::new();
    for (index, text) in pairs.iter().enumerate() {
        let pair = pair(of.context, &format!("streams.placement.pairs.{index}"), text)?;
        placed.extend((0..count).map(|_| pair));
    }
    // The stable sort keeps the streams of each host in the order of the scenario.
    placed.sort_by_key(|(source, _)| *source);
    Ok(placed)
}

fn pair(context: &ClassContext<'_>, key: &str, text: &str) -> Result<Pair, LabError> {
    let refuse = |message: String| context.error(key, message);
    let (from, to) = ends(text)
        .ok_or_else(|| refuse(format!("a pair is written as `h0 -> h1`, and not as `{text}`")))?;
    let find =
        |name: &str| context.hosts.find(context.fabric, name).map_err(|fault| fault.within(refuse));
    let (source, destination) = (find(from)?, find(to)?);
    let node = |endpoint: EndpointId| context.fabric.endpoint(endpoint).node;
    if node(source) == node(destination) {
        let message = format!("the stream would go from `{from}` to itself: name another host");
        return Err(refuse(message).into());
    }
    if !context.hosts.joined(source, destination) {
        return Err(refuse(format!("no path leads from `{from}` to `{to}`")).into());
    }
    Ok((source, destination))
}
