//! On which channel a packet goes.
//!
//! ```text
//!   rank 0   channel 0   no room, room to come soon    ---> waited for
//!            channel 1   no room, busy for too long         passed over
//!   rank 1   channel 2   room                          ---> taken only where nobody is waited for
//! ```
//!
//! The rank of a channel is its priority, and for packets that are to go on the fastest its least
//! round trip. A packet goes on a channel of the first rank of which any has room or is **waited
//! for**, and there where it is there first. By priority a channel is waited for as long as it has
//! been busy, with packets that took whatever room there was, for no longer than a queue may stand
//! (see `patience_ns`): so the dear channels carry what the cheap ones do not, and no single burst.
//! The fastest is waited for as long as its pace says when there is room, within that time, and
//! where its window is full until for so long nothing has been heard of it.
//!
//! Where channels are of one priority, and nobody asks for the fastest, nobody is waited for.
//!
//! Source: ours; the earliest delivery path first as in `paths`.

use gingham_congestion::Path;

use super::{Paths, Run};
use crate::Instant;
use crate::sender::class::Class;

/// CoDel's target and interval (RFC 8289, sections 4.3 and 4.4): a queue that is there for less than
/// the first does not stand, and one that is there for longer than the second does, whatever the round
/// trip.
const STANDING_NS_MIN: u64 = 5_000_000;
const STANDING_NS_MAX: u64 = 100_000_000;

/// For how long a queue may be there and not stand: a round trip, in which a sender behind it hears of
/// it and the window that it sent at once is gone.
fn patience_ns(path: &Path) -> u64 {
    path.round_trip().least_ns().clamp(STANDING_NS_MIN, STANDING_NS_MAX)
}

impl Paths {
    /// The channel of those that take packets on which one of this class goes, if any may go now:
    /// while a run goes on, its own.
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

    /// Once a run, so not where each packet goes by.
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

    /// Whether channels have ranks for a packet of this class.
    fn is_ranked(&self, class: Class) -> bool {
        self.has_levels || class == Class::Fastest
    }

    /// The first goes first. What no round trip is known of is not known to be fast.
    fn rank(&self, class: Class, channel: usize) -> u64 {
        match class {
            Class::Fastest => match self.channels[channel].round_trip().least_ns() {
                0 => u64::MAX,
                least_ns => least_ns,
            },
            Class::Spread | Class::Redundant => self.priorities[channel].into(),
        }
    }

    /// The first rank of which a channel has room or is waited for.
    fn first_rank(&self, now_ns: u64, class: Class, takes: &impl Fn(usize) -> bool) -> Option<u64> {
        let counts = |channel: &usize| {
            let has_room = self.channels[*channel].admits(now_ns);
            takes(*channel) && (has_room || self.awaited_until_ns(now_ns, class, *channel) > now_ns)
        };
        (0..self.channels.len()).filter(counts).map(|channel| self.rank(class, channel)).min()
    }

    /// Until when a channel without room is waited for.
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

    /// From when on a packet of this class may go, as far as windows and paces tell, where none may
    /// go now.
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
        // One gets room, or one that has no room is not waited for any more.
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

    /// A way of 5 ms and one of 20 ms. With ten packets in flight the first is 10 ms behind them,
    /// with thirty 25; then the second is sooner there.
    #[test]
    fn a_packet_goes_where_it_is_there_first() {
        let mut paths = paths(&[10, 40]);
        assert_eq!(paths.arrives_after_ns(0), 5 * MILLISECOND);
        assert_eq!(paths.choose(at(1_000), Spread, |_| true), Some(0));
        (0..30).for_each(|_| paths.channels[0].sent(0, 1_000));
        assert_eq!(paths.arrives_after_ns(0), 26 * MILLISECOND);
        assert_eq!(paths.choose(at(1_000), Spread, |_| true), Some(1));
    }

    /// A millisecond's packets go at once; the next may when the pace comes to it.
    #[test]
    fn a_pace_says_when() {
        let mut paths = paths(&[10]);
        assert_eq!(
            (paths.choose(at(50), Spread, |_| true), paths.next_at(at(50), Spread, |_| true)),
            (Some(0), None)
        );
        (0..2).for_each(|_| paths.sent(0, at(50), 1_000));
        assert_eq!(paths.choose(at(50), Spread, |_| true), None);
        assert_eq!(paths.next_at(at(50), Spread, |_| true), Some(at(51)));
    }

    /// Packets in a row stay on a channel, though another would now be as good.
    #[test]
    fn what_goes_at_once_stays_together() {
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

    /// A cheap way and a dear one. A burst of 100 ms waits for the cheap one for its round trip of 20 ms,
    /// though the dear one has room; then both carry it, and when the cheap one has been idle it is
    /// waited for again.
    #[test]
    fn the_dear_channel_takes_what_has_stood_for_a_round_trip() {
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

    /// Packets for the fastest stay there while it is paced. Its window full, they wait for 10 ms from
    /// when it was heard of, and then go on the next.
    #[test]
    fn the_fastest_is_waited_for_while_it_is_heard_of() {
        let mut paths = paths(&[40, 10, 20]);
        assert_eq!(paths.choose(at(50), Fastest, |_| true), Some(1));
        (0..2).for_each(|_| paths.sent(1, at(50), 1_000));
        assert_eq!(paths.choose(at(50), Fastest, |_| true), None);
        assert_eq!(paths.next_at(at(50), Fastest, |_| true), Some(at(51)));
        assert_eq!(paths.choose(at(50), Spread, |_| true), Some(2));
        // More than a second of a megabyte and ten packets, which is its window.
        (0..1_100).for_each(|_| paths.channels[1].sent(51 * MILLISECOND, 1_000));
        assert_eq!(paths.choose(at(150), Fastest, |_| true), Some(2));
        assert_eq!(paths.choose(at(150), Fastest, |channel| channel != 2), Some(0));
    }
}
