//! Whether channels pass data, long packets too: one may pass markers and lose all else, such as a
//! path whose longest frame is shorter than the packets.
//!
//! ```text
//!   sent     190  1500  190  1500   marker   190  1500 ...      1500: longer than any that came
//!   came     190        190         marker   190                counted; sixteen, for long enough:
//!            report: the longest was 190                        the channel is taken out
//! ```
//!
//! A report says how long the longest packet was that came lately. Packets longer than that are
//! counted from the first on, and once a report answers a marker behind them they are known not to
//! have come. What comes that is longer begins the count anew. So a channel that loses at random is
//! found out only if it loses sixteen in a row.
//!
//! Source: ours; RFC 8899, section 4.3, finds such black holes by packets of their own.
//!
//! Invariant: nothing here is needed for order.

#[cfg(test)]
mod corruption;

use core::time::Duration;

use crate::{Instant, Report, TAG_BYTES};

/// So many packets that did not come, and nothing as long that did, are no chance: of a channel
/// that loses two thirds it is one time in 700.
const LOST_MIN: u32 = 16;

/// What is known of a channel.
#[derive(Clone, Copy, Debug, Default)]
struct Suspicion {
    /// The longest packet that came since the count began.
    passed_bytes: u32,
    /// How many longer ones were sent since then, the longest of them, and when the first was.
    packets: u32,
    longest_bytes: u32,
    since: Option<Instant>,
    last_at: Instant,
    /// A marker behind so many of them, when it was sent, and when the last of them was.
    marked: Option<(Instant, u32, Instant)>,
    /// So many of them, until then, are known not to have come.
    lost: u32,
    lost_until: Option<Instant>,
    /// Where the channel is out for that, how long the packets are that it is to pass.
    probe_bytes: Option<u32>,
}

/// What is known of all channels.
#[derive(Clone, Debug)]
pub(super) struct Passing {
    channels: Vec<Suspicion>,
    /// Whether packets have tags.
    tagged: bool,
}

impl Passing {
    pub(super) fn new(channels: usize) -> Self {
        Self { channels: vec![Suspicion::default(); channels], tagged: false }
    }

    /// Packets have tags from here on, or not.
    pub(super) const fn set_tagged(&mut self, tagged: bool) {
        self.tagged = tagged;
    }

    /// A packet or a copy goes on a channel.
    pub(super) fn sent(&mut self, now: Instant, channel: usize, length_bytes: u32) {
        let one = &mut self.channels[channel];
        if length_bytes > one.passed_bytes {
            one.packets = one.packets.saturating_add(1);
            one.longest_bytes = one.longest_bytes.max(length_bytes);
            one.since.get_or_insert(now);
            one.last_at = now;
        }
    }

    /// A marker goes on a channel.
    pub(super) fn mark(&mut self, now: Instant, channel: usize) {
        let one = &mut self.channels[channel];
        if one.packets > 0 {
            one.marked.get_or_insert((now, one.packets, one.last_at));
        }
    }

    /// A report has come.
    pub(super) fn hear(&mut self, channel: usize, report: &Report) {
        let one = &mut self.channels[channel];
        let (came_bytes, probe_bytes) = (report.longest_bytes, one.probe_bytes);
        if one.packets == 0 || came_bytes >= one.longest_bytes {
            *one = Suspicion { probe_bytes, ..Suspicion::default() };
        } else if came_bytes > one.passed_bytes {
            *one = Suspicion { passed_bytes: came_bytes, probe_bytes, ..Suspicion::default() };
        } else if let Some((_, packets, at)) = one.marked.take_if(|(at, ..)| *at < report.echo) {
            (one.lost, one.lost_until) = (packets, Some(at));
        }
    }

    /// For how long a channel is known to have lost all packets longer than those that came, and
    /// until when.
    pub(super) fn losing_for(&self, channel: usize) -> Option<(Duration, Instant)> {
        let one = &self.channels[channel];
        let (since, until) = (one.since?, one.lost_until.filter(|_| one.lost >= LOST_MIN)?);
        let span_ns = until.nanoseconds().saturating_sub(since.nanoseconds());
        Some((Duration::from_nanos(span_ns), until))
    }

    /// Whether long packets are known not to have come lately: copies had better go elsewhere.
    pub(super) fn doubts(&self, channel: usize) -> bool {
        self.channels[channel].lost > 0
    }

    /// A channel is taken out for that.
    pub(super) fn lose(&mut self, channel: usize) {
        let one = &mut self.channels[channel];
        *one = Suspicion { probe_bytes: Some(one.longest_bytes), ..Suspicion::default() };
    }

    /// A channel is alive.
    pub(super) fn revive(&mut self, channel: usize) {
        self.channels[channel] = Suspicion::default();
    }

    /// How long a marker on a channel is to be made, if that matters.
    pub(super) fn probe_bytes(&self, channel: usize) -> Option<u32> {
        let tag_bytes = if self.tagged { TAG_BYTES } else { 0 };
        let probe_bytes = self.channels.get(channel)?.probe_bytes?;
        Some(probe_bytes.saturating_add(u32::try_from(tag_bytes).expect("twelve")))
    }

    /// Times that can be.
    pub(super) fn repair_state(&mut self, now: Instant, longest_bytes: u32, span_max: Duration) {
        for one in &mut self.channels {
            one.since = one.since.map(|at| at.min(now));
            one.lost_until = one.lost_until.map(|at| at.min(now));
            // What was marked in the future, or so long ago that it was answered, is marked anew.
            one.marked = one.marked.filter(|(at, ..)| *at <= now && now <= at.after(span_max));
            one.probe_bytes = one.probe_bytes.map(|bytes| bytes.min(longest_bytes));
        }
    }

    /// A new epoch.
    pub(super) fn restart(&mut self) {
        self.channels.fill(Suspicion::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanoseconds(milliseconds * 1_000_000)
    }

    fn report(echo_ms: u64, longest_bytes: u32) -> Report {
        Report { echo: at(echo_ms), longest_bytes, ..Report::default() }
    }

    /// Packets of 190 and 1,500 bytes in turn, the first at 1 ms, a marker each 10 ms.
    fn in_turn(passing: &mut Passing, from_ms: u64, until_ms: u64) {
        for now in from_ms..until_ms {
            passing.sent(at(now), 0, if now % 2 == 1 { 190 } else { 1_500 });
            if now % 10 == 9 {
                passing.mark(at(now), 0);
            }
        }
    }

    /// Only 190 comes. The report of 12 ms begins the count anew, with 1,500 as what is lost: at 12,
    /// 14 and so on. The marker of 19 ms has 4 of them before it, which the answer to a later one
    /// says not to have come; that of 49 ms, the first after that answer, has 19, up to 48 ms.
    #[test]
    fn long_packets_that_never_come_are_counted() {
        let mut passing = Passing::new(1);
        in_turn(&mut passing, 1, 12);
        passing.hear(0, &report(9, 190));
        assert_eq!(passing.losing_for(0), None);
        in_turn(&mut passing, 12, 45);
        passing.hear(0, &report(20, 190));
        assert_eq!((passing.channels[0].lost, passing.losing_for(0)), (4, None));
        in_turn(&mut passing, 45, 60);
        passing.hear(0, &report(49, 190));
        assert_eq!(passing.channels[0].lost, 4);
        passing.hear(0, &report(50, 190));
        assert_eq!(
            (passing.channels[0].lost, passing.losing_for(0)),
            (19, Some((Duration::from_millis(36), at(48))))
        );
        // One that comes after all ends it.
        passing.hear(0, &report(59, 1_500));
        assert_eq!(passing.losing_for(0), None);
    }

    #[test]
    fn a_probe_is_as_long_as_what_was_lost_and_its_tag() {
        let mut passing = Passing::new(1);
        assert_eq!(passing.probe_bytes(0), None);
        in_turn(&mut passing, 1, 12);
        passing.lose(0);
        assert_eq!((passing.probe_bytes(0), passing.losing_for(0)), (Some(1_500), None));
        passing.set_tagged(true);
        assert_eq!((passing.probe_bytes(0), passing.probe_bytes(7)), (Some(1_512), None));
        passing.revive(0);
        assert_eq!(passing.probe_bytes(0), None);
    }
}
