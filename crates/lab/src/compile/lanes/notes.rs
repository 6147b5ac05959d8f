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

/// How long one place of a lane is in use.
fn round_trip(
    channel: &ChannelPlan,
    cycle: Span,
    pipeline_cycles: u64,
    credit_cycles: u64,
) -> Span {
    let there = (channel.flit + channel.delay).div_ceil(cycle) + pipeline_cycles;
    cycle * (there + 1 + credit_cycles)
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
    let depths: Vec<u32> = among.map(|lane| pipeline.depths_flits[usize::from(lane)]).collect();
    let shallowest = *depths.iter().min()?;
    // Flits behind a head that waits for a lane wait as long, so that one place more is in use when
    // the next head asks.
    let room_flits = if packet_flits > 0 { packet_flits + 1 } else { 0 };
    let short = |channel: ChannelId| {
        let round_trip = trip(plan, pipeline, channel);
        let flit = plan.channel(channel).flit;
        let needed = round_trip.div_ceil(flit) + room_flits;
        let percent = |flits: u64| (flit * (100 * flits)).div_ceil(round_trip);
        let all = depths.iter().map(|depth| u64::from(*depth)).sum();
        (needed, [percent(shallowest.into()), percent(all)])
    };
    let channels: Vec<(u64, [u64; 2])> =
        ChannelId::first(plan.channels.len()).filter(takes_credits).map(short).collect();
    let too_shallow = channels.iter().filter(|(needed, _)| *needed > u64::from(shallowest)).count();
    let enough = channels.iter().map(|(needed, _)| *needed).max().filter(|_| too_shallow > 0)?;
    let of = channels.len();
    let holds = if shallowest == 1 { "1 flit".to_owned() } else { format!("{shallowest} flits") };
    let what = if packet_flits > 0 {
        format!(
            "a lane of {holds} with virtual cut-through has no room for a packet of {packet_flits} beside its round trip, and by \
             itself carries less than the full rate"
        )
    } else {
        let least = |place: usize| channels.iter().map(|(_, percent)| percent[place]).min();
        let [alone, together] = [0, 1].map(|place| least(place).unwrap_or(100));
        let together = match depths.len() {
            1 => String::new(),
            lanes if together >= 100 => format!(", and {lanes} lanes together may carry all of it"),
            lanes => format!(", and {lanes} lanes together at most {together} %"),
        };
        format!(
            "a lane of {holds} is shallower than its round trip, so that by itself it carries at most {alone} % of the full \
             rate{together}"
        )
    };
    let cure = if enough > DEPTH_MAX.unsigned_abs() {
        format!("no lane is deep enough for it by itself ({DEPTH_MAX} flits at most)")
    } else {
        format!("a lane carries it within a packet with network.lanes.depth = {enough}")
    };
    Some(format!("on {too_shallow} of {of} channels {what}: {cure}"))
}

/// How long a place of a lane at the end of a channel is in use. Where flits take their credits as
/// they cross, they do so a cycle before they begin.
fn trip(plan: &Plan, pipeline: &PipelinePlan, channel: ChannelId) -> Span {
    let ends = plan.ends(channel);
    let at_switch = if plan.is_switch(ends.target.node) { pipeline.pipeline_cycles } else { 0 };
    let pays_before = pipeline.pays_at_crossing() && plan.is_switch(ends.source.node);
    let channel = plan.channel(channel);
    let there = u64::from(at_switch) + u64::from(pays_before);
    round_trip(channel, pipeline.cycle, there, pipeline.credit_cycles(channel))
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
    fn a_place_is_in_use_for_a_round_trip() {
        let cycle = Span::from_ps(80);
        // 2 D + 3 with D of 0, 1 and 3 cycles.
        for (delay, cycles) in [(0, 3), (1, 5), (80, 5), (81, 7), (240, 9)] {
            let (channel, back) = (channel(80, delay), 1 + delay.div_ceil(80));
            assert_eq!(round_trip(&channel, cycle, 0, back), cycle * cycles);
            assert_eq!(round_trip(&channel, cycle, 9, back), cycle * (cycles + 9));
            assert_eq!(round_trip(&channel, cycle, 0, back + 4), cycle * (cycles + 4));
        }
        // Half the rate, D = 3: there 5 ticks later, 2 + 3 more for the credit; ten cycles are five
        // flits.
        assert_eq!(round_trip(&channel(160, 240), cycle, 0, 1 + 3), Span::from_ps(160) * 5);
    }
}
