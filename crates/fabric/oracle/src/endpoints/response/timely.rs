//! TIMELY: the gradient of round-trip times changes the rate (Mittal et al. 2015, algorithm 1).

use super::{Law, Limits, Rate, as_f64};
use gingham_kernel::{Span, Time};

pub(super) struct Timely {
    of: gingham_net::Timely,
    rate: Rate,
    previous: Option<Span>,
    /// Moving average, in ps, of the differences between successive round-trip times.
    average: f64,
    /// All round-trip times except the first, with their gradients (the moving average divided by
    /// `min_rtt`).
    gradients: Vec<(Span, f64)>,
}

impl Timely {
    pub(super) fn new(of: gingham_net::Timely, limits: &Limits) -> Self {
        let rate = Rate::highest(of.lowest, limits);
        Self { of, rate, previous: None, average: 0.0, gradients: Vec::new() }
    }
}

impl Law for Timely {
    fn round_trip(&mut self, trip: Span, _packets: u32, limits: &mut Limits, _now: Time) {
        let gingham_net::Timely { alpha, beta, t_low, t_high, min_rtt, .. } = self.of;
        let Some(previous) = self.previous.replace(trip) else { return };
        let difference = as_f64(trip) - as_f64(previous);
        self.average = (1.0 - alpha) * self.average + alpha * difference;
        let gradient = self.average / as_f64(min_rtt);
        self.gradients.push((trip, gradient));
        let step = self.rate.share_of(self.of.additive, 1.0 / 1_000.0);
        let r = self.rate.share;
        let changed = if trip < t_low {
            r + step
        } else if trip > t_high {
            r * (1.0 - beta * (1.0 - as_f64(t_high) / as_f64(trip)))
        } else if gradient > 0.0 {
            r * (1.0 - beta * gradient)
        } else {
            let falls = |(trip, gradient): &&(Span, f64)| {
                *trip >= t_low && *trip <= t_high && *gradient <= 0.0
            };
            let is_hyperactive = self.gradients.iter().rev().take_while(falls).count() >= 5;
            r + if is_hyperactive { 5.0 } else { 1.0 } * step
        };
        self.rate.set(changed, limits);
    }
}
