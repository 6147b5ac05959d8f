//! When messages are created.
//!
//! ```text
//!   poisson     |  ||     |   |      |      independent exponential intervals
//!   constant    |    |    |    |    |       phase + k x interval, each rounded once
//!   on-off      |||       ||||              equally spaced while on (`on_off`)
//!   backlogged  |...|...|...|               the next as the last one's first flit starts
//! ```
//!
//! The load of a source is the share of its link's time that the payload of its messages takes:
//! `interval = mean payload x flit time / load`.
//!
//! Invariants: instants never run backwards; none lies before the class starts.

use super::on_off::{OnOffClock, PeriodPlan};
use super::ticks::{Ticks, later, whole_ps};
use crate::bare_names::accept_bare_names;
use gingham_kernel::{Purpose, Span, Stream, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arrival process of a class, as a scenario names it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = accept_bare_names)]
pub enum Arrivals {
    /// Poisson: independent exponential intervals, whose mean follows from the load.
    #[schemars(extend("x-source" = "textbook"))]
    Poisson,
    /// Equal intervals. The phase is random unless given.
    #[schemars(extend("x-source" = "Flich et al. 2001, section IV-A"))]
    Constant(Constant),
    /// Bursts: equal intervals within on periods, none in off periods, all of exponential length;
    /// the load is the mean over both.
    #[schemars(extend("x-source" = "textbook", "x-example" = r#"{ on-off = { on = "20 us", off = "80 us" } }"#))]
    OnOff(OnOff),
    /// The same with periods whose lengths follow Pareto's law: many such hosts together are
    /// self-similar.
    #[schemars(extend("x-source" = "Willinger, Taqqu, Sherman and Wilson 1997"))]
    #[schemars(extend("x-example" = r#"{ on-off-pareto = { on = "20 us", off = "80 us", shape = 1.5 } }"#))]
    OnOffPareto(OnOffPareto),
    /// Always one message waiting; takes no load.
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 3.1"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
arrivals = "backlogged"
length = { fixed = "64 B" }"#))]
    Backlogged,
    /// The messages of a CSV file, with the columns `created_ps`, `source`, `destination` and
    /// `payload_bytes` of the table of messages, in order of time; the path is relative to the
    /// scenario. Takes no load, length, destinations or hosts.
    #[schemars(extend("x-source" = "ours"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
arrivals = { schedule = "schedule.csv" }"#))]
    Schedule(String),
    /// A reply to each message of another class that is delivered to the host. Created only while
    /// the class sends. Takes no load or destinations.
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
    /// From the start of the class to the first message of every host. Default: random within one
    /// interval, drawn for each host.
    pub phase: Option<Span>,
}

/// Parameters of `on-off`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Mean length of an on period.
    pub on: Span,
    /// Mean length of an off period.
    pub off: Span,
}

/// Parameters of `on-off-pareto`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffPareto {
    /// Mean length of an on period.
    pub on: Span,
    /// Mean length of an off period.
    pub off: Span,
    /// Tail index, above 1: the probability of a period beyond x falls as x to the power of minus
    /// this.
    pub shape: f64,
}

/// Parameters of `reply`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The name of the class whose messages are replied to.
    pub to: String,
    /// From the delivery of such a message to the creation of its reply. Default: none.
    #[serde(default)]
    pub think: Span,
}

/// The arrival process of a source. A load is the fraction of the source's link that its payload
/// would fill, in (0, 1].
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ArrivalPlan {
    /// Exponential intervals.
    Poisson {
        /// Offered load.
        load: f64,
    },
    /// Equal intervals.
    Constant {
        /// Offered load.
        load: f64,
        /// From the start to the first message; random within an interval if `None`.
        phase: Option<Span>,
    },
    /// Equal intervals within on periods.
    OnOff {
        /// Offered load over on and off periods.
        load: f64,
        /// Their lengths.
        periods: PeriodPlan,
    },
    /// Always one message waiting.
    Backlogged,
}

impl ArrivalPlan {
    /// Offered load; `None` for a backlogged source.
    pub fn load(&self) -> Option<f64> {
        match self {
            Self::Poisson { load } | Self::Constant { load, .. } | Self::OnOff { load, .. } => {
                Some(*load)
            }
            Self::Backlogged => None,
        }
    }

    /// The load while it sends: above that over all time for a source with off periods.
    pub fn peak_load(&self) -> Option<f64> {
        match self {
            Self::OnOff { load, periods } => Some(load / periods.share_on()),
            _ => self.load(),
        }
    }

    /// The same process with its load multiplied; a backlogged one stays what it is.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        match self {
            Self::Poisson { load } => Self::Poisson { load: load * factor },
            Self::Constant { load, phase } => Self::Constant { load: load * factor, phase },
            Self::OnOff { load, periods } => Self::OnOff { load: load * factor, periods },
            Self::Backlogged => Self::Backlogged,
        }
    }

    /// The mean interval between messages of a source, in picoseconds: the time that the mean
    /// payload takes on its link, where a byte takes `byte_ps`, divided by the load. `None` for a
    /// backlogged source.
    pub fn interval_mean_ps(&self, payload_mean_bytes: f64, byte_ps: f64) -> Option<f64> {
        self.load().map(|load| payload_mean_bytes * byte_ps / load)
    }
}

/// What tells the instants of one source.
#[derive(Clone, Debug)]
pub(super) enum Clock {
    Poisson { now: Time, interval_mean_ps: f64, stream: Stream },
    Constant { start: Time, ticks: Ticks },
    OnOff(Box<OnOffClock>),
    Backlogged { start: Option<Time> },
}

impl Clock {
    /// The clock of a source whose class starts at `start`; `stream` gives the source's stream
    /// for a purpose.
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

    /// The next instant, if there is one before `stop`. A backlogged source has only a first one.
    #[inline]
    pub(super) fn next(&mut self, stop: Time) -> Option<Time> {
        let next = match self {
            Self::Poisson { now, interval_mean_ps, stream } => {
                *now = later(*now, whole_ps(stream.exponential(*interval_mean_ps)));
                *now
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
    fn equal_intervals_follow_the_phase_and_end_before_the_stop() {
        let constant = ArrivalPlan::Constant { load: 1.0, phase: Some(Span::from_ps(7)) };
        // 1,000 + 7 + round(k x 10.4): k x 10.4 = 0, 10.4, 20.8, 31.2, 41.6.
        assert_eq!(times(&constant, 10.4, 1_000, 1_049), [1_007, 1_017, 1_028, 1_038]);
        assert_eq!(times(&constant, 10.4, 1_000, 1_050), [1_007, 1_017, 1_028, 1_038, 1_049]);
        assert!(times(&constant, 10.4, 1_000, 1_007).is_empty());
    }

    #[test]
    fn a_million_equal_intervals_do_not_drift() {
        let mut ticks = Ticks::new(3, 1_333.3);
        for _ in 0..1_000_000 {
            ticks.next();
        }
        assert_eq!(ticks.next(), 3 + 1_333_300_000);
    }

    #[test]
    fn a_phase_that_is_not_given_is_uniform_within_one_interval() {
        let phase = |host: usize| {
            let mut stream = Stream::new(1, &format!("h{host}"), Purpose::Phase);
            Ticks::with_random_phase(1_000.0, &mut stream).next()
        };
        let phases: Vec<u64> = (0..4_000).map(phase).collect();
        assert!(phases.iter().all(|phase| *phase < 1_000));
        // Mean 499.5 with a standard error of 1000 / sqrt(12 x 4000) = 4.6.
        let mean = phases.iter().sum::<u64>() / 4_000;
        assert!((477..=522).contains(&mean), "{mean}");
    }

    #[test]
    fn poisson_begins_an_interval_after_the_start() {
        let plan = ArrivalPlan::Poisson { load: 0.5 };
        let early = times(&plan, 100.0, 0, 10_000);
        let late = times(&plan, 100.0, 1_000_000, 1_010_000);
        assert_eq!(late, early.iter().map(|time| time + 1_000_000).collect::<Vec<_>>());
        // 100 expected, standard deviation 10.
        assert!(early.len().abs_diff(100) < 50, "{}", early.len());
    }

    #[test]
    fn backlogged_has_one_first_message_unless_it_stops_as_it_starts() {
        assert_eq!(times(&ArrivalPlan::Backlogged, 0.0, 40, 50), [40]);
        assert!(times(&ArrivalPlan::Backlogged, 0.0, 40, 40).is_empty());
    }

    #[test]
    fn an_interval_beyond_any_run_ends_the_arrivals() {
        let plan = ArrivalPlan::Constant { load: 1e-300, phase: Some(Span::ZERO) };
        assert_eq!(times(&plan, 1e300, 5, u64::MAX / 4), [5]);
    }
}
