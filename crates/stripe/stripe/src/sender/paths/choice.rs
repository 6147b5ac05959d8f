//! Choice of the channel for a packet.
//!
//! ```text
//!   rank 0   channel 0   no room, but room soon    ---> waited for
//!            channel 1   no room, busy for too long     skipped
//!   rank 1   channel 2   room                          ---> taken unless an earlier rank is waited for
//! ```
//!
//! The rank of a channel is its priority or, for packets of class `Fastest`, its minimum round-trip
//! time. A packet takes the first rank that has room or is **waited for**; within the rank, the
//! channel with the earliest expected delivery. A busy channel is waited for until its queue counts
//! as a standing queue (see `patience_ns`), so that short bursts do not use expensive channels. For
//! class `Fastest`, a channel is waited for if its pacing rate admits a packet within that time or,
//! if its window is full, for that time after its last report.
//!
//! With equal priorities and without class `Fastest`, no channel is waited for.

use gingham_congestion::Path;

use super::{Paths, Run};
use crate::Instant;
use crate::sender::class::Class;

/// Minimum of `patience_ns`: CoDel's target. The maximum is CoDel's interval (RFC 8289, sections
/// 4.3 and 4.4).
const STANDING_NS_MIN: u64 = 5_000_000;
const STANDING_NS_MAX: u64 = 100_000_000;

/// Returns the maximum wait for a busy channel: one round trip, which covers feedback and an
/// initial burst.
fn patience_ns(path: &Path) -> u64 {
    path.round_trip().least_ns().clamp(STANDING_NS_MIN, STANDING_NS_MAX)
}

impl Paths {
    #[inline]
    pub(in crate::sender) fn choose(
        &self,
        now: Instant,
        class: Class,
        takes: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let now_ns = now.nanoseconds();
        if class != Class::Fastest
            && let Some(Run { channel, .. }) = self.run_at(now_ns)
            && self.channels[channel].admits(now_ns)
            && takes(channel)
        {
            return Some(channel);
        }
        self.choose_anew(now_ns, class, takes)
    }

    #[inline(never)]
    fn choose_anew(
        &self,
        now_ns: u64,
        class: Class,
        takes: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let is_ranked = self.is_ranked(class);
        let first = if is_ranked { self.first_rank(now_ns, class, &takes)? } else { 0 };
        let is_open = |channel: &usize| {
            self.channels[*channel].admits(now_ns)
                && takes(*channel)
                && (!is_ranked || self.rank(class, *channel) == first)
        };
        let open = (0..self.channels.len()).filter(is_open);
        open.min_by_key(|channel| self.arrives_after_ns(*channel))
    }

    fn is_ranked(&self, class: Class) -> bool {
        self.has_levels || class == Class::Fastest
    }

    fn rank(&self, class: Class, channel: usize) -> u64 {
        match class {
            Class::Fastest => match self.channels[channel].round_trip().least_ns() {
                0 => u64::MAX,
                least_ns => least_ns,
            },
            Class::Spread | Class::Redundant => self.priorities[channel].into(),
        }
    }

    fn first_rank(&self, now_ns: u64, class: Class, takes: &impl Fn(usize) -> bool) -> Option<u64> {
        let counts = |channel: &usize| {
            let has_room = self.channels[*channel].admits(now_ns);
            takes(*channel) && (has_room || self.awaited_until_ns(now_ns, class, *channel) > now_ns)
        };
        (0..self.channels.len()).filter(counts).map(|channel| self.rank(class, channel)).min()
    }

    fn awaited_until_ns(&self, now_ns: u64, class: Class, channel: usize) -> u64 {
        let path = &self.channels[channel];
        let since_ns = match (class, path.next_ns()) {
            (Class::Fastest, Some(next_ns)) => {
                let is_soon = next_ns.saturating_sub(now_ns) <= patience_ns(path);
                return if is_soon { next_ns } else { 0 };
            }
            (Class::Fastest, None) => path.acknowledged_at_ns(),
            (Class::Spread | Class::Redundant, _) => path.busy_since_ns(),
        };
        since_ns.saturating_add(patience_ns(path))
    }

    pub(in crate::sender) fn next_at(
        &self,
        now: Instant,
        class: Class,
        takes: impl Fn(usize) -> bool,
    ) -> Option<Instant> {
        let now_ns = now.nanoseconds();
        let channels = (0..self.channels.len()).filter(|channel| takes(*channel));
        if !self.is_ranked(class) {
            let next_ns = channels.filter_map(|one| self.channels[one].next_ns()).min()?;
            return (next_ns > now_ns).then(|| Instant::from_nanoseconds(next_ns));
        }
        if self.choose_anew(now_ns, class, &takes).is_some() {
            return None;
        }
        let times = channels.flat_map(|channel| {
            let path = &self.channels[channel];
            let until_ns = self.awaited_until_ns(now_ns, class, channel);
            [path.next_ns(), (!path.admits(now_ns)).then_some(until_ns)]
        });
        let next_ns = times.flatten().filter(|at_ns| *at_ns > now_ns).min()?;
        Some(Instant::from_nanoseconds(next_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{MILLISECOND, at, paths};
    use super::*;
    use Class::{Fastest, Redundant, Spread};

    /// The one-way delays are 5 and 20 ms. On the first channel, 30 packets in flight and the next
    /// packet take 31 ms at 1 MB/s; less half of the 10 ms round trip, the packet would arrive
    /// after 26 ms.
    #[test]
    fn packet_takes_the_channel_of_earliest_arrival() {
        let mut paths = paths(&[10, 40]);
        assert_eq!(paths.arrives_after_ns(0), 5 * MILLISECOND);
        assert_eq!(paths.choose(at(1_000), Spread, |_| true), Some(0));
        (0..30).for_each(|_| paths.channels[0].sent(0, 1_000));
        assert_eq!(paths.arrives_after_ns(0), 26 * MILLISECOND);
        assert_eq!(paths.choose(at(1_000), Spread, |_| true), Some(1));
    }

    #[test]
    fn pace_determines_the_next_send_time() {
        let mut paths = paths(&[10]);
        assert_eq!(
            (paths.choose(at(50), Spread, |_| true), paths.next_at(at(50), Spread, |_| true)),
            (Some(0), None)
        );
        (0..2).for_each(|_| paths.sent(0, at(50), 1_000));
        assert_eq!(paths.choose(at(50), Spread, |_| true), None);
        assert_eq!(paths.next_at(at(50), Spread, |_| true), Some(at(51)));
    }

    #[test]
    fn packets_of_a_run_stay_on_one_channel() {
        let mut paths = paths(&[10, 10]);
        paths.sent(1, at(50), 100);
        assert_eq!(paths.choose(at(50), Spread, |_| true), Some(1));
        assert_eq!(
            paths.choose(at(52), Spread, |_| true),
            Some(0),
            "a millisecond later it is chosen anew"
        );
        assert_eq!(
            paths.choose(at(50), Spread, |channel| channel == 0),
            Some(0),
            "it has gone out"
        );
    }

    #[test]
    fn expensive_channel_is_used_after_one_rtt_of_backlog() {
        let mut paths = paths(&[20, 20]);
        paths.set_priority(1, 1);
        let mut taken = [Vec::new(), Vec::new()];
        for ms in 10..60 {
            if paths.choose(at(ms), Spread, |_| true).is_none() {
                assert!(paths.next_at(at(ms), Spread, |_| true) > Some(at(ms)));
            }
            while let Some(channel) = paths.choose(at(ms), Spread, |_| true) {
                paths.sent(channel, at(ms), 1_000);
                taken[channel].push(ms);
            }
        }
        assert_eq!((taken[0][0], taken[1][0]), (10, 30));
        assert!(taken[0].len() > 30, "{taken:?}");
        paths.run = None;
        assert_eq!(paths.choose(at(100), Redundant, |_| true), Some(0));
        (0..3).for_each(|_| paths.sent(0, at(100), 1_000));
        assert_eq!(paths.choose(at(100), Spread, |_| true), None, "it has been idle");
        assert_eq!(paths.choose(at(100), Spread, |channel| channel == 1), Some(1), "it is out");
    }

    /// If the window of the fastest channel is full, packets wait for 10 ms after its last report.
    #[test]
    fn fastest_channel_is_waited_for_while_it_reports() {
        let mut paths = paths(&[40, 10, 20]);
        assert_eq!(paths.choose(at(50), Fastest, |_| true), Some(1));
        (0..2).for_each(|_| paths.sent(1, at(50), 1_000));
        assert_eq!(paths.choose(at(50), Fastest, |_| true), None);
        assert_eq!(paths.next_at(at(50), Fastest, |_| true), Some(at(51)));
        assert_eq!(paths.choose(at(50), Spread, |_| true), Some(2));
        // The data in flight exceed the window: one second at 1 MB/s, plus ten packets.
        (0..1_100).for_each(|_| paths.channels[1].sent(51 * MILLISECOND, 1_000));
        assert_eq!(paths.choose(at(150), Fastest, |_| true), Some(2));
        assert_eq!(paths.choose(at(150), Fastest, |channel| channel != 2), Some(0));
    }
}
