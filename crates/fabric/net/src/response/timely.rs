//! TIMELY: the gradient of round-trip times raises or lowers the rate of a flow.
//!
//! ```text
//!   d := (1 - alpha) d + alpha (rtt - previous rtt)          gradient: d / min_rtt
//!
//!   rtt < t_low        rate + additive                       tolerates bursts
//!   rtt > t_high       rate (1 - beta (1 - t_high / rtt))    bounds the queue
//!   gradient <= 0      rate + n additive                     n = 5 from the fifth time in a row on, else 1
//!   gradient > 0       rate (1 - beta gradient)
//! ```
//!
//! Marks have no effect. The first round trip of a flow has no predecessor and changes nothing.
//!
//! Source: Mittal et al., TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM 2015,
//! algorithm 1 and section 4.3, quoted from memory.

use super::rate::Highest;
use super::{Adapt, Limits, Rate, Respond, RoundTrip};
use gingham_kernel::{Rate as DataRate, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `timely`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Timely {
    /// Weight of the latest difference between round-trip times, above 0 and at most 1. Default:
    /// 0.875.
    pub alpha: f64,
    /// Multiplier of rate decreases, above 0 and at most 1. Default: 0.8.
    pub beta: f64,
    /// `delta`: increase of the rate. Default: 1/1000 of the highest rate, 10 Mbit/s at 10 Gbit/s.
    pub additive: Option<DataRate>,
    /// `T_low`: round-trip time below which the rate rises. Default: 50 us.
    pub t_low: Span,
    /// `T_high`: round-trip time above which the rate falls. Default: 500 us.
    pub t_high: Span,
    /// Round-trip time on an idle path, the unit of the gradient. Default: 20 us.
    pub min_rtt: Span,
    /// Lowest rate, above 0 and at most 1, as a fraction of the highest rate (the class's rate
    /// limit, or the full link rate). Default: 1/1000.
    pub lowest: f64,
}

const ADDITIVE: f64 = 1.0 / 1_000.0;
/// Number of consecutive gradients of at most 0 that start hyperactive increase, and its
/// multiplier.
const HYPERACTIVE: u32 = 5;

impl Default for Timely {
    /// Returns the parameters for 10 Gbit/s links in the simulator of Li et al. 2019 (HPCC), except
    /// `lowest`, which follows the simulator's lowest rate for 100 Gbit/s links, 100 Mbit/s. Scaling
    /// `additive` and `lowest` with the highest rate is our choice.
    fn default() -> Self {
        Self {
            alpha: 0.875,
            beta: 0.8,
            additive: None,
            t_low: Span::from_ps(50_000_000),
            t_high: Span::from_ps(500_000_000),
            min_rtt: Span::from_ps(20_000_000),
            lowest: 1.0 / 1_000.0,
        }
    }
}

impl Respond for Timely {
    type Memory = Box<Gradient>;

    fn marking(&self) -> Option<&'static str> {
        None
    }

    fn needs_round_trips(&self) -> bool {
        true
    }

    fn lowest(&self) -> Option<f64> {
        Some(self.lowest)
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        for (key, share) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(share > 0.0 && share <= 1.0) {
                return Err((key, format!("a weight is above 0 and at most 1, not {share}")));
            }
        }
        if self.min_rtt == Span::ZERO {
            return Err(("min_rtt", "a round trip takes some time, not 0 ps".to_owned()));
        }
        if self.t_low > self.t_high {
            let (low, high) = (self.t_low, self.t_high);
            return Err(("t_low", format!("{low} is above t_high, {high}")));
        }
        Ok(())
    }

    fn start(&self, limits: &Limits) -> Box<Gradient> {
        let share = |rate| Highest::new(limits).share(rate);
        Box::new(Gradient {
            step: self.additive.map_or(ADDITIVE, share),
            parameters: *self,
            rate: Rate::new(self.lowest, limits),
            previous: None,
            difference_ps: 0.0,
            falling: 0,
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Gradient {
    parameters: Timely,
    step: f64,
    rate: Rate,
    previous: Option<Span>,
    difference_ps: f64,
    falling: u32,
}

impl Adapt for Box<Gradient> {
    #[expect(clippy::cast_precision_loss, reason = "times of a run")]
    fn measured(&mut self, trip: RoundTrip, limits: &mut Limits, _now: Time) {
        let Timely { alpha, beta, t_low, t_high, min_rtt, .. } = self.parameters;
        let ps = |span: Span| span.as_ps() as f64;
        let Some(previous) = self.previous.replace(trip.span) else { return };
        let latest = ps(trip.span) - ps(previous);
        self.difference_ps = (1.0 - alpha) * self.difference_ps + alpha * latest;
        let gradient = self.difference_ps / ps(min_rtt);
        let is_between = trip.span >= t_low && trip.span <= t_high;
        self.falling = if is_between && gradient <= 0.0 { self.falling + 1 } else { 0 };
        let share = self.rate.share();
        let share = if trip.span < t_low {
            share + self.step
        } else if trip.span > t_high {
            share * (1.0 - beta * (1.0 - ps(t_high) / ps(trip.span)))
        } else if gradient <= 0.0 {
            let factor = if self.falling >= HYPERACTIVE { f64::from(HYPERACTIVE) } else { 1.0 };
            share + factor * self.step
        } else {
            share * (1.0 - beta * gradient)
        };
        self.rate.set(share, limits);
    }
}
