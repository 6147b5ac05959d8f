//! What of lanes surprises: buffers too shallow for their cables, lanes that nobody uses.
//!
//! ```text
//!   tick  t      there                 crosses  credit counts
//!         │ begins  arrives             │        │
//!         b ── f + d ──► ceil + P ──────► + 1 ── + 1 + D ──►   so long one place of a lane is in use
//! ```
//!
//! A lane carries the full rate of its channel if it has a place for every flit that begins in that
//! time.

use super::section::DEPTH_MAX;
use crate::compile::gathered::Gathered;
use crate::compile::longest::{longest_on, used_lanes};
use gingham_kernel::Span;
use gingham_model::{ChannelPlan, PipelinePlan, Plan, WhenFull};
use gingham_topology::ChannelId;
use gingham_topology::routing::{LaneSet, MANAGEMENT_LANE};

/// Says which lanes are too shallow for the full rate.
pub(super) fn note_shallow(plan: &Plan, pipeline: &PipelinePlan, gathered: &mut Gathered) {
    let used = used_lanes(plan);
    let cut = |lane: &u8| pipeline.cut_through.contains(*lane);
    gathered.notes.extend(shallow(plan, pipeline, used.lanes().filter(|lane| !cut(lane)), 0));
    let longest = longest_on(plan, pipeline.cut_through);
    let packet_flits = longest.map_or(0, |bytes| pipeline.packet_flits(bytes));
    gathered.notes.extend(shallow(plan, pipeline, used.lanes().filter(cut), packet_flits));
}

/// Says which lanes nobody uses.
pub(in crate::compile) fn note_unused(plan: &Plan, gathered: &mut Gathered) {
    gathered.notes.extend(unused(plan.lanes.count, used_lanes(plan)));
}

/// The flits that a lane must hold so that by itself it carries the full rate of a channel within a
/// packet; between two packets on one lane a switch always takes some cycles.
fn full_rate_depth(
    channel: &ChannelPlan,
    cycle: Span,
    pipeline_cycles: u64,
    credit_cycles: u64,
) -> u64 {
    let there = (channel.flit + channel.delay).div_ceil(cycle) + pipeline_cycles;
    (cycle * (there + 1 + credit_cycles)).div_ceil(channel.flit)
}

/// Says where lanes of one kind are too shallow: those that are wormhole, or those with virtual
/// cut-through, where a head needs room for a packet of `packet_flits` beside what is under way.
fn shallow(
    plan: &Plan,
    pipeline: &PipelinePlan,
    among: impl Iterator<Item = u8>,
    packet_flits: u64,
) -> Option<String> {
    let takes_credits = |channel: &ChannelId| {
        plan.is_switch(plan.ends(*channel).target.node)
            || plan.has_in_transit_hosts() && plan.in_transit.when_full == WhenFull::Stop
    };
    let channels = ChannelId::first(plan.channels.len()).filter(takes_credits);
    let round_trip = |channel| {
        let is_switch = plan.is_switch(plan.ends(channel).target.node);
        let pipeline_cycles = if is_switch { pipeline.pipeline_cycles } else { 0 };
        let (channel, cycle) = (plan.channel(channel), pipeline.cycle);
        let credit_cycles = pipeline.credit_cycles(channel);
        full_rate_depth(channel, cycle, pipeline_cycles.into(), credit_cycles)
    };
    // Flits behind a head that waits for a lane wait as long, so that one place more is in use when
    // the next head asks.
    let room_flits = if packet_flits > 0 { packet_flits + 1 } else { 0 };
    let needed: Vec<u64> = channels.map(|channel| round_trip(channel) + room_flits).collect();
    let shallowest = among.map(|lane| pipeline.depths_flits[usize::from(lane)]).min()?;
    let too_shallow = needed.iter().filter(|needed| **needed > u64::from(shallowest)).count();
    let enough = *needed.iter().max().filter(|_| too_shallow > 0)?;
    let of = needed.len();
    let holds = if shallowest == 1 { "1 flit".to_owned() } else { format!("{shallowest} flits") };
    let what = match packet_flits {
        0 => format!("a lane of {holds} is shallower than its round trip, and"),
        flits => format!(
            "a lane of {holds} with virtual cut-through has no room for a packet of {flits} beside its round trip, and"
        ),
    };
    let cure = if enough > DEPTH_MAX.unsigned_abs() {
        format!(
            "no lane is deep enough ({DEPTH_MAX} flits at most), and only several together may carry it"
        )
    } else {
        format!("network.lanes.depth = {enough} would carry it within a packet")
    };
    Some(format!(
        "on {too_shallow} of {of} channels {what} by itself carries less than the full rate: {cure}"
    ))
}

fn unused(count: u8, used: LaneSet) -> Option<String> {
    let is_unused = |lane: &u8| !used.contains(*lane) && *lane != MANAGEMENT_LANE;
    let unused: Vec<String> = (0..count).filter(is_unused).map(|lane| lane.to_string()).collect();
    match &unused[..] {
        [] => None,
        [one] => Some(format!("no class uses lane {one} (traffic.*.lanes)")),
        [first @ .., last] => Some(format!(
            "no class uses the lanes {} and {last} (traffic.*.lanes)",
            first.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::ByteTime;

    fn channel(flit: u64, delay: u64) -> ChannelPlan {
        let (flit, delay) = (Span::from_ps(flit), Span::from_ps(delay));
        ChannelPlan { flit, bytes: ByteTime::from_64_kib(flit), delay, slack: None }
    }

    #[test]
    fn the_depth_for_the_full_rate_is_the_round_trip() {
        let cycle = Span::from_ps(80);
        // 2 D + 3 with D of 0, 1 and 3 cycles.
        for (delay, depth) in [(0, 3), (1, 5), (80, 5), (81, 7), (240, 9)] {
            let (channel, back) = (channel(80, delay), 1 + delay.div_ceil(80));
            assert_eq!(full_rate_depth(&channel, cycle, 0, back), depth);
            assert_eq!(full_rate_depth(&channel, cycle, 9, back), depth + 9);
            assert_eq!(full_rate_depth(&channel, cycle, 0, back + 4), depth + 4);
        }
        // Half the rate, D = 3: there 5 ticks later, 2 + 3 more for the credit; ten cycles are five
        // flits.
        assert_eq!(full_rate_depth(&channel(160, 240), cycle, 0, 1 + 3), 5);
    }
}
