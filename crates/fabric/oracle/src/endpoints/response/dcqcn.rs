//! DCQCN at a reaction point (Zhu et al. 2015, sections 3 and 5, and figure 7).

use super::{Law, Limits, Rate, as_f64};
use gingham_kernel::{Bytes, Span, Time};

/// `alpha` below this value no longer affects the rate, and its timer is ignored.
const ALPHA_MIN: f64 = 1e-12;
/// Time in which the default byte counter's bytes are sent at the highest rate.
const BYTE_COUNTER_TIME: Span = Span::from_ps(2_000_000_000);

pub(super) struct Dcqcn {
    of: gingham_net::Dcqcn,
    rate: Rate,
    target: f64,
    alpha: f64,
    /// Last notification, and the effects of the timers and the byte counter since then.
    notified: Option<Since>,
}

struct Since {
    /// Next expiry time of the alpha timer; `rate_at` is the next expiry time of the rate timer.
    alpha_at: Time,
    rate_at: Time,
    bytes: u64,
    /// Number of rate increases by the timer; `by_bytes` is the number of increases by the byte
    /// counter.
    by_timer: u32,
    by_bytes: u32,
}

impl Dcqcn {
    pub(super) fn new(of: gingham_net::Dcqcn, limits: &Limits) -> Self {
        let rate = Rate::highest(of.lowest, limits);
        Self { of, rate, target: 1.0, alpha: 1.0, notified: None }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bytes of milliseconds"
    )]
    fn byte_counter(&self) -> u64 {
        let seconds = as_f64(BYTE_COUNTER_TIME) / 1e12;
        let default = (self.rate.bytes_per_second() * seconds).round() as u64;
        self.of.byte_counter.map_or(default.max(1), |Bytes(bytes)| bytes)
    }

    fn is_below(&self) -> bool {
        self.rate.share < 1.0 || self.target < 1.0
    }

    /// Raises the target rate by a step that depends on the numbers of increases, and moves the
    /// rate half-way to the target.
    fn raise(&mut self, (by_timer, by_bytes): (u32, u32), limits: &mut Limits) {
        let f = self.of.fast_recovery;
        let step = if by_timer < f && by_bytes < f {
            0.0
        } else if by_timer > f && by_bytes > f {
            self.rate.share_of(self.of.hyper, 1.0 / 100.0)
        } else {
            self.rate.share_of(self.of.additive, 1.0 / 1_000.0)
        };
        self.target = (self.target + step).min(1.0);
        let middle = f64::midpoint(self.rate.share, self.target);
        self.rate.set(middle, limits);
    }

    fn expire(&mut self, now: Time, limits: &mut Limits) {
        let Some(mut since) = self.notified.take() else { return };
        while since.alpha_at <= now && self.alpha > ALPHA_MIN {
            self.alpha *= 1.0 - self.of.g;
            since.alpha_at += self.of.alpha_timer;
        }
        while since.rate_at <= now && self.is_below() {
            since.rate_at += self.of.timer;
            since.by_timer += 1;
            self.raise((since.by_timer, since.by_bytes), limits);
        }
        self.notified = Some(since);
    }
}

impl Law for Dcqcn {
    fn marked(&mut self, limits: &mut Limits, now: Time) {
        self.expire(now, limits);
        self.target = self.rate.share;
        let cut = self.rate.share * (1.0 - self.alpha / 2.0);
        self.rate.set(cut, limits);
        self.alpha = (1.0 - self.of.g) * self.alpha + self.of.g;
        let (alpha_at, rate_at) = (now + self.of.alpha_timer, now + self.of.timer);
        self.notified = Some(Since { alpha_at, rate_at, bytes: 0, by_timer: 0, by_bytes: 0 });
    }

    fn starts(&mut self, payload_bytes: u32, limits: &mut Limits, now: Time) {
        self.expire(now, limits);
        let counter = self.byte_counter();
        if !self.is_below() {
            return;
        }
        let Some(mut since) = self.notified.take() else { return };
        since.bytes += u64::from(payload_bytes);
        while since.bytes >= counter {
            since.bytes -= counter;
            since.by_bytes += 1;
            self.raise((since.by_timer, since.by_bytes), limits);
        }
        self.notified = Some(since);
    }
}
