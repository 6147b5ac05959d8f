//! Selection of the stepper for a run.

use super::expected::{Moves, moves};
use super::group::RADIX_MAX;
use crate::Refusal;
use crate::lanes::network::ticks_ahead;
use gingham_net::{
    Decision, Endpoints, PipelinePlan, Plan, Scheduler, SteppedBy, Stepping, WhenFull,
};

/// Condition that rules out the column stepper, with the responsible scenario keys and an
/// explanation.
type Row = (bool, &'static [&'static str], &'static str);

pub(crate) fn refusal(plan: &Plan, lanes: &PipelinePlan, endpoints: &Endpoints) -> Option<Refusal> {
    let (routers, beside) = (of_routers(plan, lanes), of_what_is_beside(plan, lanes, endpoints));
    let stands = routers.into_iter().chain(beside).find(|(stands, ..)| *stands);
    stands.map(|(_, keys, because)| Refusal { keys, because })
}

fn of_routers(plan: &Plan, lanes: &PipelinePlan) -> [Row; 7] {
    let round_robin = Scheduler::default();
    [
        (
            plan.routing.is_adaptive(),
            &["routing.adaptive"],
            "routing.adaptive has packets choose at every switch",
        ),
        (
            matches!(plan.routing.decision, Decision::ByLoad { .. }),
            &["routing.alternative.choose"],
            "hosts select paths by the credits of their switch",
        ),
        (
            lanes.input_speedup > 1,
            &["network.lanes.input_speedup"],
            "network.lanes.input_speedup is more than 1",
        ),
        (
            lanes.output_speedup > 1,
            &["network.lanes.output_speedup"],
            "network.lanes.output_speedup is more than 1",
        ),
        (
            lanes.crossbar_output.is_some(),
            &["network.lanes.crossbar_output"],
            "network.lanes.crossbar_output chooses by lane",
        ),
        (
            lanes.crossbar_input != round_robin,
            &["network.lanes.crossbar_input"],
            "network.lanes.crossbar_input is other than round robin by the flit",
        ),
        (
            plan.lanes.link_output != round_robin,
            &["network.lanes.link_output"],
            "network.lanes.link_output is other than round robin by the flit",
        ),
    ]
}

fn of_what_is_beside(plan: &Plan, lanes: &PipelinePlan, endpoints: &Endpoints) -> [Row; 7] {
    let radix = |node| plan.fabric.channels_from(node).count();
    let is_late = |cycles: u64| cycles > TICKS_AHEAD_MAX;
    [
        (
            plan.in_transit.when_full == WhenFull::Stop,
            &["network.in_transit.when_full"],
            "network.in_transit.when_full lets hosts stop their senders",
        ),
        (
            plan.channels.iter().any(|channel| channel.flit != lanes.cycle),
            &["topology"],
            "the channels of the topology differ in their rates",
        ),
        (
            lanes.credit_delay_cycles.is_some_and(|cycles| is_late(1 + u64::from(cycles))),
            &["network.lanes.credit_delay"],
            "network.lanes.credit_delay is of more than 1,024 cycles",
        ),
        (
            is_late(ticks_ahead(plan, lanes)),
            &["network.cable_length", "network.lanes.pipeline_cycles", "topology"],
            "a channel of the topology takes more than 1,024 cycles",
        ),
        (
            plan.fabric.switches().any(|node| radix(node) > RADIX_MAX),
            &["topology"],
            "a switch of the topology has more than 16 ports",
        ),
        (
            endpoints.wanted().read,
            &["network.admission"],
            "network.admission has packets read in switches",
        ),
        (
            !plan.gathered_channels().is_empty(),
            &["network.adapters.congestion_control"],
            "network.adapters.congestion_control counts buffers that are full",
        ),
    ]
}

/// Selects the column stepper if the instructions that it saves for the expected traffic exceed its
/// fixed cost per tick.
pub(crate) fn choose(plan: &Plan, lanes: &PipelinePlan, endpoints: &Endpoints) -> Stepping {
    let moves = moves(plan, lanes);
    if let Some(Refusal { because, keys }) = refusal(plan, lanes, endpoints) {
        let columns_faster = columns_faster(plan, lanes, moves);
        return Stepping { by: SteppedBy::Ports, because, keys, columns_faster };
    }
    if saved_by_columns(plan, moves) > 0.0 {
        let because = "every flit goes in turn, and many move in a tick";
        return Stepping::new(SteppedBy::Columns, because);
    }
    Stepping::new(SteppedBy::Ports, "columns cost more in a tick than they save here")
}

fn saved_by_columns(plan: &Plan, Moves { flits, heads }: Moves) -> f64 {
    flits * SAVED_BY_FLIT + heads * SAVED_BY_HEAD - cost_of_columns(plan)
}

/// Returns the expected instructions of the per-port stepper, divided by the expected instructions
/// of the column stepper; `None` if the run is short or the ratio is small.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate needs few digits, and is small and positive"
)]
fn columns_faster(plan: &Plan, lanes: &PipelinePlan, moves: Moves) -> Option<u32> {
    let by_ports = moves.flits * COST_OF_FLIT + moves.heads * COST_OF_HEAD;
    let ticks = plan.stop.time.as_ps() as f64 / lanes.cycle.as_ps() as f64;
    let factor = by_ports / (by_ports - saved_by_columns(plan, moves));
    let is_noted = by_ports * ticks >= LONG_RUN && factor >= FASTER_MIN;
    is_noted.then_some(factor.round() as u32)
}

/// Minimum ratio of per-port to column-stepper instructions that triggers a warning. The run must
/// also need at least `LONG_RUN` instructions, which take a few seconds.
const FASTER_MIN: f64 = 1.5;
const LONG_RUN: f64 = 1e10;

/// Instructions that the per-port stepper needs for each flit that leaves a switch; each head needs
/// `COST_OF_HEAD` more. The benchmark `lanes-mesh-8x8` needs 464 instructions per hop, and a mesh
/// with one-flit packets 1,368.
const COST_OF_FLIT: f64 = 464.0;
const COST_OF_HEAD: f64 = 1_368.0 - COST_OF_FLIT;

/// Largest delay, in ticks, that the column stepper supports. Its rings are scanned completely at
/// the end of each section: with a delay of 65,535 cycles, a mesh of 256 switches took 9.1 s with
/// the column stepper and 1.0 s with the per-port stepper.
const TICKS_AHEAD_MAX: u64 = 1_024;

/// Instructions that the column stepper saves for each flit that leaves a switch.
/// `benches/columns.py` measures this and the following constants with valgrind. With these
/// constants, `choose` selects the faster stepper in 26 of the 27 scenarios; in the other scenario,
/// the column stepper needs 3 % more instructions.
const SAVED_BY_FLIT: f64 = 271.0;
const SAVED_BY_HEAD: f64 = 287.0;

/// Fixed instructions of the column stepper per tick for each lane of a port; `COST_OF_PAIR` is for
/// each pair of ports.
const COST_OF_LANE: f64 = 92.0;
const COST_OF_PAIR: f64 = 18.0;

#[expect(clippy::cast_precision_loss, reason = "they are far fewer than 2^52")]
fn cost_of_columns(plan: &Plan) -> f64 {
    let mut radixes: Vec<usize> =
        plan.fabric.switches().map(|node| plan.fabric.channels_from(node).count()).collect();
    radixes.sort_unstable();
    let lanes = f64::from(plan.lanes.count.next_power_of_two());
    let of_group = |switches: &[usize]| {
        let ports = switches.last().copied().unwrap_or(0) as f64;
        ports * lanes * COST_OF_LANE + ports * ports * COST_OF_PAIR
    };
    radixes.chunks(64).map(of_group).sum()
}
