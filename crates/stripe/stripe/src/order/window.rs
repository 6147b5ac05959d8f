//! For how long what is missing on a channel is waited for.
//!
//! ```text
//!   came    17  19  20        18: 3 ms after 19, which overtook it      19 waits for 18, 3.75 ms
//!   window  0   0             3.75 ms                                   from now on
//! ```
//!
//! A channel that keeps order shows no packet late, and nothing is waited for there: a gap is a loss,
//! told at once. On one that was seen to reorder a gap is waited for one and a quarter times as long
//! as a packet was late, until sixteen gaps in a row were losses.
//!
//! Source: the reordering window of RACK (RFC 8985, section 6.2, steps 4 and 5): none before the
//! first reordering is seen, more by what is seen, and none again after sixteen recoveries without.
//! There it grows by quarters of the least round trip, since a sender knows no better; here it is
//! known how late a packet was.

use core::time::Duration;

use super::OrderOptions;
use crate::Instant;

/// So many losses in a row, and the channel keeps order again (RFC 8985, section 6.2, step 4).
const LOSSES_MAX: u32 = 16;

/// For how long a gap is waited for.
#[derive(Clone, Debug)]
pub(super) struct Window {
    span: Duration,
    /// Gaps that were not filled, since the last that was.
    losses: u32,
    /// Whether the span follows what is seen.
    adapts: bool,
    /// Where it does, and packets come: when the packets of the last numbers that were given up were
    /// overtaken, each at its number modulo the length.
    overtaken: Vec<Option<Instant>>,
}

impl Window {
    pub(super) const fn new(options: &OrderOptions) -> Self {
        let span = if options.adapts { Duration::ZERO } else { options.wait };
        Self { span, losses: 0, adapts: options.adapts, overtaken: Vec::new() }
    }

    /// The last so many numbers are remembered, a power of two or none, and nothing is of those before.
    pub(super) fn set_length(&mut self, length: usize) {
        self.overtaken = if self.adapts { vec![None; length] } else { Vec::new() };
    }

    pub(super) const fn span(&self) -> Duration {
        self.span
    }

    /// A packet is given out in its turn, or nothing is known of it.
    #[inline]
    pub(super) fn pass(&mut self, number: u32) {
        if let Some(overtaken) = self.place(number) {
            *overtaken = None;
        }
    }

    /// So many numbers from one on are given up, which others overtook then.
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

    /// A gap is filled by the packet that was missing, before it was given up.
    pub(super) const fn fill(&mut self) {
        self.losses = 0;
    }

    /// A packet comes whose number was passed so many numbers ago: whether it may not have come
    /// before.
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

    /// A new epoch, with new numbers, on the same channel.
    pub(super) fn restart(&mut self) {
        self.overtaken.fill(None);
    }

    fn place(&mut self, number: u32) -> Option<&mut Option<Instant>> {
        // A power of two of them.
        let place = number as usize & self.overtaken.len().wrapping_sub(1);
        self.overtaken.get_mut(place)
    }
}
