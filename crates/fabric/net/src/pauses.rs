//! Pausing lanes: how a receiver of whole packets holds back a sender that has no credits.
//!
//! ```text
//!   0 ......... resume ......... pause ........................ capacity
//!               go on            pause │ headroom: what comes in spite of it
//! ```
//!
//! Source: IEEE 802.1Qbb, priority-based flow control; the time to answer is IEEE 802.3, 31B.3.7. When
//! what happens is told in `docs/concepts/timing-packets.md`.

use crate::ChannelPlan;
use gingham_kernel::Span;
use gingham_topology::routing::LANES_MAX;

/// Receivers that ask for pauses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PausesPlan {
    /// By lane: a fill above so many bytes makes the receiver ask for a pause.
    pub pause_bytes: [u64; LANES_MAX as usize],
    /// By lane: a fill of so many bytes or fewer ends the pause; no more than `pause_bytes`.
    pub resume_bytes: [u64; LANES_MAX as usize],
    /// Bytes of a pause frame with all that it takes of the wire; at least one.
    pub frame_bytes: u32,
    /// From the arrival of a pause frame until the sender obeys it.
    pub answer: Span,
}

impl PausesPlan {
    /// From when a receiver asks until its sender has heard it, `back` being the channel from the
    /// receiver to the sender.
    pub fn heard_after(&self, back: &ChannelPlan) -> Span {
        back.delay + back.bytes.of(self.frame_bytes.into()) + self.answer
    }

    /// The bytes above the mark that a channel into a switch may fill at worst, with packets from
    /// `shortest` to `longest` bytes on the wire.
    pub fn headroom_bytes(
        &self,
        channel: &ChannelPlan,
        back: &ChannelPlan,
        [shortest, longest]: [u64; 2],
    ) -> u64 {
        let within = channel.delay + channel.bytes.of(1) + self.heard_after(back);
        let rounded = if channel.bytes.is_whole() {
            Span::ZERO
        } else {
            let packets = within.as_ps() / channel.bytes.of(shortest).as_ps().max(1) + 1;
            Span::from_ps(packets.div_ceil(2))
        };
        // Byte k of what goes without a gap starts within that time, k from 0.
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
    fn headroom_is_what_comes_in_a_round_trip_and_the_longest_packet() {
        let plan = PausesPlan {
            pause_bytes: [0; 16],
            resume_bytes: [0; 16],
            frame_bytes: 84,
            answer: Span::from_ps(60),
        };
        // R = 25 + 10 + (40 + 840 + 60) = 975 ps: byte 97 starts at 970.
        let [way, back] = [channel(655_360, 25), channel(655_360, 40)];
        assert_eq!(plan.headroom_bytes(&way, &back, [1, 64]), 97 + 64);
        // 5 ps less, and byte 97 would start at the very pause.
        let shorter = channel(655_360, 35);
        assert_eq!(plan.headroom_bytes(&way, &shorter, [1, 64]), 96 + 64);
        // A byte of 1.5 ps takes 2, three take 5 and never less than 4.5: R = 25 + 2 + 940 = 967 ps
        // and 967 / 15 = 64 packets of ten bytes, and one more, half a picosecond each: byte k at 1.5 k < 999.5.
        let odd = channel(98_304, 25);
        assert_eq!(plan.headroom_bytes(&odd, &back, [10, 64]), 666 + 64);
    }
}
