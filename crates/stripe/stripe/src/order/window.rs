//! Time to wait for missing packets on a channel.
//!
//! ```text
//!   received   17  19  20        18: 3 ms after 19, which overtook it      19 waits for 18, 3.75 ms
//!   window     0   0             3.75 ms                                   from now on
//! ```
//!
//! While no packet is late, a gap counts as a loss at once. After reordering, the wait is one and a
//! quarter times the lateness, until sixteen gaps in a row were losses.
//!
//! Source: the reordering window of RACK (RFC 8985, section 6.2, steps 4 and 5). Unlike in RACK,
//! the lateness is known.

use core::time::Duration;

use super::OrderOptions;
use crate::Instant;

/// Losses in a row after which the wait is reset (RFC 8985, section 6.2, step 4).
const LOSSES_MAX: u32 = 16;

#[derive(Clone, Debug)]
pub(super) struct Window {
    span: Duration,
    losses: u32,
    adapts: bool,
    /// When each of the most recently skipped numbers was overtaken, indexed by number modulo the
    /// length; empty unless `adapts` is set.
    overtaken: Vec<Option<Instant>>,
}

impl Window {
    pub(super) const fn new(options: &OrderOptions) -> Self {
        let span = if options.adapts { Duration::ZERO } else { options.wait };
        Self { span, losses: 0, adapts: options.adapts, overtaken: Vec::new() }
    }

    /// Sets the length of `overtaken`: a power of two, or zero.
    pub(super) fn set_length(&mut self, length: usize) {
        self.overtaken = if self.adapts { vec![None; length] } else { Vec::new() };
    }

    pub(super) const fn span(&self) -> Duration {
        self.span
    }

    #[inline]
    pub(super) fn pass(&mut self, number: u32) {
        if let Some(overtaken) = self.place(number) {
            *overtaken = None;
        }
    }

    pub(super) fn give_up(&mut self, from: u32, count: u32, overtaken_at: Instant) {
        let latest = u32::try_from(self.overtaken.len()).unwrap_or(u32::MAX).min(count);
        for number in (count - latest)..count {
            if let Some(overtaken) = self.place(from.wrapping_add(number)) {
                *overtaken = Some(overtaken_at);
            }
        }
        if latest > 0 {
            self.losses = self.losses.saturating_add(1);
            if self.losses >= LOSSES_MAX {
                self.span = Duration::ZERO;
            }
        }
    }

    pub(super) const fn fill(&mut self) {
        self.losses = 0;
    }

    /// Adapts the wait to a late packet that is `passed` numbers behind; returns whether it may be
    /// new.
    pub(super) fn see_late(
        &mut self,
        now: Instant,
        number: u32,
        passed: u32,
        wait: Duration,
    ) -> bool {
        if passed as usize > self.overtaken.len() {
            return !self.overtaken.is_empty();
        }
        let Some(at) = self.place(number).and_then(Option::take) else { return false };
        let late = Duration::from_nanos(now.nanoseconds().saturating_sub(at.nanoseconds()));
        self.span = self.span.max(late.saturating_mul(5) / 4).min(wait);
        self.losses = 0;
        true
    }

    pub(super) fn restart(&mut self) {
        self.overtaken.fill(None);
    }

    fn place(&mut self, number: u32) -> Option<&mut Option<Instant>> {
        // The mask requires a length that is a power of two.
        let place = number as usize & self.overtaken.len().wrapping_sub(1);
        self.overtaken.get_mut(place)
    }
}
