//! Equally spaced times, rounded to whole picoseconds.

use gingham_kernel::{Stream, Time};

/// Clock with tick k at phase + round(k x interval), so that rounding errors do not accumulate.
#[derive(Clone, Debug)]
pub(super) struct Ticks {
    phase_ps: u64,
    interval_ps: f64,
    count: u64,
}

impl Ticks {
    pub(super) fn new(phase_ps: u64, interval_ps: f64) -> Self {
        Self { phase_ps, interval_ps, count: 0 }
    }

    pub(super) fn with_random_phase(interval_ps: f64, stream: &mut Stream) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "non-negative; a phase beyond 64 bits saturates past the end of any run"
        )]
        let phase_ps = (stream.unit() * interval_ps) as u64;
        Self::new(phase_ps, interval_ps)
    }

    pub(super) fn next(&mut self) -> u64 {
        #[expect(clippy::cast_precision_loss, reason = "2^53 messages are beyond any run")]
        let since = self.count as f64 * self.interval_ps;
        self.count += 1;
        self.phase_ps.saturating_add(whole_ps(since))
    }
}

pub(super) fn later(time: Time, ps: u64) -> Time {
    Time::from_ps(time.as_ps().saturating_add(ps))
}

#[inline]
pub(super) fn whole_ps(ps: f64) -> u64 {
    // Conversion to a signed integer takes one instruction. Signed and unsigned conversions both
    // saturate beyond the bound.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "non-negative; what is beyond 63 bits saturates past the end of any run"
    )]
    let whole = (ps + 0.5) as i64;
    whole.cast_unsigned().min(u64::MAX / 4)
}
