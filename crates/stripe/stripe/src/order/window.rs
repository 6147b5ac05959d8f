//! Waiting time for missing packets on a channel.
//!
//! Until a packet arrives late, a gap immediately counts as a loss. After reordering, the wait is
//! 1.25 times the lateness, until sixteen gaps in a row turn out to be losses.
//!
//! Source: the RACK reordering window (RFC 8985, section 6.2, steps 4 and 5). Unlike RACK, the
//! receiver can measure the lateness.

use core::time::Duration;

use super::OrderOptions;
use crate::Instant;

/// Number of consecutive losses after which the wait is reset (RFC 8985, section 6.2, step 4).
const LOSSES_MAX: u32 = 16;

#[derive(Clone, Debug)]
pub(super) struct Window {
    span: Duration,
    losses: u32,
    adapts: bool,
    /// Times when recently skipped sequence numbers were overtaken, indexed by sequence number
    /// modulo the vector length; empty unless `adapts` is set.
    overtaken: Vec<Option<Instant>>,
}

impl Window {
    pub(super) const fn new(options: &OrderOptions) -> Self {
        let span = if options.adapts { Duration::ZERO } else { options.wait };
        Self { span, losses: 0, adapts: options.adapts, overtaken: Vec::new() }
    }

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

    /// Adapts the wait to a late packet that is `passed` sequence numbers behind; returns whether
    /// the packet may be new rather than a duplicate.
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
        // The mask requires a power-of-two length.
        let place = number as usize & self.overtaken.len().wrapping_sub(1);
        self.overtaken.get_mut(place)
    }
}
