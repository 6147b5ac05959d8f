//! Hosts of a class: senders and possible destinations.

use super::context::ClassContext;
use super::hosts::matching;
use crate::error::LabError;
use gingham_input::InputError;
use gingham_net::traffic::OtherHosts;
use gingham_topology::EndpointId;
use std::sync::Arc;

pub(crate) fn sending_hosts(context: &ClassContext<'_>) -> Result<Vec<EndpointId>, LabError> {
    let patterns = context.class.hosts.as_deref().unwrap_or_default();
    if patterns.is_empty() {
        let message = "a class needs at least one host; `[\"*\"]` means all";
        return Err(context.error("hosts", message).into());
    }
    hosts_matching(context, "hosts", patterns)
}

/// Returns the hosts that match the patterns. Patterns may overlap; listing a host or pattern twice
/// is an error.
pub(crate) fn hosts_matching(
    context: &ClassContext<'_>,
    key: &str,
    patterns: &[String],
) -> Result<Vec<EndpointId>, LabError> {
    let mut chosen = vec![false; context.fabric.endpoints().len()];
    // For each endpoint, the index of the pattern without wildcards that names it.
    let mut named: Vec<Option<usize>> = vec![None; chosen.len()];
    for (index, pattern) in patterns.iter().enumerate() {
        let matched = matching(context.fabric, pattern);
        if matched.is_empty() {
            let report = |message| context.error(&format!("{key}.{index}"), message);
            return Err(context.hosts.unknown(pattern).within(report));
        }
        let is_name = !pattern.contains(['*', '?']);
        let same = patterns[..index].iter().position(|earlier| earlier == pattern);
        let of_name = matched.iter().find_map(|end| named[end.index()].filter(|_| is_name));
        if let Some(earlier) = same.or(of_name) {
            return Err(listed_twice(context, key, patterns, [earlier, index]).into());
        }
        for endpoint in matched {
            chosen[endpoint.index()] = true;
            if is_name {
                named[endpoint.index()] = Some(index);
            }
        }
    }
    Ok(context.fabric.endpoint_ids().filter(|endpoint| chosen[endpoint.index()]).collect())
}

fn listed_twice(
    context: &ClassContext<'_>,
    key: &str,
    patterns: &[String],
    entries: [usize; 2],
) -> InputError {
    let [earlier, index] = entries;
    let (first, again) = (&patterns[earlier], &patterns[index]);
    let name = if first == again { String::new() } else { format!(" as `{first}`") };
    let message = format!(
        "`{again}` is listed already{name} ({key}[{earlier}]), and a host sends once: leave it out; a higher load, \
         a second class or weights make a host send more"
    );
    context.error(&format!("{key}.{index}"), message).coded("duplicate-host")
}

pub(crate) fn host_matching(
    context: &ClassContext<'_>,
    key: &str,
    pattern: &str,
) -> Result<EndpointId, LabError> {
    let found = matching(context.fabric, pattern);
    let one = context.hosts.the_one(context.fabric, pattern, &found);
    one.map_err(|fault| fault.within(|message| context.error(key, message)))
}

pub(crate) fn hosts_near(context: &ClassContext<'_>, source: EndpointId) -> OtherHosts {
    let island = context.hosts.island[source.index()];
    let near = context.hosts.on_island.get(&island).cloned().unwrap_or_default();
    but_own(context, near, source)
}

pub(crate) fn is_own(context: &ClassContext<'_>, source: EndpointId, other: EndpointId) -> bool {
    context.fabric.endpoint(source).node == context.fabric.endpoint(other).node
}

pub(crate) fn but_own(
    context: &ClassContext<'_>,
    among: Arc<[EndpointId]>,
    source: EndpointId,
) -> OtherHosts {
    let node = |endpoint: &EndpointId| context.fabric.endpoint(*endpoint).node;
    let home = node(&source);
    let own = among.partition_point(|other| node(other) < home)
        ..among.partition_point(|other| node(other) <= home);
    OtherHosts { among, own }
}
