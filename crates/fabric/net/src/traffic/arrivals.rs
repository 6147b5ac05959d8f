//! Arrival processes: times of message creation.
//!
//! The load of a source is the fraction of link time that its payload takes: `interval = mean
//! payload x byte time / load`.
//!
//! Invariants: arrival times never decrease, and never precede the start of the class.

use super::on_off::{OnOffClock, PeriodPlan};
use super::ticks::{Ticks, later, whole_ps};
use crate::bare_names::accept_bare_names;
use gingham_kernel::{FileName, Purpose, Span, Stream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arrival process of a class, as named in scenarios.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = accept_bare_names)]
pub enum Arrivals {
    /// Poisson: independent exponential intervals, whose mean follows from the load.
    #[schemars(extend("x-source" = "textbook"))]
    Poisson,
    /// Bernoulli: in every switch cycle, a message is created with a constant probability, which
    /// follows from the load. Only for switches with cycles.
    #[schemars(extend("x-source" = "textbook; BookSim 2, src/injection.cpp", "x-needs" = "cycles"))]
    Bernoulli,
    /// Equal intervals. The phase is random unless configured.
    #[schemars(extend("x-source" = "Flich et al. 2001, section IV-A"))]
    Constant(Constant),
    /// Bursts: equal intervals in on-periods, no messages in off-periods. Period lengths are
    /// exponentially distributed; the load is the mean over on- and off-periods.
    #[schemars(extend("x-source" = "textbook", "x-example" = r#"{ on-off = { on = "20 us", off = "80 us" } }"#))]
    OnOff(OnOff),
    /// Bursts whose period lengths follow a Pareto distribution: the combined traffic of many hosts
    /// is self-similar.
    #[schemars(extend("x-source" = "Willinger, Taqqu, Sherman and Wilson 1997"))]
    #[schemars(extend("x-example" = r#"{ on-off-pareto = { on = "20 us", off = "80 us", shape = 1.5 } }"#))]
    OnOffPareto(OnOffPareto),
    /// A message is always waiting to be sent; `load` does not apply.
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 3.1"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
arrivals = "backlogged"
length = { fixed = "64 B" }"#))]
    Backlogged,
    /// Messages from a CSV file in time order, with the columns `created_ps`, `source`,
    /// `destination` and `payload_bytes` of the message table. The path is relative to the
    /// scenario. `load`, `length`, `destinations` and `hosts` do not apply.
    #[schemars(extend("x-source" = "ours"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
arrivals = { schedule = "schedule.csv" }"#))]
    Schedule(FileName),
    /// A reply to each message of another class that is delivered to the host. Replies are created
    /// only while their own class sends. `load` and `destinations` do not apply.
    #[schemars(extend("x-source" = "textbook"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
name = "replies"
arrivals = { reply = { to = "requests", think = "1 us" } }
length = { fixed = "64 B" }
[[traffic]]
name = "requests"
load = 0.05
length = { fixed = "64 B" }"#))]
    Reply(Reply),
}

/// Parameters of `constant`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Constant {
    /// Time from the start of the class to the first message of each host. Default: random within
    /// one interval, drawn for each host.
    pub phase: Option<Span>,
}

/// Parameters of `on-off`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Mean length of an on-period.
    pub on: Span,
    /// Mean length of an off-period.
    pub off: Span,
}

/// Parameters of `on-off-pareto`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffPareto {
    /// Mean length of an on-period.
    pub on: Span,
    /// Mean length of an off-period.
    pub off: Span,
    /// Tail index, above 1: the probability of a period longer than x is proportional to `x^-shape`
    /// for long periods.
    pub shape: f64,
}

/// Parameters of `reply`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// Name of the class whose messages receive replies.
    pub to: String,
    /// Time from the delivery of a message to the creation of its reply. Default: zero.
    #[serde(default)]
    pub think: Span,
}

/// Arrival process of a source, with the load in (0, 1].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ArrivalPlan {
    /// Exponentially distributed intervals.
    Poisson {
        /// Offered load.
        load: f64,
    },
    /// Equal probability of a message in every cycle.
    Bernoulli {
        /// Offered load.
        load: f64,
        /// Length of a cycle.
        cycle: Span,
    },
    /// Equal intervals.
    Constant {
        /// Offered load.
        load: f64,
        /// Time from the start of the class to the first message; `None` for a random time within
        /// one interval.
        phase: Option<Span>,
    },
    /// Equal intervals within on-periods.
    OnOff {
        /// Offered load over on- and off-periods.
        load: f64,
        /// Distribution of period lengths.
        periods: PeriodPlan,
    },
    /// A message is always waiting to be sent.
    Backlogged,
}

impl ArrivalPlan {
    /// Returns the offered load; `None` for a backlogged source.
    pub fn load(&self) -> Option<f64> {
        match self {
            Self::Poisson { load }
            | Self::Bernoulli { load, .. }
            | Self::Constant { load, .. }
            | Self::OnOff { load, .. } => Some(*load),
            Self::Backlogged => None,
        }
    }

    /// Returns the load within on-periods; without off-periods, this is the mean load. `None` for a
    /// backlogged source.
    pub fn peak_load(&self) -> Option<f64> {
        match self {
            Self::OnOff { load, periods } => Some(load / periods.share_on()),
            _ => self.load(),
        }
    }

    /// Returns the process with its load multiplied by `factor`; a backlogged process is unchanged.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        match self {
            Self::Poisson { load } => Self::Poisson { load: load * factor },
            Self::Bernoulli { load, cycle } => Self::Bernoulli { load: load * factor, cycle },
            Self::Constant { load, phase } => Self::Constant { load: load * factor, phase },
            Self::OnOff { load, periods } => Self::OnOff { load: load * factor, periods },
            Self::Backlogged => Self::Backlogged,
        }
    }

    /// Returns the mean interval between messages on a link that takes `byte_ps` per byte; `None`
    /// for a backlogged source.
    pub fn interval_mean_ps(&self, payload_mean_bytes: f64, byte_ps: f64) -> Option<f64> {
        self.load().map(|load| payload_mean_bytes * byte_ps / load)
    }
}

#[derive(Clone, Debug)]
pub(super) enum Clock {
    Poisson { now: Time, interval_mean_ps: f64, stream: Stream },
    Bernoulli { next_cycle: u64, cycle_ps: u64, gap_mean: f64, stream: Stream },
    Constant { start: Time, ticks: Ticks },
    OnOff(Box<OnOffClock>),
    Backlogged { start: Option<Time> },
}

impl Clock {
    pub(super) fn new(
        plan: &ArrivalPlan,
        interval_mean_ps: f64,
        start: Time,
        stream: impl Fn(Purpose) -> Stream,
    ) -> Self {
        match plan {
            ArrivalPlan::Poisson { .. } => {
                Self::Poisson { now: start, interval_mean_ps, stream: stream(Purpose::Arrival) }
            }
            ArrivalPlan::Bernoulli { cycle, .. } => {
                #[expect(clippy::cast_precision_loss, reason = "a cycle is far below 2^53 ps")]
                let gap_mean = (interval_mean_ps / cycle.as_ps() as f64).max(1.0);
                let next_cycle = start.as_ps().div_ceil(cycle.as_ps());
                let (cycle_ps, stream) = (cycle.as_ps(), stream(Purpose::Arrival));
                Self::Bernoulli { next_cycle, cycle_ps, gap_mean, stream }
            }
            ArrivalPlan::Constant { phase, .. } => {
                let ticks = match phase {
                    Some(phase) => Ticks::new(phase.as_ps(), interval_mean_ps),
                    None => Ticks::with_random_phase(interval_mean_ps, &mut stream(Purpose::Phase)),
                };
                Self::Constant { start, ticks }
            }
            ArrivalPlan::OnOff { periods, .. } => {
                let interval_ps = interval_mean_ps * periods.share_on();
                Self::OnOff(Box::new(OnOffClock::new(*periods, interval_ps, start, stream)))
            }
            ArrivalPlan::Backlogged => Self::Backlogged { start: Some(start) },
        }
    }

    #[inline]
    pub(super) fn next(&mut self, stop: Time) -> Option<Time> {
        let next = match self {
            Self::Poisson { now, interval_mean_ps, stream } => {
                *now = later(*now, whole_ps(stream.exponential(*interval_mean_ps)));
                *now
            }
            Self::Bernoulli { next_cycle, cycle_ps, gap_mean, stream } => {
                // Gaps between independent successes are geometric.
                let cycle = next_cycle.saturating_add(stream.geometric(*gap_mean) - 1);
                *next_cycle = cycle.saturating_add(1);
                Time::from_ps(cycle.saturating_mul(*cycle_ps).min(u64::MAX / 4))
            }
            Self::Constant { start, ticks } => later(*start, ticks.next()),
            Self::OnOff(clock) => clock.next(stop)?,
            Self::Backlogged { start } => start.take()?,
        };
        (next < stop).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(purpose: Purpose) -> Stream {
        Stream::new(5, "h0[1]/all", purpose)
    }

    fn times(plan: &ArrivalPlan, interval_ps: f64, start: u64, stop: u64) -> Vec<u64> {
        let mut clock = Clock::new(plan, interval_ps, Time::from_ps(start), stream);
        let next = || clock.next(Time::from_ps(stop)).map(Time::as_ps);
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn constant_arrivals_start_at_the_phase_and_end_before_stop() {
        let constant = ArrivalPlan::Constant { load: 1.0, phase: Some(Span::from_ps(7)) };
        // Expected times: start 1,000 + phase 7 + round(k x 10.4), with k x 10.4 = 0, 10.4, 20.8,
        // 31.2, 41.6.
        assert_eq!(times(&constant, 10.4, 1_000, 1_049), [1_007, 1_017, 1_028, 1_038]);
        assert_eq!(times(&constant, 10.4, 1_000, 1_050), [1_007, 1_017, 1_028, 1_038, 1_049]);
        assert!(times(&constant, 10.4, 1_000, 1_007).is_empty());
    }

    #[test]
    fn million_constant_intervals_do_not_drift() {
        let mut ticks = Ticks::new(3, 1_333.3);
        for _ in 0..1_000_000 {
            ticks.next();
        }
        assert_eq!(ticks.next(), 3 + 1_333_300_000);
    }

    #[test]
    fn default_phase_is_uniform_within_one_interval() {
        let phase = |host: usize| {
            let mut stream = Stream::new(1, &format!("h{host}"), Purpose::Phase);
            Ticks::with_random_phase(1_000.0, &mut stream).next()
        };
        let phases: Vec<u64> = (0..4_000).map(phase).collect();
        assert!(phases.iter().all(|phase| *phase < 1_000));
        // Expected: a mean of 499.5 with a standard error of 1000 / sqrt(12 x 4000) = 4.6.
        let mean = phases.iter().sum::<u64>() / 4_000;
        assert!((477..=522).contains(&mean), "{mean}");
    }

    #[test]
    fn first_poisson_arrival_is_an_interval_after_the_start() {
        let plan = ArrivalPlan::Poisson { load: 0.5 };
        let early = times(&plan, 100.0, 0, 10_000);
        let late = times(&plan, 100.0, 1_000_000, 1_010_000);
        assert_eq!(late, early.iter().map(|time| time + 1_000_000).collect::<Vec<_>>());
        // Expected: 100 messages (standard deviation 10).
        assert!(early.len().abs_diff(100) < 50, "{}", early.len());
    }

    fn bernoulli(cycle_ps: u64) -> ArrivalPlan {
        ArrivalPlan::Bernoulli { load: 0.5, cycle: Span::from_ps(cycle_ps) }
    }

    #[test]
    fn bernoulli_with_probability_1_creates_every_cycle() {
        assert_eq!(times(&bernoulli(10), 10.0, 1_001, 1_040), [1_010, 1_020, 1_030]);
        assert_eq!(times(&bernoulli(10), 10.0, 1_010, 1_031), [1_010, 1_020, 1_030]);
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn bernoulli_gaps_are_geometric_and_counts_binomial() {
        // Each of 400,000 cycles has a message with probability p = 1/4; q = 1 - p.
        let times = times(&bernoulli(8), 32.0, 0, 8 * 400_000);
        assert!(times.iter().all(|time| time.is_multiple_of(8)));
        // Expected: n p = 100,000 messages (standard deviation sqrt(n p q) = 274).
        assert!(times.len().abs_diff(100_000) < 1_370, "{}", times.len());
        let gaps: Vec<u64> = times.windows(2).map(|pair| (pair[1] - pair[0]) / 8).collect();
        let count = gaps.len() as f64;
        let share = |k: u64| gaps.iter().filter(|gap| **gap == k).count() as f64 / count;
        for (k, p) in [(1, 0.25), (2, 0.1875), (3, 0.140_625), (8, 0.033_37)] {
            assert!((share(k) - p).abs() < 5.0 * (p / count).sqrt(), "{k}: {}", share(k));
        }
        // Expected: gaps with mean 1 / p = 4 and variance q / p^2 = 12. The standard error of the
        // variance is 12 sqrt((8 + p^2 / q) / n) = 0.11 (kurtosis 9 + p^2 / q).
        let mean = gaps.iter().sum::<u64>() as f64 / count;
        assert!((mean - 4.0).abs() < 0.055, "{mean}");
        let off = |gap: &u64| *gap as f64 - mean;
        let variance = gaps.iter().map(|gap| off(gap) * off(gap)).sum::<f64>() / count;
        assert!((variance - 12.0).abs() < 0.55, "{variance}");
    }

    #[test]
    fn first_bernoulli_trial_is_at_the_start() {
        // Expected: a quarter of the 4,000 hosts, 1,000, send at the start (standard deviation 27).
        let is_at_once = |host: &usize| {
            let stream = |purpose| Stream::new(1, &format!("h{host}"), purpose);
            let mut clock = Clock::new(&bernoulli(8), 32.0, Time::ZERO, stream);
            clock.next(Time::MAX) == Some(Time::ZERO)
        };
        let count = (0..4_000).filter(is_at_once).count();
        assert!(count.abs_diff(1_000) < 137, "{count}");
    }

    #[test]
    fn backlogged_creates_one_message_in_a_nonempty_period() {
        assert_eq!(times(&ArrivalPlan::Backlogged, 0.0, 40, 50), [40]);
        assert!(times(&ArrivalPlan::Backlogged, 0.0, 40, 40).is_empty());
    }

    #[test]
    fn huge_interval_ends_the_arrivals() {
        let plan = ArrivalPlan::Constant { load: 1e-300, phase: Some(Span::ZERO) };
        assert_eq!(times(&plan, 1e300, 5, u64::MAX / 4), [5]);
    }
}
