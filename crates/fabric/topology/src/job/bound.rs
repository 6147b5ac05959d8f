//! Bandwidth bound of a collective, by max-min fair sharing of the channels that its flows use.
//!
//! All flows of a phase carry the same number of bytes, and the phase ends with its slowest flow.
//! The max-min fair rate of that flow is the least capacity per flow of any channel:
//!
//! ```text
//!  duration of a phase = bytes per flow / min over channels (capacity / flows)
//! ```
//!
//! The bound ignores startup times, protocol overhead, transfers within nodes and reduction, so
//! measured bandwidth is lower.

use super::load::flows;
use super::paths::{PathError, Paths, WHOLE};
use super::pattern::{Pattern, Phase};
use crate::routing::joins_switches;
use crate::{Cable, ChannelId, Fabric, LinkSpeed};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Bandwidth bound of a collective with one node order.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// Bound of each phase.
    pub phases: Vec<PhaseBound>,
    /// Largest number of flows on any channel between switches in any phase.
    pub flows_max: f64,
    /// Bus bandwidth as in `nccl-tests`, in bytes per second, or in units of the link bandwidth if
    /// no speed is known.
    pub bus_bandwidth: f64,
    /// Bus bandwidth if all nodes were on one switch, without other jobs; in the unit of
    /// `bus_bandwidth`.
    pub at_one_switch: f64,
}

/// Bandwidth bound of one phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseBound {
    /// Number of flows on the busiest channel between switches.
    pub flows_max: f64,
    /// Rate of the slowest flow, in the unit of [`Bound::bus_bandwidth`].
    pub slowest: f64,
    /// Channel that limits the slowest flow.
    pub bottleneck: ChannelId,
    /// Number of flows of all jobs on the bottleneck; may be fractional with adaptive routing.
    pub bottleneck_flows: f64,
    /// Whether the bottleneck is slower than the most common link speed.
    pub is_bottleneck_slow: bool,
    /// Duration in seconds for a buffer of one byte.
    pub seconds: f64,
}

/// Returns the capacity of each channel in bytes per second. Unknown speeds count as the most
/// common known speed; if no speed is known, all capacities are 1.
pub fn capacities(fabric: &Fabric) -> Vec<f64> {
    let usual = usual_speed(fabric);
    let of_cable = |cable: &Cable| cable.speed.or(usual).map_or(1.0, rate);
    fabric.cables().iter().flat_map(|cable| [of_cable(cable); 2]).collect()
}

fn usual_speed(fabric: &Fabric) -> Option<LinkSpeed> {
    let mut counts: BTreeMap<LinkSpeed, usize> = BTreeMap::new();
    for speed in fabric.cables().iter().filter_map(|cable| cable.speed) {
        *counts.entry(speed).or_default() += 1;
    }
    let rank = |(speed, count): &(LinkSpeed, usize)| (*count, Reverse(speed.rate()));
    counts.into_iter().max_by_key(rank).map(|(speed, _)| speed)
}

#[expect(clippy::cast_precision_loss, reason = "rates are exact up to 2^53 bytes per second")]
fn rate(speed: LinkSpeed) -> f64 {
    speed.rate().bytes_per_second() as f64
}

/// Computes the bound of a pattern for a node order. `standing` is the load of other jobs on each
/// channel, as returned by `standing`, or empty.
pub fn bound(
    paths: &mut Paths<'_>,
    pattern: &Pattern,
    ranks: usize,
    order: &[usize],
    standing: &[u64],
) -> Result<Bound, PathError> {
    let phases = pattern.phases(order.len(), paths.rails(), ranks);
    let capacities = capacities(paths.fabric());
    let mut bounds = Vec::new();
    let (mut seconds, mut seconds_at_one_switch) = (0.0, 0.0);
    for phase in &phases {
        let own = phase_loads(paths, phase, order)?;
        let (of_phase, alone) =
            phase_bound(paths.fabric(), phase.share, &own, standing, &capacities);
        seconds += of_phase.seconds;
        seconds_at_one_switch += alone;
        bounds.push(of_phase);
    }
    let flows_max = bounds.iter().map(|phase| phase.flows_max).fold(0.0, f64::max);
    Ok(Bound {
        phases: bounds,
        flows_max,
        bus_bandwidth: pattern.bus_bandwidth(ranks, seconds),
        at_one_switch: pattern.bus_bandwidth(ranks, seconds_at_one_switch),
    })
}

/// Returns the load of each channel, including adapter channels, in units of 1/[`WHOLE`] of a flow.
fn phase_loads(
    paths: &mut Paths<'_>,
    phase: &Phase,
    order: &[usize],
) -> Result<Vec<u64>, PathError> {
    let mut loads = vec![0; paths.fabric().channel_count()];
    for edge in &phase.edges {
        let (from, to) = edge.nodes(order);
        for rail in 0..paths.rails() {
            for channel in paths.ends(from, to, rail) {
                loads[channel.index()] += WHOLE;
            }
            for step in paths.between(from, to, rail)? {
                loads[step.channel.index()] += u64::from(step.part);
            }
        }
    }
    Ok(loads)
}

fn phase_bound(
    fabric: &Fabric,
    share: f64,
    own: &[u64],
    standing: &[u64],
    capacities: &[f64],
) -> (PhaseBound, f64) {
    let (mut slowest, mut bottleneck, mut flows_max) = (f64::INFINITY, 0, 0.0_f64);
    let mut at_one_switch = f64::INFINITY;
    for channel in (0..own.len()).filter(|channel| own[*channel] > 0) {
        let load = own[channel] + standing.get(channel).copied().unwrap_or(0);
        let rate = capacities[channel] / flows(load);
        if rate < slowest {
            (slowest, bottleneck) = (rate, channel);
        }
        if joins_switches(fabric, ChannelId::new(channel)) {
            flows_max = flows_max.max(flows(load));
        } else {
            at_one_switch = at_one_switch.min(capacities[channel] / flows(own[channel]));
        }
    }
    let usual = usual_speed(fabric).map_or(1.0, rate);
    let bound = PhaseBound {
        flows_max,
        slowest,
        bottleneck: ChannelId::new(bottleneck),
        bottleneck_flows: capacities[bottleneck] / slowest,
        is_bottleneck_slow: capacities[bottleneck] < usual,
        seconds: share / slowest,
    };
    (bound, share / at_one_switch)
}

/// Returns the job's largest load on each channel in any phase, in units of 1/720,720 of a flow.
pub fn standing(
    paths: &mut Paths<'_>,
    pattern: &Pattern,
    ranks: usize,
) -> Result<Vec<u64>, PathError> {
    let order: Vec<usize> = (0..paths.placement().len()).collect();
    let mut most = vec![0; paths.fabric().channel_count()];
    for phase in pattern.phases(order.len(), paths.rails(), ranks) {
        for (most, load) in most.iter_mut().zip(phase_loads(paths, &phase, &order)?) {
            *most = load.max(*most);
        }
    }
    Ok(most)
}

/// Returns the channels between switches that a job uses, each with its largest number of flows in
/// any phase.
pub fn used_channels(
    paths: &mut Paths<'_>,
    pattern: &Pattern,
    ranks: usize,
) -> Result<Vec<(ChannelId, f64)>, PathError> {
    let loads = standing(paths, pattern, ranks)?;
    let fabric = paths.fabric();
    let channels = ChannelId::first(loads.len())
        .filter(|channel| loads[channel.index()] > 0 && joins_switches(fabric, *channel));
    Ok(channels.map(|channel| (channel, flows(loads[channel.index()]))).collect())
}
