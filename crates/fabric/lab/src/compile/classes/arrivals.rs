//! Send times of a class.

use super::context::ClassContext;
use crate::catalogue::name_of;
use crate::check::{Check, SHARE, Sentence, check, outside, refuse, say, when, within};
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use gingham_kernel::{Span, Time};
use gingham_net::traffic::{
    ArrivalPlan, Arrivals, LengthPlan, OnOff, OnOffPareto, PeriodLaw, PeriodPlan,
};
use gingham_topology::EndpointId;
use std::ops::{Range, RangeInclusive};

/// Longest allowed on-period or off-period; no run is longer.
const PERIOD_MAX: Span = Span::from_ps(1_000_000 * 1_000_000_000_000);
/// Allowed tail indices; with a heavier tail, no run would reach the mean.
pub(crate) const SHAPES: RangeInclusive<f64> = 1.01..=f64::MAX;
/// Maximum number of on-periods between two messages; on-periods without a message only cost time.
const PERIODS_PER_MESSAGE_MAX: f64 = 1_000.0;
const ROUNDING: f64 = 1e-9;

pub(crate) fn is_too_much(load: f64) -> bool {
    load > 1.0 + ROUNDING
}

pub(crate) fn shown_limit(load: f64) -> f64 {
    let mut scale = 1e4;
    while load * scale < 1e3 {
        scale *= 10.0;
    }
    (load * scale).floor() / scale
}

pub(super) fn of_times<'a>() -> [Check<&'a ClassContext<'a>>; 2] {
    [
        refuse("start", |it| {
            let (start, end) = (it.class.start?, it.source.scenario.stop.time);
            when!(start >= end, "the class starts at {start}, but the run ends at {end}")
        }),
        refuse("stop", |it| {
            let (start, stop) = (it.class.start.unwrap_or(Span::ZERO), it.class.stop?);
            when!(stop <= start, "the class stops at {stop}, not after its start at {start}")
        }),
    ]
}

pub(super) fn active(context: &ClassContext<'_>) -> Range<Time> {
    let start = context.class.start.unwrap_or(Span::ZERO);
    Time::ZERO + start..context.class.stop.map_or(Time::MAX, |stop| Time::ZERO + stop)
}

pub(super) fn arrivals(
    context: &ClassContext<'_>,
    gathered: &mut Gathered,
) -> Result<ArrivalPlan, LabError> {
    check(&of_arrivals(), &context.subject(context), gathered)?;
    let load = context.class.load.unwrap_or(1.0);
    Ok(match &context.class.arrivals {
        Arrivals::Poisson => ArrivalPlan::Poisson { load },
        Arrivals::Bernoulli => {
            let cycle = context.links.cycle().expect("a check refuses networks without cycles");
            ArrivalPlan::Bernoulli { load, cycle }
        }
        Arrivals::Constant(constant) => ArrivalPlan::Constant { load, phase: constant.phase },
        Arrivals::Backlogged => ArrivalPlan::Backlogged,
        of @ (Arrivals::OnOff(_) | Arrivals::OnOffPareto(_)) => {
            let periods = periods(of).expect("arrivals with periods");
            ArrivalPlan::OnOff { load, periods }
        }
        Arrivals::Schedule(_) | Arrivals::Reply(_) => {
            unreachable!("neither schedules nor replies draw arrivals")
        }
    })
}

fn periods(of: &Arrivals) -> Option<PeriodPlan> {
    let (on, off, law) = match *of {
        Arrivals::OnOff(OnOff { on, off }) => (on, off, PeriodLaw::Exponential),
        Arrivals::OnOffPareto(OnOffPareto { on, off, shape }) => {
            (on, off, PeriodLaw::Pareto { shape })
        }
        _ => return None,
    };
    Some(PeriodPlan { on_mean: on, off_mean: off, law })
}

fn of_arrivals<'a>() -> [Check<&'a ClassContext<'a>>; 5] {
    [
        refuse("load", |it| match (&it.class.arrivals, it.class.load) {
            (Arrivals::Backlogged, Some(_)) => {
                say!("a backlogged class sends all it can and takes no load")
            }
            (Arrivals::Backlogged, None) => None,
            (_, Some(load)) => {
                let rule = "a load is the fraction of a host's link, above 0 and at most 1";
                within!(load, SHARE, "{rule}")
            }
            (of, None) => say!("{} arrivals need a load, such as load = 0.3", name_of(of)),
        }),
        refuse("arrivals", |it| {
            let is_bernoulli = matches!(it.class.arrivals, Arrivals::Bernoulli);
            when!(
                is_bernoulli && it.links.cycle().is_none(),
                "bernoulli arrivals are drawn at cycles, and only switches of five stages have cycles; \
                 poisson goes with all: say \"poisson\", or network.switching = \"virtual-lanes\""
            )
        }),
        refuse("arrivals.on-off-pareto.shape", |it| {
            let Arrivals::OnOffPareto(OnOffPareto { shape, .. }) = it.class.arrivals else {
                return None;
            };
            let shape = outside(shape, SHAPES)?;
            let least = SHAPES.start();
            say!("a tail index is above 1, from {least} on, not {shape}; 1.2 to 1.9 are usual")
        }),
        refuse("arrivals", |it| {
            let PeriodPlan { on_mean, off_mean, .. } = periods(&it.class.arrivals)?;
            wrong_periods(&name_of(&it.class.arrivals), on_mean, off_mean)
        }),
        refuse("load", |it| {
            let (load, periods) = (it.class.load?, periods(&it.class.arrivals)?);
            let PeriodPlan { on_mean, off_mean, .. } = periods;
            let peak = ArrivalPlan::OnOff { load, periods }.peak_load()?;
            when!(
                is_too_much(peak),
                "with a load of {load} over periods of {on_mean} and {off_mean} a host sends {peak:.2} times what its link carries \
                 while it is on; the load may be {} at most",
                shown_limit(periods.share_on())
            )
        }),
    ]
}

pub(crate) fn wrong_periods(table: &str, on: Span, off: Span) -> Option<Sentence> {
    let key = |key: &str| format!("{table}.{key}");
    if on == Span::ZERO {
        return Some(say!("an on period must last; nothing is sent otherwise")?.under(key("on")));
    }
    [("on", on), ("off", off)].into_iter().find_map(|(name, period)| {
        let sentence = within!(period, ..=PERIOD_MAX, "a period lasts {PERIOD_MAX} at most");
        Some(sentence?.under(key(name)))
    })
}

pub(super) struct Sending<'a> {
    pub(super) context: &'a ClassContext<'a>,
    pub(super) host: EndpointId,
    pub(super) plan: &'a ArrivalPlan,
    pub(super) lengths: &'a LengthPlan,
}

impl Sending<'_> {
    fn interval_ps(&self) -> f64 {
        let byte_ps = self.context.links.byte_ps(self.host);
        self.plan.interval_mean_ps(self.lengths.mean_bytes(), byte_ps).unwrap_or(0.0)
    }
}

/// Refuses Bernoulli loads above one message per cycle, and too many on-periods between two
/// messages.
pub(super) fn of_host<'a>() -> [Check<Sending<'a>>; 2] {
    [
        refuse("arrivals", |it| {
            let ArrivalPlan::OnOff { periods, .. } = it.plan else { return None };
            let on_ps = it.interval_ps() * periods.share_on();
            #[expect(clippy::cast_precision_loss, reason = "a ratio needs few digits")]
            let periods_per_message = on_ps / periods.on_mean.as_ps() as f64;
            when!(
                periods_per_message > PERIODS_PER_MESSAGE_MAX,
                "{periods_per_message:.0} on periods of {} pass between two messages of {}; at most \
                 {PERIODS_PER_MESSAGE_MAX} may, so make the periods longer or the load larger",
                periods.on_mean,
                it.context.fabric.endpoint_name(it.host)
            )
        }),
        refuse("load", |it| {
            let ArrivalPlan::Bernoulli { load, cycle } = it.plan else { return None };
            #[expect(clippy::cast_precision_loss, reason = "a ratio needs few digits")]
            let (interval_ps, cycle_ps) = (it.interval_ps(), cycle.as_ps() as f64);
            when!(
                interval_ps < cycle_ps * (1.0 - ROUNDING),
                "with messages of {} B on average a host would have to create {:.2} of them in a cycle, and creates one at most: \
                 let them be longer, or the load at most {}",
                it.lengths.mean_bytes(),
                cycle_ps / interval_ps,
                shown_limit(load * interval_ps / cycle_ps)
            )
        }),
    ]
}
