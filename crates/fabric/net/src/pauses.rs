//! Lane pauses: flow control of whole packets without credits.
//!
//! ```text
//!   0 ......... resume ......... pause ........................ capacity
//!     end a pause      no change     pause │ headroom: bytes that still arrive
//! ```
//!
//! Source: IEEE 802.1Qbb, priority-based flow control; response time: IEEE 802.3, 31B.3.7. Timing:
//! `docs/concepts/timing-packets.md`.

use crate::ChannelPlan;
use gingham_kernel::Span;
use gingham_topology::routing::LANES_MAX;

/// Thresholds and timing of pauses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PausesPlan {
    /// For each lane: fill level in bytes above which a receiver requests a pause.
    pub pause_bytes: [u64; LANES_MAX as usize],
    /// For each lane: highest fill level in bytes that ends a pause; at most `pause_bytes`.
    pub resume_bytes: [u64; LANES_MAX as usize],
    /// Wire bytes of a pause frame, at least 1.
    pub frame_bytes: u32,
    /// Time from the arrival of a pause frame until it takes effect.
    pub response_time: Span,
}

impl PausesPlan {
    /// Returns the time from a pause request to its effect at the sender; `back` is the channel
    /// from receiver to sender.
    pub fn effect_delay(&self, back: &ChannelPlan) -> Span {
        back.delay + back.bytes.of(self.frame_bytes.into()) + self.response_time
    }

    /// Returns the number of bytes that a buffer must be able to hold above the pause threshold,
    /// for packets of `shortest` to `longest` wire bytes.
    pub fn headroom_bytes(
        &self,
        channel: &ChannelPlan,
        back: &ChannelPlan,
        [shortest, longest]: [u64; 2],
    ) -> u64 {
        let within = channel.delay + channel.bytes.of(1) + self.effect_delay(back);
        let rounded = if channel.bytes.is_whole() {
            Span::ZERO
        } else {
            let packets = within.as_ps() / channel.bytes.of(shortest).as_ps().max(1) + 1;
            Span::from_ps(packets.div_ceil(2))
        };
        // Number of back-to-back bytes that start in this time, excluding the last byte, with which
        // a packet of maximum length may start.
        let before_the_last = channel.bytes.started(within + rounded) - 1;
        before_the_last + longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::ByteTime;

    fn channel(many_ps: u64, delay_ps: u64) -> ChannelPlan {
        let bytes = ByteTime::from_64_kib(Span::from_ps(many_ps));
        ChannelPlan { flit: bytes.of(1), bytes, delay: Span::from_ps(delay_ps), slack: None }
    }

    #[test]
    fn headroom_covers_a_round_trip_and_the_longest_packet() {
        let plan = PausesPlan {
            pause_bytes: [0; 16],
            resume_bytes: [0; 16],
            frame_bytes: 84,
            response_time: Span::from_ps(60),
        };
        // Time until the pause takes effect: delay 25 + one byte 10 + pause (delay 40 + frame 840 +
        // response 60) = 975 ps. Bytes take 10 ps, so byte 97 starts at 970 ps.
        let [forth, back] = [channel(655_360, 25), channel(655_360, 40)];
        assert_eq!(plan.headroom_bytes(&forth, &back, [1, 64]), 97 + 64);
        // With a return delay of 35 ps, byte 97 would start exactly when the pause takes effect.
        let shorter = channel(655_360, 35);
        assert_eq!(plan.headroom_bytes(&forth, &shorter, [1, 64]), 96 + 64);
        // A byte of 1.5 ps takes 2 ps after rounding. The time until the pause takes effect is
        // delay 25 + one byte 2 + pause 940 = 967 ps, or 64.5 packets of ten bytes. Each of the 65
        // packets may add 0.5 ps of rounding, so byte k starts at 1.5 k ps < 967 + 65 x 0.5 = 999.5
        // ps, and k is at most 666.
        let odd = channel(98_304, 25);
        assert_eq!(plan.headroom_bytes(&odd, &back, [10, 64]), 666 + 64);
    }
}
