//! Bursty arrivals: equally spaced messages in on-periods, silence in off-periods.
//!
//! ```text
//!   on-time   0  i  2i 3i 4i 5i 6i                     one clock, interval i, that
//!             |  |  |  :  |  |  |  :                   stops in off-periods
//!   time      ├──on──────┤...off.....├──on─────┤...
//! ```
//!
//! Period lengths are independent, exponential or Pareto; Pareto periods with 1 < shape < 2 make
//! the combined traffic of many sources self-similar (Willinger, Taqqu, Sherman and Wilson,
//! "Self-similarity through high-variability", IEEE/ACM ToN 5(1), 1997). Since the clock continues
//! after an off-period, the mean load is exact even with short periods. A source starts in its
//! stationary state: on with probability on / (on + off), for the remainder of a period in
//! progress.
//!
//! Invariant: messages are created only within on-periods, including their starts.

use super::ticks::{Ticks, later, whole_ps};
use gingham_kernel::{Purpose, Span, Stream, Time};

/// Distribution of period lengths.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PeriodLaw {
    /// Exponential distribution.
    Exponential,
    /// Pareto distribution with the minimum `mean x (shape - 1) / shape`.
    Pareto {
        /// Tail index, above 1.
        shape: f64,
    },
}

impl PeriodLaw {
    fn draw(self, mean_ps: f64, stream: &mut Stream) -> f64 {
        match self {
            Self::Exponential => stream.exponential(mean_ps),
            Self::Pareto { shape } => {
                let least = mean_ps * (shape - 1.0) / shape;
                least * libm::pow(1.0 - stream.unit(), -1.0 / shape)
            }
        }
    }

    fn variance(self, mean_ps: f64, span_ps: f64) -> f64 {
        match self {
            Self::Exponential => mean_ps * mean_ps,
            Self::Pareto { shape } => {
                let least = mean_ps * (shape - 1.0) / shape;
                let reach = (span_ps / least).max(1.0);
                // E min(X, T)^2 = m^2 (1 + 2 (r^(2 - shape) - 1) / (2 - shape)), r = T / m.
                let tail = if (shape - 2.0).abs() < 1e-6 {
                    libm::log(reach)
                } else {
                    (libm::pow(reach, 2.0 - shape) - 1.0) / (2.0 - shape)
                };
                let square = least * least * (1.0 + 2.0 * tail);
                let heavy = if shape < 2.0 { 1.0 / ((shape - 1.0) * (3.0 - shape)) } else { 1.0 };
                (square * heavy - mean_ps * mean_ps).max(0.0)
            }
        }
    }

    /// Draws the remainder of a period in progress at a random time. Its density is the probability
    /// that a whole period is longer, divided by the mean.
    fn draw_rest(self, mean_ps: f64, stream: &mut Stream) -> f64 {
        match self {
            Self::Exponential => stream.exponential(mean_ps),
            Self::Pareto { shape } => {
                let least = mean_ps * (shape - 1.0) / shape;
                let below = stream.unit();
                // The density is constant up to the minimum period, with a total probability of
                // (shape - 1) / shape.
                if below < (shape - 1.0) / shape {
                    below * mean_ps
                } else {
                    least * libm::pow(shape * (1.0 - below), -1.0 / (shape - 1.0))
                }
            }
        }
    }
}

/// On- and off-periods of a source.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PeriodPlan {
    /// Mean length of on-periods, above zero.
    pub on_mean: Span,
    /// Mean length of off-periods.
    pub off_mean: Span,
    /// Distribution of period lengths.
    pub law: PeriodLaw,
}

impl PeriodPlan {
    /// Returns the mean length of an on-period plus an off-period.
    pub fn cycle(&self) -> Span {
        self.on_mean + self.off_mean
    }

    /// Returns the relative standard error of a source's offered load within `span`, by alternating
    /// renewal theory.
    ///
    /// For on-periods with mean `a` and variance `v` and off-periods with mean `b` and variance
    /// `w`, the on-time within `T` has the variance `T (b^2 v + a^2 w) / (a + b)^3` (Cox, "Renewal
    /// Theory", 1962, section 7.4). Pareto periods are cut off at `T` for a finite second moment.
    /// For a shape below 2, the variance then grows as `T^(3 - shape)`, and the factor `1 / ((shape
    /// - 1) (3 - shape))` gives the constant of Willinger et al. 1997, section 3.
    #[expect(clippy::cast_precision_loss, reason = "an error needs few digits")]
    pub fn load_error(&self, span: Span) -> f64 {
        let span_ps = span.as_ps() as f64;
        let [on_ps, off_ps] = [self.on_mean, self.off_mean].map(mean_ps);
        let [of_on, of_off] = [on_ps, off_ps].map(|mean_ps| self.law.variance(mean_ps, span_ps));
        let cycle_ps = on_ps + off_ps;
        let rate =
            (off_ps * off_ps * of_on + on_ps * on_ps * of_off) / (cycle_ps * cycle_ps * cycle_ps);
        // Upper bound: the variance of a source that is on or off all the time, p (1 - p) T^2.
        let most = self.share_on() * (1.0 - self.share_on()) * span_ps * span_ps;
        (rate * span_ps).min(most).sqrt() / (self.share_on() * span_ps)
    }

    /// Returns the fraction of time spent in on-periods.
    pub fn share_on(&self) -> f64 {
        mean_ps(self.on_mean) / (mean_ps(self.on_mean) + mean_ps(self.off_mean))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a mean needs few digits")]
fn mean_ps(mean: Span) -> f64 {
    mean.as_ps() as f64
}

#[derive(Clone, Debug)]
pub(super) struct OnOffClock {
    plan: PeriodPlan,
    ticks: Ticks,
    stream: Stream,
    on_begins: Time,
    on_ps: u64,
    /// Total length of earlier on-periods.
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

#[cfg(test)]
mod tests {
    use super::*;

    const NS: u64 = 1_000;

    fn plan(on_ns: u64, off_ns: u64, law: PeriodLaw) -> PeriodPlan {
        PeriodPlan { on_mean: Span::from_ns(on_ns), off_mean: Span::from_ns(off_ns), law }
    }

    fn stream(name: &str) -> impl Fn(Purpose) -> Stream + use<> {
        let name = name.to_owned();
        move |purpose| Stream::new(3, &name, purpose)
    }

    fn instants(mut clock: OnOffClock, stop: u64) -> Vec<u64> {
        let stop = Time::from_ps(stop);
        let next = || clock.next(stop).filter(|next| *next < stop).map(Time::as_ps);
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn arrival_clock_stops_in_off_periods() {
        // A shape of 10^9 leaves no spread: all periods have their mean length.
        let (on_mean, off_mean) = (Span::from_ps(25), Span::from_ps(40));
        let plan = PeriodPlan { on_mean, off_mean, law: PeriodLaw::Pareto { shape: 1e9 } };
        let clock = OnOffClock {
            plan,
            ticks: Ticks::new(5, 10.0),
            stream: stream("h0")(Purpose::Arrival),
            on_begins: Time::from_ps(100),
            on_ps: 25,
            elapsed_ps: 0,
        };
        // On-periods: [100, 125), [165, 190), [230, 255), [295, 320). Arrivals in on-time: 5, 15 |
        // 25, 35, 45 | 55, 65 | 75, 85, 95. The arrival at on-time 25, the end of the first period,
        // belongs to the second.
        let expected = [105, 115, 165, 175, 185, 235, 245, 295, 305, 315];
        assert_eq!(instants(clock, 320), expected);
    }

    #[test]
    fn long_on_off_run_has_the_mean_load() {
        // A source creates one message per microsecond of on-time, and is on for 20 of 100 us: 2 s
        // of 10 s (standard deviation 7.2 ms).
        let plan = plan(20_000, 80_000, PeriodLaw::Exponential);
        let clock = OnOffClock::new(plan, 1e6, Time::ZERO, stream("h0"));
        let count = instants(clock, 10_000_000_000_000).len();
        assert!(count.abs_diff(2_000_000) < 36_000, "{count}");
    }

    #[test]
    fn load_error_matches_alternating_renewal_theory() {
        // In 10 s, a source is on for 2 s (20 of 100 us), with a standard deviation of sqrt(2 (20 x
        // 80)^2 / 100^3 us x 10 s) = 7.155 ms.
        let exponential = plan(20_000, 80_000, PeriodLaw::Exponential);
        let error = exponential.load_error(Span::from_ps(10_000_000_000_000));
        assert!((error - 0.003_577_7).abs() < 1e-6, "{error}");
        let pareto = plan(20_000, 80_000, PeriodLaw::Pareto { shape: 3.0 });
        let light = pareto.load_error(Span::from_ps(10_000_000_000_000));
        assert!((light / error - (1.0_f64 / 3.0).sqrt()).abs() < 1e-3, "{light}");
    }

    #[test]
    fn load_error_matches_the_spread_of_many_sources() {
        // The standard deviation over 4,000 sources has a standard error of 1.1 %, and a larger one
        // with heavy tails.
        for (law, tolerance) in [
            (PeriodLaw::Exponential, 0.05),
            (PeriodLaw::Pareto { shape: 1.5 }, 0.25),
            (PeriodLaw::Pareto { shape: 2.5 }, 0.15),
        ] {
            let plan = plan(1_000, 3_000, law);
            let stop = 800_000 * NS;
            let counts: Vec<f64> = (0..4_000)
                .map(|host: u32| {
                    let stream = stream(&format!("h{host}"));
                    let clock = OnOffClock::new(plan, 1e5, Time::ZERO, stream);
                    f64::from(u32::try_from(instants(clock, stop).len()).unwrap())
                })
                .collect();
            let mean = counts.iter().sum::<f64>() / 4_000.0;
            let square: f64 = counts.iter().map(|count| (count - mean) * (count - mean)).sum();
            let found = (square / 3_999.0).sqrt() / mean;
            let error = plan.load_error(Span::from_ps(stop));
            assert!((error / found - 1.0).abs() < tolerance, "{law:?}: {error}, found {found}");
        }
    }

    #[test]
    fn on_off_source_starts_in_the_stationary_state() {
        // In the stationary state, 500 ns contain 500 / 100 x 1 / 4 = 1.25 messages on average, and
        // at most 6. The standard error over 20,000 hosts is below 6 / 2 / sqrt(20,000) = 0.021.
        for law in [PeriodLaw::Exponential, PeriodLaw::Pareto { shape: 1.5 }] {
            let of_host = |host: u32| {
                let stream = stream(&format!("h{host}"));
                let clock = OnOffClock::new(plan(1_000, 3_000, law), 1e5, Time::ZERO, stream);
                instants(clock, 500 * NS).len()
            };
            let hosts = 20_000;
            let mean = f64::from(u32::try_from((0..hosts).map(of_host).sum::<usize>()).unwrap())
                / f64::from(hosts);
            assert!((mean - 1.25).abs() < 0.105, "{law:?}: {mean}");
        }
    }

    /// Checks that the fraction of 100,000 draws above `x` is within 5 standard deviations of
    /// `expected`.
    fn assert_tail(draw: impl Fn(&mut Stream) -> f64, x: f64, expected: f64) {
        let mut stream = stream("tail")(Purpose::Arrival);
        let above = (0..100_000).filter(|_| draw(&mut stream) > x).count();
        let share = f64::from(u32::try_from(above).unwrap()) / 100_000.0;
        let bound = 5.0 * (expected * (1.0 - expected) / 100_000.0).sqrt();
        assert!((share - expected).abs() < bound, "above {x}: {share}, expected {expected}");
    }

    #[test]
    fn on_off_periods_follow_their_distributions() {
        for x in [0.5, 1.0, 3.0] {
            let law = PeriodLaw::Exponential;
            assert_tail(|stream| law.draw(1.0, stream), x, libm::exp(-x));
            assert_tail(|stream| law.draw_rest(1.0, stream), x, libm::exp(-x));
        }
        // Mean 3 and shape 1.5: no period is below 1, and a fraction x^-1.5 of periods exceeds x.
        // For remainders, a fraction x / 3 is below x if x is at most 1; otherwise, a fraction
        // x^-0.5 / 1.5 exceeds x.
        let law = PeriodLaw::Pareto { shape: 1.5 };
        let mut stream = stream("least")(Purpose::Arrival);
        assert!((0..100_000).all(|_| law.draw(3.0, &mut stream) >= 1.0));
        assert_tail(|stream| law.draw_rest(3.0, stream), 0.75, 0.75);
        for (x, periods, rests) in
            [(4.0, 0.125, 1.0 / 3.0), (9.0, 1.0 / 27.0, 2.0 / 9.0), (100.0, 0.001, 1.0 / 15.0)]
        {
            assert_tail(|stream| law.draw(3.0, stream), x, periods);
            assert_tail(|stream| law.draw_rest(3.0, stream), x, rests);
        }
    }

    #[test]
    fn pareto_periods_have_their_mean() {
        // Shape 3 and mean 3: minimum 2, variance 4 x 3 / (2^2 x 1) = 3.
        let (law, mut stream) =
            (PeriodLaw::Pareto { shape: 3.0 }, stream("mean")(Purpose::Arrival));
        let sum: f64 = (0..100_000).map(|_| law.draw(3.0, &mut stream)).sum();
        let bound = 5.0 * 3_f64.sqrt() / 100_000_f64.sqrt();
        assert!((sum / 100_000.0 - 3.0).abs() < bound, "{}", sum / 100_000.0);
    }
}
