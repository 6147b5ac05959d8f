//! Bursts: on periods, in which messages come equally spaced, and silent off periods.
//!
//! ```text
//!   on-time   0  i  2i 3i 4i 5i 6i                     one clock, interval i, that
//!             |  |  |  :  |  |  |  :                   stands still in off periods
//!   time      ├──on──────┤...off.....├──on─────┤...
//! ```
//!
//! The lengths of periods are independent, exponential or Pareto with given means; a Pareto law of
//! both with 1 < shape < 2 makes the sum of many sources self-similar (Willinger, Taqqu, Sherman
//! and Wilson, "Self-similarity through high-variability", IEEE/ACM ToN 5(1), 1997). Because the
//! clock runs on through off periods no part of an interval is lost, so that the mean load is
//! exactly what was asked for, however short a period is. A source begins in its stationary
//! state: on with probability on / (on + off), with the rest of a period that is under way.
//!
//! Invariant: a message is created only within an on period, its beginning included.

use super::arrivals::{Ticks, later, whole_ps};
use gingham_kernel::{Purpose, Span, Stream, Time};

/// How the lengths of periods are distributed around their means.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PeriodLaw {
    /// Exponential.
    Exponential,
    /// Pareto from `mean x (shape - 1) / shape` on.
    Pareto {
        /// Tail index, above 1.
        shape: f64,
    },
}

impl PeriodLaw {
    /// A whole period, in picoseconds.
    fn draw(self, mean_ps: f64, stream: &mut Stream) -> f64 {
        match self {
            Self::Exponential => stream.exponential(mean_ps),
            Self::Pareto { shape } => {
                let least = mean_ps * (shape - 1.0) / shape;
                least * libm::pow(1.0 - stream.unit(), -1.0 / shape)
            }
        }
    }

    /// What is left of a period that is under way at an instant chosen at random: its density is
    /// that of a whole period being longer, divided by the mean.
    fn draw_rest(self, mean_ps: f64, stream: &mut Stream) -> f64 {
        match self {
            Self::Exponential => stream.exponential(mean_ps),
            Self::Pareto { shape } => {
                let least = mean_ps * (shape - 1.0) / shape;
                let below = stream.unit();
                // Up to the least period the density is flat, and holds (shape - 1) / shape.
                if below < (shape - 1.0) / shape {
                    below * mean_ps
                } else {
                    least * libm::pow(shape * (1.0 - below), -1.0 / (shape - 1.0))
                }
            }
        }
    }
}

/// The on and off periods of a source.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PeriodPlan {
    /// Mean length of on periods, above zero.
    pub on_mean: Span,
    /// Mean length of off periods.
    pub off_mean: Span,
    /// Their distribution.
    pub law: PeriodLaw,
}

impl PeriodPlan {
    /// The fraction of time spent in on periods.
    pub fn share_on(&self) -> f64 {
        mean_ps(self.on_mean) / (mean_ps(self.on_mean) + mean_ps(self.off_mean))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a mean needs few digits")]
fn mean_ps(mean: Span) -> f64 {
    mean.as_ps() as f64
}

/// What tells the instants of a source with on and off periods.
#[derive(Clone, Debug)]
pub(super) struct OnOffClock {
    plan: PeriodPlan,
    /// Instants in on-time.
    ticks: Ticks,
    /// Lengths of periods.
    stream: Stream,
    /// The on period at hand, or the next.
    on_begins: Time,
    on_ps: u64,
    /// On-time before it.
    elapsed_ps: u64,
}

impl OnOffClock {
    pub(super) fn new(
        plan: PeriodPlan,
        interval_ps: f64,
        start: Time,
        stream: impl Fn(Purpose) -> Stream,
    ) -> Self {
        let (mut phase, mut periods) = (stream(Purpose::Phase), stream(Purpose::Arrival));
        let ticks = Ticks::with_random_phase(interval_ps, &mut phase);
        let (wait_ps, on_ps) = if phase.unit() < plan.share_on() {
            (0.0, plan.law.draw_rest(mean_ps(plan.on_mean), &mut periods))
        } else {
            let wait_ps = plan.law.draw_rest(mean_ps(plan.off_mean), &mut periods);
            (wait_ps, plan.law.draw(mean_ps(plan.on_mean), &mut periods))
        };
        let on_begins = later(start, whole_ps(wait_ps));
        Self { plan, ticks, stream: periods, on_begins, on_ps: whole_ps(on_ps), elapsed_ps: 0 }
    }

    /// The next instant, unless the on period that holds it begins at `stop` or later.
    pub(super) fn next(&mut self, stop: Time) -> Option<Time> {
        let due_ps = self.ticks.next();
        while due_ps - self.elapsed_ps >= self.on_ps {
            if self.on_begins >= stop {
                return None;
            }
            self.next_period();
        }
        Some(later(self.on_begins, due_ps - self.elapsed_ps))
    }

    fn next_period(&mut self) {
        let law = self.plan.law;
        let off_ps = whole_ps(law.draw(mean_ps(self.plan.off_mean), &mut self.stream));
        self.on_begins = later(self.on_begins, self.on_ps.saturating_add(off_ps));
        self.elapsed_ps += self.on_ps;
        self.on_ps = whole_ps(law.draw(mean_ps(self.plan.on_mean), &mut self.stream));
    }
}
