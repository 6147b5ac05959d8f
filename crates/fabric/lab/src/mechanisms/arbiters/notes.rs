//! What of arbiters surprises: a link that has nothing to choose from, rates that no cable carries.

use super::Place as _;
use crate::compile::gathered::Gathered;
use gingham_kernel::Rate;
use gingham_net::{ArbiterPlace, Crossbar, PipelinePlan, Plan, Scheduler};
use gingham_topology::ChannelId;

/// Picoseconds of a second.
const SECOND_PS: f64 = 1e12;
/// By so much of it the time of a byte may be off where the rate of a cable was rounded.
const ROUNDING: f64 = 1e-6;

/// Says where arbiters reserve more than there is.
pub(crate) fn note_over_reserved(plan: &Plan, gathered: &mut Gathered) {
    let notes = ArbiterPlace::ALL.map(|place| over_reserved(plan, place, plan.arbiter(place)?));
    gathered.notes.extend(notes.into_iter().flatten());
}

/// The channels that begin at switches, or at hosts.
fn channels(plan: &Plan, at_switches: bool) -> impl Iterator<Item = ChannelId> {
    ChannelId::first(plan.channels.len())
        .filter(move |channel| plan.is_switch(plan.ends(*channel).source.node) == at_switches)
}

/// The link output of a multiplexed crossbar gets a flit a cycle, and has next to nothing to choose
/// from unless its cable is slower.
pub(crate) fn note_idle_link(plan: &Plan, pipeline: &PipelinePlan, gathered: &mut Gathered) {
    let lanes = &plan.lanes;
    let is_told = !matches!(lanes.link_output, Scheduler::RoundRobin(_)) && lanes.count > 1;
    let is_as_fast = |channel: ChannelId| plan.channel(channel).flit <= pipeline.cycle;
    let is_idle = is_told
        && pipeline.crossbar == Crossbar::Multiplexed
        && pipeline.output_speedup == 1
        && channels(plan, true).all(is_as_fast);
    if is_idle {
        let note = "behind a multiplexed crossbar `network.lanes.link_output` has nothing to choose from while there are \
                    credits, for an output is given one flit a cycle and its cable takes one: say crossbar = \"full\", or \
                    how `network.lanes.crossbar_output` and `network.lanes.crossbar_input` choose";
        gathered.notes.push(note.to_owned());
    }
}

/// Virtual clock that reserves more than there is.
fn over_reserved(plan: &Plan, place: ArbiterPlace, scheduler: &Scheduler) -> Option<String> {
    let Scheduler::VirtualClock(clock) = scheduler else { return None };
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
    (is_beyond && carried > 0).then(|| {
        format!(
            "`{}` reserves {} in all, and the slowest cable there carries {}: lanes that reserve more than they get are \
             served as their flits come",
            place.key(),
            Rate::from_bytes_per_second(reserved),
            Rate::from_bytes_per_second(carried)
        )
    })
}
