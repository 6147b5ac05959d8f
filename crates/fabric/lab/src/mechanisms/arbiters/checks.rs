//! Checks of arbiters.

use super::plan::Reader;
use super::served::unserved;
use super::{Among, Place as _};
use crate::check::{Check, Sentence, Subject, note, refuse, when};
use crate::compile::written::whose;
use crate::scenario::{Lanes, PipelineParameters};
use gingham_kernel::Rate;
use gingham_net::{ArbiterPlace, Crossbar, Granularity, Plan, Scheduler, Switching};
use gingham_topology::ChannelId;
use gingham_topology::routing::LaneSet;

const SECOND_PS: f64 = 1e12;
/// Tolerance for rounded cable rates, relative to the byte time.
const ROUNDING: f64 = 1e-6;

pub(crate) fn of_packets<'a>() -> [Check<&'a Lanes>; 2] {
    [
        refuse("link_output", |it| {
            by_the_flit(it, ArbiterPlace::LinkOutput, it.link_output.as_ref())
        }),
        refuse("adapter_port", |it| {
            by_the_flit(it, ArbiterPlace::AdapterPort, it.adapter_port.as_ref())
        }),
    ]
}

fn by_the_flit(
    it: &Subject<'_, &Lanes>,
    place: ArbiterPlace,
    written: Option<&Scheduler>,
) -> Option<Sentence> {
    let facts = written?.facts();
    let key = format!("{}.by", facts.name);
    let is_written = it.source.tree.get(&format!("{}.{key}", place.key())).is_some();
    let sentence = when!(
        is_written && facts.by == Granularity::Flit,
        "whole packets are not cut into flits, so that an arbiter chooses by the packet: say by = \"packet\", \
         or leave the key out"
    );
    Some(sentence?.under(key))
}

pub(super) fn of_crossbar<'a>() -> [Check<&'a PipelineParameters>; 2] {
    [
        refuse("crossbar_input", |it| {
            full_crossbar(it, "into").filter(|_| it.crossbar_input != Scheduler::default())
        }),
        refuse("crossbar_output", |it| {
            full_crossbar(it, "out of").filter(|_| it.crossbar_output.is_some())
        }),
    ]
}

fn full_crossbar(it: &Subject<'_, &PipelineParameters>, way: &str) -> Option<Sentence> {
    when!(
        it.crossbar == Crossbar::Full,
        "every lane has its own way {way} a full crossbar{}, so that nothing chooses there: leave the key out, or say \
         network.lanes.crossbar = \"multiplexed\"",
        whose(it.source, "network.lanes.crossbar")
    )
}

pub(super) fn of_place<'a>() -> [Check<&'a Reader<'a>>; 1] {
    [refuse("", |it| {
        let Among { count, cut_through, .. } = it.among;
        let is_by_packet = it.written.facts().by == Granularity::Packet;
        when!(
            is_by_packet && cut_through != LaneSet::first_n(count),
            "by the packet, a packet that waits for credits would hold up the other lanes: let all lanes \
             have forwarding = \"virtual-cut-through\", or choose by = \"flit\" (not under infiniband)"
        )
    })]
}

pub(crate) fn of_plan<'a>() -> [Check<&'a Plan>; 6] {
    [
        note(|it| idle_link(it.of)),
        note(|it| over_reserved(it.of, ArbiterPlace::CrossbarInput)),
        note(|it| over_reserved(it.of, ArbiterPlace::CrossbarOutput)),
        note(|it| over_reserved(it.of, ArbiterPlace::LinkOutput)),
        note(|it| over_reserved(it.of, ArbiterPlace::AdapterPort)),
        refuse("network.lanes", |it| unserved(it.of)),
    ]
}

/// Notes that an arbiter of a link has no choice: a multiplexed crossbar delivers one flit per
/// cycle to the output, which sends one flit per cycle.
fn idle_link(plan: &Plan) -> Option<Sentence> {
    let Switching::VirtualLanes(pipeline) = &plan.switching else { return None };
    let is_chosen = !matches!(plan.lanes.link_output, Scheduler::RoundRobin(_));
    let is_as_fast = |channel: ChannelId| plan.channel(channel).flit <= pipeline.cycle;
    when!(
        is_chosen
            && plan.lanes.count > 1
            && pipeline.crossbar == Crossbar::Multiplexed
            && pipeline.output_speedup == 1
            && channels(plan, true).all(is_as_fast),
        "behind a multiplexed crossbar `network.lanes.link_output` has nothing to choose from while there are \
         credits, for an output is given one flit a cycle and its cable takes one: say crossbar = \"full\", or \
         how `network.lanes.crossbar_output` and `network.lanes.crossbar_input` choose"
    )
}

fn channels(plan: &Plan, at_switches: bool) -> impl Iterator<Item = ChannelId> {
    ChannelId::first(plan.channels.len())
        .filter(move |channel| plan.is_switch(plan.ends(*channel).source.node) == at_switches)
}

fn over_reserved(plan: &Plan, place: ArbiterPlace) -> Option<Sentence> {
    let Scheduler::VirtualClock(clock) = plan.arbiter(place)? else { return None };
    let rates = clock.rates.iter().filter_map(|rate| rate.bytes_per_second());
    let reserved = rates.fold(0_u64, |sum, rate| sum.saturating_add(rate.get()));
    let times = channels(plan, place != ArbiterPlace::AdapterPort).map(|it| plan.byte_ps(it));
    let carried = SECOND_PS / times.max_by(f64::total_cmp)?;
    #[expect(clippy::cast_precision_loss, reason = "a rate of eighteen digits is beyond any cable")]
    let is_beyond = reserved as f64 > carried * (1.0 + ROUNDING);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bytes in a second of a cable that carries a flit in a picosecond or more"
    )]
    let carried = carried.round() as u64;
    when!(
        is_beyond && carried > 0,
        "`{}` reserves {} in all, and the slowest cable there carries {}: lanes that reserve more than they get are \
             served as their flits come",
        place.key(),
        Rate::from_bytes_per_second(reserved),
        Rate::from_bytes_per_second(carried)
    )
}
