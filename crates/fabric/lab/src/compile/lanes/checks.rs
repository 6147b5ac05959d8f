//! Checks of `network.lanes`.

use crate::check::{Check, Sentence, Subject, refuse, say, when, within};
use crate::compile::imported::decides_on_lanes;
use crate::compile::written::{first_written, whose};
use crate::scenario::{LaneParameters, PerLane, PipelineParameters};
use gingham_kernel::Bytes;
use gingham_net::{Allocator, Crossbar, Islip, Scheduler, VcAllocator};
use gingham_topology::routing::LANES_MAX;
use std::ops::RangeInclusive;

const FLIT_MAX_KIB: u64 = 4;
pub(super) const DEPTH_MAX: i64 = 65_535;
const CYCLES_MAX: i64 = 65_535;
const ROUTING_CYCLES_MAX: i64 = 1_000;
const ITERATIONS: RangeInclusive<u32> = 1..=1_000;

pub(crate) struct Laned<'a, T> {
    pub(crate) switch: &'a T,
    pub(crate) count: u8,
}

type Pipeline<'a> = Laned<'a, PipelineParameters>;

pub(super) fn of_count<'a>() -> [Check<&'a LaneParameters>; 1] {
    [refuse("count", |it| {
        within!(it.count, 1..=LANES_MAX.into(), "a channel has from 1 to {LANES_MAX} lanes")
    })]
}

pub(crate) fn wrong_list<T: Copy, S>(
    it: &Subject<'_, Laned<'_, S>>,
    values: &PerLane<T>,
) -> Option<Sentence> {
    let (count, given) = (it.count, values.by_lane(it.count.into()).err()?);
    say!(
        "a list has a value for each lane, and this one has {given}, while network.lanes.count is {count}{}: make \
         them as many, or give one value for all",
        whose(it.source, "network.lanes.count")
    )
}

pub(crate) fn wrong_values<T: Copy, S>(
    it: &Subject<'_, Laned<'_, S>>,
    values: &PerLane<T>,
    wrong: impl Fn(T) -> Option<Sentence>,
) -> Option<Sentence> {
    wrong_list(it, values).or_else(|| match values {
        PerLane::All(value) => wrong(*value),
        PerLane::Each(values) => (0..)
            .zip(values)
            .find_map(|(lane, value): (u8, _)| Some(wrong(*value)?.under(lane.to_string()))),
    })
}

fn wrong_depths(
    it: &Subject<'_, Pipeline<'_>>,
    values: &PerLane<i64>,
    least: i64,
) -> Option<Sentence> {
    wrong_values(it, values, |depth| {
        within!(depth, least..=DEPTH_MAX, "a lane holds from {least} to {DEPTH_MAX} flits")
    })
}

pub(super) fn of_buffers<'a>() -> [Check<Pipeline<'a>>; 10] {
    [
        refuse("depth", |it| wrong_depths(it, &it.switch.depth, 1)),
        refuse("output_depth", |it| wrong_depths(it, it.switch.output_depth.as_ref()?, 0)),
        refuse("output_depth", |it| {
            let depths = it.switch.output_depth.as_ref()?.by_lane(it.count.into()).ok()?;
            when!(
                depths.contains(&0) && depths.iter().any(|depth| *depth > 0),
                "at an output without a buffer no flit waits for the link, so that all lanes have one or none: give \
                 all lanes a depth of 1 at least, or all of them 0"
            )
        }),
        refuse("output_depth", waits_at_output),
        refuse("flit", |it| {
            let allowed = Bytes(1)..=Bytes(FLIT_MAX_KIB << 10);
            within!(it.switch.flit, allowed, "a flit carries from 1 B to {FLIT_MAX_KIB} KiB")
        }),
        refuse("forwarding", |it| wrong_list(it, &it.switch.forwarding)),
        refuse("allocator.islip.iterations", |it| match it.switch.allocator {
            Allocator::Islip(islip) => wrong_iterations(islip),
            _ => None,
        }),
        refuse("input_speedup", |it| wrong_speedup(it, it.switch.input_speedup, "into")),
        refuse("output_speedup", |it| wrong_speedup(it, it.switch.output_speedup, "out of")),
        refuse("allocator", |it| {
            let PipelineParameters { allocator, input_speedup, output_speedup, .. } = it.switch;
            let changed = [
                ("allocator", *allocator != Allocator::default(), "\"maximal\""),
                ("input_speedup", *input_speedup > 1, "1"),
                ("output_speedup", *output_speedup > 1, "1"),
            ];
            let (key, _, cure) = changed.into_iter().find(|(_, is_changed, _)| *is_changed)?;
            not_in_turn(it, &format!("network.lanes.{key}"), cure)
        }),
    ]
}

pub(super) fn of_cycles<'a>() -> [Check<Pipeline<'a>>; 6] {
    [
        refuse("vc_allocator.islip.iterations", |it| match it.switch.vc_allocator {
            VcAllocator::Islip(islip) => wrong_iterations(islip),
            VcAllocator::Maximal => None,
        }),
        refuse("pipeline_cycles", |it| {
            let cycles = it.switch.pipeline_cycles;
            within!(cycles, 0..=CYCLES_MAX, "a flit is in its lane after 0 to {CYCLES_MAX} cycles")
        }),
        refuse("routing_cycles", |it| {
            let cycles = it.switch.routing_cycles;
            let allowed = 0..=ROUTING_CYCLES_MAX;
            within!(cycles, allowed, "a switch routes in from 0 to {ROUTING_CYCLES_MAX} cycles")
        }),
        refuse("credit_delay", |it| {
            within!(
                it.switch.credit_delay?,
                0..=CYCLES_MAX,
                "a credit takes from 0 to {CYCLES_MAX} cycles back to its sender"
            )
        }),
        refuse("per_vl", |it| {
            let is_given = it.source.scenario.network.lanes.per_vl.is_some();
            when!(
                is_given && !decides_on_lanes(&it.source.scenario.routing),
                "no tables map service levels to VLs: name them with routing.lane_tables, or leave the key out"
            )
        }),
        refuse("per_vl", |it| {
            let (count, per_vl) = (it.count, it.source.scenario.network.lanes.per_vl?);
            within!(
                per_vl,
                1..=count.into(),
                "network.lanes.count is {count}{}, so that a VL owns from 1 to {count} lanes",
                whose(it.source, "network.lanes.count")
            )
        }),
    ]
}

fn wrong_iterations(Islip { iterations }: Islip) -> Option<Sentence> {
    let most = ITERATIONS.end();
    within!(iterations, ITERATIONS, "iSLIP iterates from 1 to {most} times a cycle")
}

fn waits_at_output(it: &Subject<'_, Pipeline<'_>>) -> Option<Sentence> {
    let depths = it.switch.output_depth.as_ref()?.by_lane(it.count.into()).ok()?;
    let link_output = &it.switch.lanes.arbiters.link_output;
    let waits = [
        (it.switch.crossbar == Crossbar::Full, "crossbar", "is \"full\"", "\"multiplexed\""),
        (it.switch.output_speedup > 1, "output_speedup", "is more than 1", "1"),
        (
            *link_output != Scheduler::default(),
            "link_output",
            "chooses otherwise than in turn by the flit",
            "\"round-robin\"",
        ),
    ];
    let (_, key, why, cure) = waits.into_iter().find(|(is_so, ..)| *is_so)?;
    let [depth, other] = ["output_depth", key].map(|key| format!("network.lanes.{key}"));
    let [of_depth, of_other] = [&depth, &other].map(|key| whose(it.source, key));
    let sentence = when!(
        depths.contains(&0),
        "at an output without a buffer no flit waits for the link, and here some would: {depth} is 0{of_depth}, and {other} \
         {why}{of_other}. Say {depth} = 1 or more, or {other} = {cure}"
    );
    Some(sentence?.at(first_written(it.source, &[&depth, &other])))
}

fn wrong_speedup(it: &Subject<'_, Pipeline<'_>>, speedup: i64, way: &str) -> Option<Sentence> {
    let (count, of_count) = (it.count, whose(it.source, "network.lanes.count"));
    if count == 1 {
        return when!(
            speedup != 1,
            "channels have one lane{of_count}, so that a port has one way {way} the crossbar, not {speedup}: leave the key \
             out, or give channels more lanes (network.lanes.count)"
        );
    }
    within!(
        speedup,
        1..=count.into(),
        "network.lanes.count is {count}{of_count}, so that a port has from 1 to {count} ways {way} the crossbar"
    )
}

fn not_in_turn(it: &Subject<'_, Pipeline<'_>>, key: &str, cure: &str) -> Option<Sentence> {
    let of_key = whose(it.source, key);
    if it.switch.crossbar == Crossbar::Full {
        let other = "network.lanes.crossbar";
        let of_other = whose(it.source, other);
        let sentence = say!(
            "every lane has its own way through a full crossbar{of_other}, so that {key}{of_key} has nothing to match: say \
             {key} = {cure}, or {other} = \"multiplexed\""
        );
        return Some(sentence?.at(first_written(it.source, &[key, other])));
    }
    let arbiters = [
        (it.switch.crossbar_input != Scheduler::default(), "network.lanes.crossbar_input"),
        (it.switch.crossbar_output.is_some(), "network.lanes.crossbar_output"),
    ];
    let (_, arbiter) = arbiters.into_iter().find(|(is_said, _)| *is_said)?;
    let sentence = say!(
        "{key}{of_key} takes inputs, outputs and lanes in turn, flit by flit, and {arbiter} chooses otherwise: say \
         {key} = {cure}, or leave {arbiter} out"
    );
    Some(sentence?.at(first_written(it.source, &[key, arbiter])))
}
