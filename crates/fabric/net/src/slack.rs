//! Slack buffers: capacity of a wormhole input, and its thresholds for STOP and GO.
//!
//! ```text
//!   0 ........ go ......... stop ...... capacity
//!     wants GO   no change    wants STOP  never exceeded
//!                             └ headroom ┘
//! ```
//!
//! Headroom: `docs/concepts/timing.md`. The presets use Myrinet's 80-byte buffer (Kwan et al. 1996,
//! section 2) with thresholds 56 and 40.

use gingham_kernel::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Capacity and thresholds of an input buffer, in flits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlackBuffer {
    /// Capacity in flits.
    pub capacity: u32,
    /// Fill level in flits above which the receiver sends STOP.
    pub stop: u32,
    /// Fill level in flits below which the receiver sends GO.
    pub go: u32,
}

/// Reason why a buffer does not fit a cable.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SlackError {
    /// The thresholds are not in order.
    #[error(
        "the marks of a slack buffer must satisfy 1 <= go <= stop, not go {go} and stop {stop}"
    )]
    Marks {
        /// GO threshold in flits.
        go: u32,
        /// STOP threshold in flits.
        stop: u32,
    },
    /// STOP would arrive too late to prevent an overflow.
    #[error(
        "a slack buffer of {capacity} flits with its STOP mark at {stop} can overflow on this \
         cable: {headroom} flits may follow the mark, so it needs a capacity of {needed}"
    )]
    Overflow {
        /// Capacity in flits.
        capacity: u32,
        /// STOP threshold in flits.
        stop: u32,
        /// Number of flits that can still arrive, including the first above the threshold.
        headroom: u32,
        /// Minimum sufficient capacity in flits.
        needed: u32,
    },
}

impl SlackBuffer {
    /// Returns the number of flits that can still arrive, including the flit that exceeds the STOP
    /// threshold: ceil(2d / f) + 3, with propagation delay d and flit time f.
    pub fn headroom(flit: Span, delay: Span) -> u32 {
        let in_flight = (delay * 2).div_ceil(flit);
        u32::try_from(in_flight + 3).expect("a cable holds fewer than 2^32 flits")
    }

    /// Returns a buffer enlarged as required by a cable; `first_flit_delay` is the time that a
    /// header waits at the switch.
    #[must_use]
    pub fn scaled(self, flit: Span, delay: Span, first_flit_delay: Span) -> Self {
        let headroom = Self::headroom(flit, delay);
        let held = u32::try_from(first_flit_delay.div_ceil(flit) + 1)
            .expect("fewer than 2^32 flits gather behind a header");
        let go = self.go.max(headroom);
        let stop = self.stop.max(go + (self.stop - self.go)).max(held);
        Self { capacity: self.capacity.max(stop + headroom), stop, go }
    }

    /// Checks that the thresholds are in order and that the buffer cannot overflow on this cable.
    pub fn check(self, flit: Span, delay: Span) -> Result<(), SlackError> {
        let Self { capacity, stop, go } = self;
        if go == 0 || go > stop {
            return Err(SlackError::Marks { go, stop });
        }
        let headroom = Self::headroom(flit, delay);
        let needed = stop.saturating_add(headroom);
        if capacity < needed {
            return Err(SlackError::Overflow { capacity, stop, headroom, needed });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MYRINET: SlackBuffer = SlackBuffer { capacity: 80, stop: 56, go: 40 };

    #[test]
    fn myrinet_cables_fit_an_80_byte_slack_buffer() {
        // Flits in flight, 2 x delay / flit time: 2 x 49.2 / 6.25 = 15.7 for 10 m at 160 MB/s, and
        // 2 x 123 / 12.5 = 19.7 for 25 m at 80 MB/s.
        for (flit, delay, headroom) in [(6_250, 49_200, 19), (12_500, 123_000, 23)] {
            let (flit, delay) = (Span::from_ps(flit), Span::from_ps(delay));
            assert_eq!(SlackBuffer::headroom(flit, delay), headroom);
            assert_eq!(MYRINET.check(flit, delay), Ok(()));
            assert_eq!(MYRINET.scaled(flit, delay, Span::from_ns(150)), MYRINET);
        }
    }

    #[test]
    fn fast_cable_needs_a_scaled_slack_buffer() {
        let (flit, delay) = (Span::from_ps(20), Span::from_ps(49_200));
        // 2 x delay 49,200 ps / flit time 20 ps = 4,920 flits are in flight.
        let needed =
            SlackError::Overflow { capacity: 80, stop: 56, headroom: 4_923, needed: 4_979 };
        assert_eq!(MYRINET.check(flit, delay), Err(needed));
        let scaled = MYRINET.scaled(flit, delay, Span::from_ns(150));
        // Header wait 150 ns / flit time 20 ps = 7,500 flits accumulate, more than the cable
        // requires.
        assert_eq!(scaled, SlackBuffer { capacity: 12_424, stop: 7_501, go: 4_923 });
        assert_eq!(scaled.check(flit, delay), Ok(()));
    }

    #[test]
    fn go_mark_above_stop_mark_is_refused() {
        let buffer = SlackBuffer { capacity: 80, stop: 40, go: 56 };
        let error = buffer.check(Span::from_ps(6_250), Span::from_ps(49_200));
        assert_eq!(error, Err(SlackError::Marks { go: 56, stop: 40 }));
    }
}
