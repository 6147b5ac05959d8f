//! Gaps: packets that a channel has lost, and requests for their retransmission.
//!
//! ```text
//!   channel sequence numbers   ... 16  17  18  21 ...    19 and 20 are lost
//!   pipe sequence numbers      ... 40  43  44  52 ...    the lost packets are two of 45 to 51
//! ```
//!
//! The sender knows which two of 45 to 51 are missing; the receiver must only avoid skipping these
//! numbers.
//!
//! Packets in flight on a deactivated channel are awaited while copies of these packets keep
//! arriving, since the other channels may take long to carry them.
//!
//! Invariants: at most [`GAPS_MAX`] gaps of up to 64 consecutive numbers; losses beyond these
//! limits are not requested; only a deactivation, a copy, or a further loss extends a wait.

use core::time::Duration;

use crate::tag::ahead;
use crate::{Instant, Nack};

const GAPS_MAX: usize = 256;

const GAP_PACKETS: u32 = u64::BITS;

/// Maximum time between losses that are merged into one gap, as a fraction (1/4) of the repetition
/// interval.
const CLOSE_SHARE: u32 = 4;

const WAIT_MAX: Duration = Duration::from_secs(1);

/// Timing of retransmission requests.
///
/// The receiver waits for 2.5 round trips of the slowest channel, which may carry the copy, but at
/// most 1 s and at least `wait`. It repeats a request after 1.25 round trips of the channel that
/// lost the packet, but after at most 0.5 s and at least `again`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairRequests {
    /// Minimum time to wait for a packet once its loss is proven.
    pub wait: Duration,
    /// Minimum time between two requests for a packet.
    pub again: Duration,
}

impl Default for RepairRequests {
    /// Returns a minimum wait of 200 ms, and a minimum repetition interval of 50 ms.
    fn default() -> Self {
        let (wait, again) = (Duration::from_millis(200), Duration::from_millis(50));
        Self { wait, again }
    }
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(test, derive(Default))]
struct Gap {
    channel: u8,
    first: u32,
    missing: u64,
    /// Lowest possible pipe sequence number of the missing packets; `before` is the exclusive end.
    from: u32,
    before: u32,
    until: Instant,
    ask_at: Instant,
    wait: Duration,
    again: Duration,
    left: bool,
    /// Number of low bits in `missing` that the present round of requests has covered.
    asked: u32,
    is_again: bool,
}

impl Gap {
    fn misses(&self, channel: u8, channel_sequence: u32) -> bool {
        let bit = channel_sequence.wrapping_sub(self.first);
        self.channel == channel && bit < GAP_PACKETS && self.missing & (1 << bit) != 0
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    pub(super) channel: u8,
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) from: u32,
    pub(super) before: u32,
    pub(super) round_trip_ns: u32,
    /// Round-trip time of the slowest channel, which may carry the copy.
    pub(super) longest_ns: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Gaps {
    requests: RepairRequests,
    gaps: Vec<Gap>,
}

impl Gaps {
    pub(super) fn new(requests: RepairRequests) -> Self {
        Self { requests, gaps: Vec::with_capacity(GAPS_MAX) }
    }

    pub(super) fn note(&mut self, now: Instant, lost: Lost) {
        let (wait, again) = (self.wait(lost.longest_ns), self.again(lost.round_trip_ns));
        if self.extend(now, &lost, wait) {
            return;
        }
        let (mut first, mut left) = (lost.first, lost.count);
        while left > 0 && self.gaps.len() < GAPS_MAX {
            let count = left.min(GAP_PACKETS);
            self.gaps.push(Gap {
                channel: lost.channel,
                first,
                missing: u64::MAX >> (GAP_PACKETS - count),
                from: lost.from,
                before: lost.before,
                until: now.after(wait),
                ask_at: now,
                wait,
                again,
                left: false,
                asked: 0,
                is_again: false,
            });
            first = first.wrapping_add(count);
            left -= count;
        }
    }

    /// Adds losses to the newest gap of their channel if they follow it closely, as when a queue
    /// overflows; returns whether they were added.
    fn extend(&mut self, now: Instant, lost: &Lost, wait: Duration) -> bool {
        let newest = self.gaps.iter_mut().rev().find(|gap| gap.channel == lost.channel);
        let Some(gap) = newest.filter(|gap| !gap.left) else { return false };
        let bit = lost.first.wrapping_sub(gap.first);
        let is_close = now.after(wait) <= gap.until.after(gap.again / CLOSE_SHARE);
        if !is_close || bit >= GAP_PACKETS || lost.count > GAP_PACKETS - bit {
            return false;
        }
        gap.missing |= (u64::MAX >> (GAP_PACKETS - lost.count)) << bit;
        (gap.before, gap.until) = (lost.before, gap.until.max(now.after(wait)));
        if gap.ask_at > now {
            (gap.ask_at, gap.asked, gap.is_again) = (now, bit, false);
        }
        true
    }

    fn wait(&self, longest_ns: u32) -> Duration {
        self.requests.wait.max(quarters(longest_ns, 10).min(WAIT_MAX))
    }

    fn again(&self, round_trip_ns: u32) -> Duration {
        self.requests.again.max(quarters(round_trip_ns, 5).min(WAIT_MAX / 2))
    }

    /// Extends the wait for missing packets of a deactivated channel; `round_trip_ns` is the RTT of
    /// the slowest channel.
    pub(super) fn see_left(&mut self, now: Instant, channel: u8, round_trip_ns: u32) {
        let wait = self.wait(round_trip_ns);
        for gap in self.gaps.iter_mut().filter(|gap| gap.channel == channel) {
            gap.left = true;
            gap.wait = gap.wait.max(wait);
            gap.until = gap.until.max(now.after(gap.wait));
        }
    }

    /// Handles a copy; returns whether its packet was missing. If the packet's first channel was
    /// deactivated, the wait for all packets of deactivated channels restarts, because the sender
    /// is still retransmitting.
    pub(super) fn see_copy(&mut self, now: Instant, channel: u8, channel_sequence: u32) -> bool {
        let is_left = |gap: &Gap| gap.left && gap.misses(channel, channel_sequence);
        if self.gaps.iter().any(is_left) {
            for gap in self.gaps.iter_mut().filter(|gap| gap.left) {
                gap.until = gap.until.max(now.after(gap.wait));
            }
        }
        self.fill(channel, channel_sequence)
    }

    pub(super) fn fill(&mut self, channel: u8, channel_sequence: u32) -> bool {
        let mut was_missing = false;
        for gap in self.gaps.iter_mut().filter(|gap| gap.misses(channel, channel_sequence)) {
            gap.missing &= !(1 << channel_sequence.wrapping_sub(gap.first));
            was_missing = true;
        }
        if was_missing {
            self.gaps.retain(|gap| gap.missing != 0);
        }
        was_missing
    }

    pub(super) fn wait_until(&self, sequence: u32) -> Option<Instant> {
        let may_be = |gap: &&Gap| ahead(sequence, gap.from) >= 0 && ahead(gap.before, sequence) > 0;
        self.gaps.iter().filter(may_be).map(|gap| gap.until).max()
    }

    pub(super) fn first_after(&self, sequence: u32) -> Option<u32> {
        let behind =
            self.gaps.iter().map(|gap| ahead(gap.from, sequence)).filter(|ahead| *ahead > 0);
        behind.min().map(|ahead| sequence.wrapping_add(ahead.unsigned_abs()))
    }

    pub(super) fn expire(&mut self, now: Instant, next: u32) {
        self.gaps.retain(|gap| gap.until > now && ahead(gap.before, next) > 0);
    }

    pub(super) fn poll(&mut self, now: Instant) -> Option<(Nack, bool)> {
        for gap in self.gaps.iter_mut().filter(|gap| gap.ask_at <= now) {
            let left = gap.missing.checked_shr(gap.asked).unwrap_or(0);
            if left == 0 {
                (gap.asked, gap.is_again) = (0, true);
                // The minimum applies even after a state corruption.
                gap.ask_at = now.after(gap.again.max(self.requests.again));
                continue;
            }
            let start = gap.asked + left.trailing_zeros();
            let count = (gap.missing >> start).trailing_ones();
            gap.asked = start + count;
            let count = u16::try_from(count).expect("at most 64");
            let left_ns = gap.until.nanoseconds().saturating_sub(now.nanoseconds());
            let nack = Nack {
                channel: gap.channel,
                first: gap.first.wrapping_add(start),
                count,
                // The end of the wait is unknown if further copies can extend it.
                left_ns: u32::try_from(left_ns).ok().filter(|_| !gap.left).unwrap_or(u32::MAX),
            };
            return Some((nack, gap.is_again));
        }
        None
    }

    pub(super) fn timeout(&self) -> Option<Instant> {
        self.gaps.iter().map(|gap| gap.ask_at.min(gap.until)).min()
    }

    pub(super) fn repair_state(&mut self, now: Instant) {
        let (wait, again) = (self.wait(u32::MAX), self.again(u32::MAX));
        for gap in &mut self.gaps {
            gap.again = gap.again.clamp(self.requests.again, again);
            gap.wait = gap.wait.min(wait);
            (gap.until, gap.ask_at) =
                (gap.until.min(now.after(wait)), gap.ask_at.min(now.after(again)));
        }
    }

    pub(super) fn restart(&mut self) {
        self.gaps.clear();
    }
}

fn quarters(round_trip_ns: u32, count: u64) -> Duration {
    Duration::from_nanos(u64::from(round_trip_ns) * count / 4)
}

#[cfg(test)]
impl crate::corruption::Corrupt for Gaps {
    fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        let mut gaps = std::collections::VecDeque::<Gap>::new();
        gaps.corrupt(words);
        self.gaps = gaps.into();
    }
}
#[cfg(test)]
crate::corruption::corrupt!(
    Gap: channel, first, missing, from, before, until, ask_at, asked, again, wait, left, is_again
);

#[cfg(test)]
mod tests {
    use super::*;

    const LOST: Lost = Lost {
        channel: 3,
        first: 0,
        count: 1,
        from: 0,
        before: 9,
        round_trip_ns: 0,
        longest_ns: 0,
    };

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanoseconds(milliseconds * 1_000_000)
    }

    fn drawn() -> Gaps {
        let mut gaps = Gaps::new(RepairRequests::default());
        gaps.note(at(0), Lost { first: 19, count: 2, from: 45, before: 52, ..LOST });
        gaps
    }

    fn polled(gaps: &mut Gaps, now: Instant) -> Option<(u8, u32, u16)> {
        gaps.poll(now).map(|(Nack { channel, first, count, .. }, _)| (channel, first, count))
    }

    #[test]
    fn gap_is_requested_immediately_and_again_after_50_ms() {
        let mut gaps = drawn();
        assert_eq!((polled(&mut gaps, at(0)), polled(&mut gaps, at(0))), (Some((3, 19, 2)), None));
        assert_eq!((gaps.timeout(), polled(&mut gaps, at(49))), (Some(at(50)), None));
        gaps.fill(3, 19);
        gaps.fill(2, 20);
        assert_eq!(
            (polled(&mut gaps, at(50)), polled(&mut gaps, at(50))),
            (Some((3, 20, 1)), None)
        );
        gaps.fill(3, 20);
        assert!(gaps.gaps.is_empty() && gaps.timeout().is_none());
    }

    #[test]
    fn repeated_request_is_flagged() {
        let mut gaps = drawn();
        let asked = |gaps: &mut Gaps, now| gaps.poll(now).map(|(_, is_again)| is_again);
        assert_eq!((asked(&mut gaps, at(0)), asked(&mut gaps, at(0))), (Some(false), None));
        gaps.note(at(10), Lost { first: 23, count: 1, from: 53, before: 54, ..LOST });
        assert_eq!((asked(&mut gaps, at(10)), asked(&mut gaps, at(10))), (Some(false), None));
        assert_eq!(asked(&mut gaps, at(60)), Some(true));
    }

    /// With a round trip of 270 ms on the channel and of 300 ms on the slowest channel, the wait is
    /// 2.5 * 300 = 750 ms, and the repetition interval is 1.25 * 270 = 337.5 ms. Requests carry the
    /// remaining wait.
    #[test]
    fn waits_follow_the_rtt() {
        let mut gaps = Gaps::new(RepairRequests::default());
        let (round_trip_ns, longest_ns) = (270_000_000, 300_000_000);
        gaps.note(at(0), Lost { round_trip_ns, longest_ns, ..LOST });
        let left = |gaps: &mut Gaps, now| gaps.poll(now).map(|(missing, _)| missing.left_ns);
        assert_eq!(left(&mut gaps, at(75)), Some(675_000_000));
        assert_eq!(
            (left(&mut gaps, at(75)), gaps.timeout()),
            (None, Some(at(75).after(Duration::from_micros(337_500))))
        );
        assert_eq!(gaps.wait_until(3), Some(at(750)));
        gaps.note(at(0), Lost { longest_ns: u32::MAX, channel: 1, ..LOST });
        assert_eq!(gaps.wait_until(3), Some(at(1_000)));
    }

    #[test]
    fn wait_covers_every_possible_number_of_a_gap() {
        let mut gaps = drawn();
        for (sequence, until) in [(44, None), (45, Some(at(200))), (51, Some(at(200))), (52, None)]
        {
            assert_eq!(gaps.wait_until(sequence), until, "{sequence}");
        }
        assert_eq!((gaps.first_after(40), gaps.first_after(45)), (Some(45), None));
        gaps.expire(at(199), 51);
        assert_eq!(gaps.gaps.len(), 1);
        let mut passed = gaps.clone();
        passed.expire(at(0), 52);
        gaps.expire(at(200), 45);
        assert!(passed.gaps.is_empty() && gaps.gaps.is_empty());
    }

    #[test]
    fn long_gaps_are_split_and_holes_requested_separately() {
        let mut gaps = Gaps::new(RepairRequests::default());
        gaps.note(at(0), Lost { channel: 0, first: u32::MAX, count: 130, before: 500, ..LOST });
        for number in 0..62 {
            assert!(gaps.fill(0, number));
        }
        gaps.fill(0, 100);
        let asked: Vec<_> = std::iter::from_fn(|| polled(&mut gaps, at(0))).collect();
        let expected = [(0, u32::MAX, 1), (0, 62, 1), (0, 63, 37), (0, 101, 26), (0, 127, 2)];
        assert_eq!(asked, expected);
    }

    /// Losses of alternate packets 2 ms apart form one gap. A loss 13 ms later exceeds a quarter of
    /// the 50 ms repetition interval, and starts a new gap.
    #[test]
    fn close_losses_form_one_gap() {
        let mut gaps = Gaps::new(RepairRequests::default());
        let lost = |number: u32| Lost {
            channel: 0,
            first: number,
            from: number,
            before: number + 1,
            ..LOST
        };
        for number in (1..40).step_by(2) {
            gaps.note(at(number.into()), lost(number));
            assert_eq!(polled(&mut gaps, at(number.into())), Some((0, number, 1)));
            assert_eq!(polled(&mut gaps, at(number.into())), None);
        }
        assert_eq!((gaps.gaps.len(), gaps.wait_until(20)), (1, Some(at(239))));
        gaps.note(at(52), lost(45));
        assert_eq!(gaps.gaps.len(), 2);
        let again: Vec<_> = std::iter::from_fn(|| polled(&mut gaps, at(89))).collect();
        assert_eq!((again.len(), again[0]), (21, (0, 1, 1)));
    }

    #[test]
    fn gaps_are_limited_to_256() {
        let mut gaps = Gaps::new(RepairRequests::default());
        gaps.note(at(0), Lost { channel: 0, count: u32::MAX, ..LOST });
        assert_eq!(std::iter::from_fn(|| polled(&mut gaps, at(0))).count(), GAPS_MAX);
    }
}
