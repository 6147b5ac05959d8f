//! What of lanes surprises: buffers too shallow for their cables, lanes that nobody uses.
//!
//! ```text
//!   tick  t      there                 crosses  credit counts
//!         │ begins  arrives             │        │
//!         b ── f + d ──► ceil ──────────► + 1 ── + 1 + D ──►   so long one place of a lane is in use
//! ```
//!
//! A lane carries the full rate of its channel if it has a place for every flit that begins in that time.

use super::lanes_of;
use crate::compile::Gathered;
use gingham_kernel::Span;
use gingham_model::{ChannelPlan, LanePlan, Plan, WhenFull};
use gingham_topology::ChannelId;
use gingham_topology::routing::{LaneSet, MANAGEMENT_LANE};

/// Says what of the lanes of a plan one might not expect.
pub(in crate::compile) fn note(plan: &Plan, gathered: &mut Gathered) {
    let Some(lanes) = plan.lane_plan() else { return };
    let classes = plan.classes.iter().map(|class| lanes_of(plan, class));
    let used = classes.fold(LaneSet::EMPTY, |all, of| all | of);
    gathered.notes.extend(shallow(plan, lanes, used));
    gathered.notes.extend(unused(lanes, used));
}

/// The flits that a lane must hold to carry the full rate of a channel by itself.
fn full_rate_depth(channel: &ChannelPlan, cycle: Span) -> u64 {
    let delay_cycles = channel.delay.div_ceil(cycle);
    let cycles = (channel.flit + channel.delay).div_ceil(cycle) + 2 + delay_cycles;
    (cycle * cycles).div_ceil(channel.flit)
}

fn shallow(plan: &Plan, lanes: &LanePlan, used: LaneSet) -> Option<String> {
    let takes_credits = |channel: ChannelId| {
        plan.is_switch(plan.ends(channel).target.node)
            || plan.has_in_transit_hosts() && plan.in_transit.when_full == WhenFull::Stop
    };
    let channels = ChannelId::first(plan.channels.len()).filter(|channel| takes_credits(*channel));
    let needed: Vec<u64> =
        channels.map(|channel| full_rate_depth(plan.channel(channel), lanes.cycle)).collect();
    let shallowest = used.lanes().map(|lane| lanes.depths_flits[usize::from(lane)]).min()?;
    let too_shallow = needed.iter().filter(|needed| **needed > u64::from(shallowest)).count();
    let enough = needed.iter().max().filter(|_| too_shallow > 0)?;
    Some(format!(
        "on {too_shallow} of {} channels a lane of {shallowest} flits is shallower than its round trip, and carries less than \
         the full rate when it is alone: network.lanes.depth = {enough} would carry it",
        needed.len()
    ))
}

fn unused(lanes: &LanePlan, used: LaneSet) -> Option<String> {
    let is_unused = |lane: &u8| !used.contains(*lane) && *lane != MANAGEMENT_LANE;
    let unused: Vec<String> =
        (0..lanes.count).filter(is_unused).map(|lane| lane.to_string()).collect();
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

    fn channel(flit: u64, delay: u64) -> ChannelPlan {
        ChannelPlan { flit: Span::from_ps(flit), delay: Span::from_ps(delay), slack: None }
    }

    #[test]
    fn the_depth_for_the_full_rate_is_the_round_trip() {
        let cycle = Span::from_ps(80);
        // 2 D + 3 with D of 0, 1 and 3 cycles.
        for (delay, depth) in [(0, 3), (1, 5), (80, 5), (81, 7), (240, 9)] {
            assert_eq!(full_rate_depth(&channel(80, delay), cycle), depth);
        }
        // Half the rate, D = 3: there 5 ticks later, 2 + 3 more for the credit; ten cycles are five flits.
        assert_eq!(full_rate_depth(&channel(160, 240), cycle), 5);
    }
}
