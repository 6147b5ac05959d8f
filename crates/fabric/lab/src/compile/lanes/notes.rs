//! Notes on lanes: buffers too shallow for their cables, and unused lanes.
//!
//! ```text
//!       starts        arrives            crosses     credit counts
//!   ── 1 ──┼── f + d ────┼── P ── + 1 ──────┼── 1 + C ──┼─►   cycles with one slot of a lane in use
//!      │                 └ rounded up to a cycle, D + 1 if a flit takes a cycle
//!      └ only if a switch sends, and flits take their credits as they cross
//! ```
//!
//! Here f is the time of a flit, d and D the cable delay, P the pipeline, and C the credit delay. A
//! lane carries the full rate of its channel if it has a slot for every flit that starts in this
//! time (`docs/concepts/routers.md`).

use super::checks::DEPTH_MAX;
use crate::check::{Check, Sentence, note, say};
use crate::compile::longest::{longest_on, used_lanes};
use gingham_kernel::Span;
use gingham_net::{PipelinePlan, Plan, WhenFull};
use gingham_topology::ChannelId;
use gingham_topology::routing::{LaneRule, LaneSet, MANAGEMENT_LANE};
use std::fmt;

pub(super) fn of_depths<'a>() -> [Check<(&'a Plan, &'a PipelinePlan)>; 2] {
    [note(|it| shallow(it.of, false)), note(|it| shallow(it.of, true))]
}

pub(crate) fn of_lanes<'a>() -> [Check<&'a Plan>; 1] {
    [note(|it| {
        let is_by_tables = matches!(it.lanes.allowed.rule(), LaneRule::Tables { .. });
        let key = if is_by_tables { "network.lanes.count" } else { "traffic.*.lanes" };
        unused(it.lanes.count, used_lanes(it.of), key)
    })]
}

/// Notes channels with lanes too shallow for the full rate. With virtual cut-through, a head needs
/// space for a whole packet in addition to the flits in flight.
fn shallow((plan, pipeline): (&Plan, &PipelinePlan), is_cut_through: bool) -> Option<Sentence> {
    let is_of_kind = |lane: &u8| pipeline.cut_through.contains(*lane) == is_cut_through;
    let longest = longest_on(plan, pipeline.cut_through).filter(|_| is_cut_through);
    let packet_flits = longest.map_or(0, |bytes| pipeline.packet_flits(bytes));
    let takes_credits = |channel: &ChannelId| {
        plan.is_switch(plan.ends(*channel).target.node)
            || plan.routing.has_in_transit_hosts() && plan.in_transit.when_full == WhenFull::Stop
    };
    let lanes = used_lanes(plan).lanes().filter(is_of_kind);
    let depths: Vec<u32> = lanes.map(|lane| pipeline.depths_flits[usize::from(lane)]).collect();
    let shallowest = *depths.iter().min()?;
    // Flits behind a waiting head occupy their slots until it leaves, and the next head needs
    // another slot when it requests the lane.
    let room_flits = if packet_flits > 0 { packet_flits + 1 } else { 0 };
    let channels: Vec<(ChannelId, Span)> = ChannelId::first(plan.channels.len())
        .filter(takes_credits)
        .map(|channel| (channel, credit_round_trip(plan, pipeline, channel)))
        .collect();
    let needed = |(channel, round_trip): &(ChannelId, Span)| {
        round_trip.div_ceil(plan.channel(*channel).flit) + room_flits
    };
    let enough = channels.iter().map(needed).max()?;
    let of = channels.len();
    let mut short = channels;
    short.retain(|channel| needed(channel) > u64::from(shallowest));
    if short.is_empty() {
        return None;
    }
    let what = if packet_flits > 0 {
        format!(
            "with virtual cut-through has no room for a packet of {packet_flits} beside its round trip"
        )
    } else {
        "is shallower than its round trip".to_owned()
    };
    let shares = if packet_flits > 0 { String::new() } else { shares(plan, &short, &depths) };
    let holds = if shallowest == 1 { "1 flit".to_owned() } else { format!("{shallowest} flits") };
    let cure = if enough > DEPTH_MAX.unsigned_abs() {
        format!("no lane is deep enough for it by itself ({DEPTH_MAX} flits at most)")
    } else {
        format!("a lane carries it within a packet with network.lanes.depth = {enough}")
    };
    say!(
        "on {} of {of} channels a lane of {holds} {what}, and by itself carries less than the full rate{shares}: {cure}",
        short.len()
    )
}

/// Returns how long a flit occupies a slot of a lane at the end of a channel.
fn credit_round_trip(plan: &Plan, pipeline: &PipelinePlan, channel: ChannelId) -> Span {
    let ends = plan.ends(channel);
    let channel = plan.channel(channel);
    let pays_before = pipeline.pays_at_crossing() && plan.is_switch(ends.source.node);
    let pipeline_cycles =
        if plan.is_switch(ends.target.node) { pipeline.pipeline_cycles } else { 0 };
    let arrives = (channel.flit + channel.delay).div_ceil(pipeline.cycle);
    let crosses = u64::from(pays_before) + arrives + u64::from(pipeline_cycles) + 1;
    pipeline.cycle * (crosses + pipeline.credit_cycles(channel))
}

fn shares(plan: &Plan, channels: &[(ChannelId, Span)], depths: &[u32]) -> String {
    let described = |flits: u64| {
        let share = |(channel, round_trip): &(ChannelId, Span)| {
            (*channel, Share::of(plan.channel(*channel).flit, flits, *round_trip))
        };
        let shares: Vec<(ChannelId, Share)> = channels.iter().map(share).collect();
        shares_by_channel(&shares, |channel| plan.fabric.channel_name(channel))
    };
    let alone = described(depths.iter().copied().min().unwrap_or(0).into());
    let together = described(depths.iter().copied().map(u64::from).sum());
    match depths.len() {
        1 => format!(" ({alone})"),
        lanes => format!(" ({alone}; {lanes} lanes together may carry {together})"),
    }
}

fn shares_by_channel(
    shares: &[(ChannelId, Share)],
    name: impl FnOnce(ChannelId) -> String,
) -> String {
    let most = shares.iter().max_by_key(|(_, share)| *share);
    let least = shares.iter().min_by_key(|(_, share)| *share);
    let (Some((_, most)), Some((channel, least))) = (most, least) else { return String::new() };
    if least == most {
        return most.to_string();
    }
    let count = shares.iter().filter(|(_, share)| share == least).count();
    format!("{most}, on {count} of these channels {least}, such as {}", name(*channel))
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Share {
    /// Upper limit of a share below the full rate, in thousandths.
    Thousandths(u128),
    All,
}

impl Share {
    fn of(flit: Span, flits: u64, round_trip: Span) -> Self {
        let carries = u128::from(flit.as_ps()) * u128::from(flits);
        let whole = u128::from(round_trip.as_ps());
        if carries >= whole {
            Self::All
        } else {
            Self::Thousandths((1_000 * carries).div_ceil(whole))
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all of it"),
            Self::Thousandths(1_000) => f.write_str("just under 100 %"),
            Self::Thousandths(of) if of % 10 == 0 => write!(f, "at most {} %", of / 10),
            Self::Thousandths(of) => write!(f, "at most {}.{} %", of / 10, of % 10),
        }
    }
}

fn unused(count: u8, used: LaneSet, key: &str) -> Option<Sentence> {
    let is_unused = |lane: &u8| !used.contains(*lane) && *lane != MANAGEMENT_LANE;
    let unused: Vec<String> = (0..count).filter(is_unused).map(|lane| lane.to_string()).collect();
    match &unused[..] {
        [] => None,
        [one] => say!("no class uses lane {one} ({key})"),
        [first @ .., last] => {
            say!("no class uses the lanes {} and {last} ({key})", first.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::scenario::{Overrides, ScenarioSource};
    use gingham_kernel::ByteTime;
    use gingham_net::{ChannelPlan, Switching};
    use std::path::Path;

    /// Returns credit round trips in cycles of 80 ps, for the channels from a host to a switch,
    /// between two switches, and to a host. Arguments `flit` and `delay` are in ps.
    fn round_trips(flit: u64, delay: u64, change: impl FnOnce(&mut PipelinePlan)) -> [u64; 3] {
        let text = "topology.generate.two-hosts.switches = 2\nnetwork.preset = \"yum-1600\"\n\
                    network.lanes.count = 1\nstop.time = \"60 us\"\n[[traffic]]\nload = 0.1\nlength.fixed = \"64 B\"\n";
        let source = ScenarioSource::parse("r.toml", text, Path::new("."), &Overrides::default());
        let mut plan = (*compile(&source.unwrap(), false).unwrap().plan).clone();
        let Switching::VirtualLanes(pipeline) = &plan.switching else { panic!("no lanes") };
        let mut pipeline = (**pipeline).clone();
        pipeline.cycle = Span::from_ps(80);
        change(&mut pipeline);
        let (flit, delay) = (Span::from_ps(flit), Span::from_ps(delay));
        let channel = ChannelPlan { flit, bytes: ByteTime::from_64_kib(flit), delay, slack: None };
        plan.channels = plan.channels.iter().map(|_| channel).collect();
        [(false, true), (true, true), (true, false)].map(|ends| {
            let is = |channel: &ChannelId| {
                let of = plan.ends(*channel);
                (plan.is_switch(of.source.node), plan.is_switch(of.target.node)) == ends
            };
            let channel = ChannelId::first(plan.channels.len()).find(is).unwrap();
            credit_round_trip(&plan, &pipeline, channel).div_ceil(pipeline.cycle)
        })
    }

    #[test]
    fn buffer_place_is_occupied_for_a_round_trip() {
        // With a cable delay of D cycles from 0 to 3, a round trip takes 2 D + 3 cycles.
        for (delay, cycles) in [(0, 3), (1, 5), (80, 5), (81, 7), (240, 9)] {
            assert_eq!(round_trips(80, delay, |_| ()), [cycles; 3]);
            let deep = round_trips(80, delay, |of| of.pipeline_cycles = 9);
            assert_eq!(deep, [cycles + 9, cycles + 9, cycles]);
            let back = delay.div_ceil(80);
            let late =
                |of: &mut PipelinePlan| of.credit_delay_cycles = u32::try_from(back + 4).ok();
            assert_eq!(round_trips(80, delay, late), [cycles + 4; 3]);
            let early = round_trips(80, delay, |of| of.output_depths_flits = [0; 16]);
            assert_eq!(early, [cycles, cycles + 1, cycles + 1]);
        }
        // At half the rate and D = 3, a flit arrives after 5 cycles, and its credit takes 5 more
        // cycles; these ten cycles are five flit times.
        assert_eq!(round_trips(160, 240, |_| ()), [10; 3]);
    }

    #[test]
    fn displayed_share_is_rounded_up() {
        let described =
            |flits, of| Share::of(Span::from_ps(3), flits, Span::from_ps(of)).to_string();
        assert_eq!(described(1, 15), "at most 20 %");
        assert_eq!(described(2, 9), "at most 66.7 %");
        assert_eq!(described(1, 3_000_000), "at most 0.1 %");
        assert_eq!(described(999, 3_000), "at most 99.9 %");
        assert_eq!(described(9_997, 30_000), "just under 100 %");
        assert_eq!(described(5, 15), "all of it");
        assert_eq!(described(5, 16), "at most 93.8 %");
    }
}
