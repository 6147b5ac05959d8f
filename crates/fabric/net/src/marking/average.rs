//! Exponentially weighted time average of a quantity that changes in steps.
//!
//! ```text
//!   quantity   ▁▁▁▁████████▁▁▁▁        value q in each interval
//!   average    ▁▁▁▁▂▄▅▆▆▇▇▆▄▃▂▁        a := q + (a - q) exp(- interval / time constant)
//! ```
//!
//! Continuous-time counterpart of the per-packet mean of Floyd and Jacobson 1993 (RED).

use gingham_kernel::{Span, Time};

#[derive(Clone, Copy, Debug)]
pub(super) struct Average {
    value: f64,
    until: Time,
}

impl Average {
    pub(super) const ZERO: Self = Self { value: 0.0, until: Time::ZERO };

    pub(super) const fn value(&self) -> f64 {
        self.value
    }

    /// Updates the average with the value since the last update. Another update at the same time
    /// has no effect.
    #[expect(clippy::cast_precision_loss, reason = "times of a run, as a ratio")]
    pub(super) fn observe(&mut self, quantity: f64, now: Time, over: Span) {
        if now <= self.until {
            return;
        }
        let ratio = now.since(self.until).as_ps() as f64 / over.as_ps() as f64;
        self.value = quantity + (self.value - quantity) * libm::exp(-ratio);
        self.until = now;
    }

    pub(super) const fn until(&self) -> Time {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_average_halves_in_ln_2_of_its_time_constant() {
        let over = Span::from_ps(1_000_000);
        let mut average = Average::ZERO;
        average.observe(4.0, Time::from_ps(693_147), over);
        assert!((average.value() - 2.0).abs() < 1e-5);
        // Two short steps give the same result as one long step.
        average.observe(0.0, Time::from_ps(1_000_000), over);
        average.observe(9.0, Time::from_ps(1_000_000), over);
        average.observe(0.0, Time::from_ps(1_386_294), over);
        assert!((average.value() - 1.0).abs() < 1e-5);
    }
}
