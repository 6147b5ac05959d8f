//! In-transit hosts: their figures.

use crate::compile::cables::{DELAY_MAX, RATE_MIN};
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::{InTransit, Parameters, ScenarioSource};
use gingham_net::{InTransitParameters, InTransitPlan, WhenPoolFull};
use gingham_topology::Fabric;
use gingham_topology::routing::{Ejection, FallBacks, Routes};

/// Switches that a note names.
const SWITCHES_NAMED: usize = 4;

/// The figures in force as integers.
pub(crate) fn plan(
    source: &ScenarioSource,
    parameters: &Parameters,
) -> Result<InTransitPlan, LabError> {
    let InTransitParameters { detection, programming, spill_delay, spill_rate, .. } =
        parameters.in_transit;
    let refuse = |key: &str, message: String| -> LabError {
        source.refuse(&format!("network.in_transit.{key}"), message).into()
    };
    check_spilling(source)?;
    let delays =
        [("detection", detection), ("programming", programming), ("spill_delay", spill_delay)];
    if let Some((key, delay)) = delays.into_iter().find(|(_, delay)| *delay > DELAY_MAX) {
        let message = format!("a delay is at most {DELAY_MAX}, not {delay}");
        return Err(refuse(key, message));
    }
    if spill_rate < RATE_MIN {
        let message =
            format!("the bus to a host's memory carries at least {RATE_MIN}, not {spill_rate}");
        return Err(refuse("spill_rate", message));
    }
    Ok(parameters.in_transit.plan())
}

/// What the proof may rely on: a host that spills takes in whatever comes.
pub(crate) fn ejection(parameters: &Parameters) -> Ejection {
    match parameters.in_transit.when_full {
        WhenPoolFull::Spill => Ejection::Always,
        WhenPoolFull::Stop => Ejection::UntilFull,
    }
}

/// What spilling costs means nothing where nothing spills.
fn check_spilling(source: &ScenarioSource) -> Result<(), LabError> {
    let written = &source.scenario.network.in_transit;
    if written.when_full != Some(WhenPoolFull::Stop) {
        return Ok(());
    }
    let given = [
        ("spill_delay", written.spill_delay.is_some()),
        ("spill_rate", written.spill_rate.is_some()),
    ];
    let Some((key, _)) = given.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
    let message = "says what spilling costs, and with when_full = \"stop\" nothing spills: leave it out, or say when_full \
                   = \"spill\"";
    Err(source.refuse(&format!("network.in_transit.{key}"), message).into())
}

/// Says where the section is there for nothing.
pub(crate) fn note_unused(source: &ScenarioSource, sets: &[Routes], gathered: &mut Gathered) {
    let is_written = source.scenario.network.in_transit != InTransit::default();
    if is_written && !sets.iter().any(Routes::has_in_transit_hosts) {
        let note = "no path leads through an in-transit host, so that network.in_transit changes nothing; routing.algorithm \
                    = \"in-transit\" makes such paths";
        gathered.notes.push(note.to_owned());
    }
}

/// Says which pairs go a longer way than in-transit hosts should spare them, and why.
pub(crate) fn note_fall_backs(fabric: &Fabric, sets: &[Routes], gathered: &mut Gathered) {
    for routes in sets {
        let Routes::Source(routes) = routes else { continue };
        let FallBacks { pairs, switches } = routes.fall_backs();
        if *pairs == 0 {
            continue;
        }
        let named = switches.iter().take(SWITCHES_NAMED);
        let named: Vec<_> = named.map(|switch| fabric.node(*switch).name.as_str()).collect();
        let rest = if switches.len() > SWITCHES_NAMED { ", ..." } else { "" };
        gathered.notes.push(format!(
            "{pairs} pairs of hosts go a longer way than their shortest, which turns from down to up at switches without a \
             host that could send packets on ({}{rest})",
            named.join(", ")
        ));
    }
}
