//! When a class sends: its start and stop, its load, and its arrival process.

use super::context::ClassContext;
use crate::error::LabError;
use gingham_kernel::{Span, Time};
use gingham_net::traffic::{
    ArrivalPlan, Arrivals, LengthPlan, OnOff, OnOffPareto, PeriodLaw, PeriodPlan,
};
use gingham_topology::EndpointId;
use std::ops::Range;

/// The longest period: no run lasts longer.
pub(crate) const PERIOD_MAX: Span = Span::from_ps(1_000_000 * 1_000_000_000_000);
/// Means of a heavier tail are not reached within any run.
pub(crate) const SHAPE_MIN: f64 = 1.01;
/// Periods that pass by without a message cost time and mean nothing.
const PERIODS_PER_MESSAGE_MAX: f64 = 1_000.0;
/// Loads that add up to 1 may miss it by so much.
const ROUNDING: f64 = 1e-9;

/// Whether a source with this load would send more than its link carries.
pub(crate) fn is_too_much(load: f64) -> bool {
    load > 1.0 + ROUNDING
}

/// A limit of a load as a message gives it: with few digits, and never above the limit.
pub(crate) fn shown_limit(load: f64) -> f64 {
    let mut scale = 1e4;
    while load * scale < 1e3 {
        scale *= 10.0;
    }
    (load * scale).floor() / scale
}

/// From its start to its stop.
pub(crate) fn active(context: &ClassContext<'_>) -> Result<Range<Time>, LabError> {
    let (start, end) =
        (context.class.start.unwrap_or(Span::ZERO), context.source.scenario.stop.time);
    if context.class.start.is_some() && start >= end {
        let message = format!("the class starts at {start}, but the run ends at {end}");
        return Err(context.error("start", message).into());
    }
    match context.class.stop {
        Some(stop) if stop <= start => {
            let message = format!("the class stops at {stop}, not after its start at {start}");
            Err(context.error("stop", message).into())
        }
        stop => Ok(Time::ZERO + start..stop.map_or(Time::MAX, |stop| Time::ZERO + stop)),
    }
}

/// The arrival process of a class that draws its messages, at the load of the class.
pub(crate) fn arrivals(context: &ClassContext<'_>) -> Result<ArrivalPlan, LabError> {
    let plan = match &context.class.arrivals {
        Arrivals::Poisson => ArrivalPlan::Poisson { load: load(context, "poisson")? },
        Arrivals::Bernoulli => bernoulli(context)?,
        Arrivals::Constant(constant) => {
            ArrivalPlan::Constant { load: load(context, "constant")?, phase: constant.phase }
        }
        Arrivals::OnOff(OnOff { on, off }) => {
            let load = load(context, "on-off")?;
            let periods = periods(context, "on-off", *on, *off, PeriodLaw::Exponential)?;
            ArrivalPlan::OnOff { load, periods }
        }
        Arrivals::OnOffPareto(OnOffPareto { on, off, shape }) => {
            let load = load(context, "on-off-pareto")?;
            if !(*shape >= SHAPE_MIN && shape.is_finite()) {
                let message = format!(
                    "a tail index is above 1, from {SHAPE_MIN} on, not {shape}; 1.2 to 1.9 are usual"
                );
                return Err(context.error("arrivals.on-off-pareto.shape", message).into());
            }
            let law = PeriodLaw::Pareto { shape: *shape };
            let periods = periods(context, "on-off-pareto", *on, *off, law)?;
            ArrivalPlan::OnOff { load, periods }
        }
        Arrivals::Backlogged if context.class.load.is_some() => {
            let message = "a backlogged class sends all it can and takes no load";
            return Err(context.error("load", message).into());
        }
        Arrivals::Backlogged => ArrivalPlan::Backlogged,
        Arrivals::Schedule(_) | Arrivals::Reply(_) => {
            unreachable!("neither schedules nor replies draw arrivals")
        }
    };
    check_peak(context, &plan)?;
    Ok(plan)
}

fn bernoulli(context: &ClassContext<'_>) -> Result<ArrivalPlan, LabError> {
    let load = load(context, "bernoulli")?;
    let Some(cycle) = context.links.cycle() else {
        let message = "bernoulli arrivals are drawn at cycles, and only switches of five stages have cycles; \
                       poisson goes with all: say \"poisson\", or network.switching = \"virtual-lanes\"";
        return Err(context.error("arrivals", message).into());
    };
    Ok(ArrivalPlan::Bernoulli { load, cycle })
}

fn load(context: &ClassContext<'_>, arrivals: &str) -> Result<f64, LabError> {
    let message = match context.class.load {
        Some(load) if load > 0.0 && load <= 1.0 => return Ok(load),
        Some(load) => {
            format!("a load is the fraction of a host's link, above 0 and at most 1, not {load}")
        }
        None => format!("{arrivals} arrivals need a load, such as load = 0.3"),
    };
    Err(context.error("load", message).into())
}

fn periods(
    context: &ClassContext<'_>,
    name: &str,
    on: Span,
    off: Span,
    law: PeriodLaw,
) -> Result<PeriodPlan, LabError> {
    if on == Span::ZERO {
        let message = "an on period must last; nothing is sent otherwise";
        return Err(context.error(&format!("arrivals.{name}.on"), message).into());
    }
    for (key, period) in [("on", on), ("off", off)] {
        if period > PERIOD_MAX {
            let message = format!("a period lasts {PERIOD_MAX} at most, not {period}");
            return Err(context.error(&format!("arrivals.{name}.{key}"), message).into());
        }
    }
    Ok(PeriodPlan { on_mean: on, off_mean: off, law })
}

/// Refuses bursts that a link cannot carry.
fn check_peak(context: &ClassContext<'_>, plan: &ArrivalPlan) -> Result<(), LabError> {
    let (ArrivalPlan::OnOff { load, periods }, Some(peak)) = (plan, plan.peak_load()) else {
        return Ok(());
    };
    if !is_too_much(peak) {
        return Ok(());
    }
    let message = format!(
        "with a load of {load} over periods of {} and {} a host sends {peak:.2} times what its link carries \
         while it is on; the load may be {} at most",
        periods.on_mean,
        periods.off_mean,
        shown_limit(periods.share_on())
    );
    Err(context.error("load", message).into())
}

/// Refuses coins that would have to create more than a message a cycle.
pub(crate) fn check_cycles(
    context: &ClassContext<'_>,
    host: EndpointId,
    plan: &ArrivalPlan,
    lengths: &LengthPlan,
) -> Result<(), LabError> {
    let ArrivalPlan::Bernoulli { load, cycle } = plan else { return Ok(()) };
    let byte_ps = context.links.byte_ps(host);
    let interval_ps = plan.interval_mean_ps(lengths.mean_bytes(), byte_ps).unwrap_or(0.0);
    #[expect(clippy::cast_precision_loss, reason = "a ratio needs few digits")]
    let cycle_ps = cycle.as_ps() as f64;
    if interval_ps >= cycle_ps * (1.0 - ROUNDING) {
        return Ok(());
    }
    let message = format!(
        "with messages of {} B on average a host would have to create {:.2} of them in a cycle, and creates one at most: \
         let them be longer, or the load at most {}",
        lengths.mean_bytes(),
        cycle_ps / interval_ps,
        shown_limit(load * interval_ps / cycle_ps)
    );
    Err(context.error("load", message).into())
}

/// Refuses on periods so short that thousands of them pass between two messages of a host.
pub(crate) fn check_periods(
    context: &ClassContext<'_>,
    host: EndpointId,
    plan: &ArrivalPlan,
    lengths: &LengthPlan,
) -> Result<(), LabError> {
    let ArrivalPlan::OnOff { periods, .. } = plan else { return Ok(()) };
    let interval_ps =
        plan.interval_mean_ps(lengths.mean_bytes(), context.links.byte_ps(host)).unwrap_or(0.0);
    #[expect(clippy::cast_precision_loss, reason = "a ratio needs few digits")]
    let periods_per_message = interval_ps * periods.share_on() / periods.on_mean.as_ps() as f64;
    if periods_per_message <= PERIODS_PER_MESSAGE_MAX {
        return Ok(());
    }
    let message = format!(
        "{periods_per_message:.0} on periods of {} pass between two messages of {}; at most \
         {PERIODS_PER_MESSAGE_MAX} may, so make the periods longer or the load larger",
        periods.on_mean,
        context.fabric.endpoint_name(host)
    );
    Err(context.error("arrivals", message).into())
}
