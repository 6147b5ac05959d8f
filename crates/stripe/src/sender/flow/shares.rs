//! Quanta that follow the rates of their channels.
//!
//! ```text
//!   as shares of rates are          the pipe waits for the first; it is full, and its rate is measured
//!   channel 0  [======|==]              less than its share: shares follow the measure
//!   channel 1  [==   |   ]              never full: it may carry more, and is given more and more to find out
//! ```
//!
//! Packets cannot pass a channel by, so the pipe is as fast as the channel with the most for its
//! rate. On that one the sender waits, and it is measured. The others carry what they get, and
//! nobody knows what they could. A plan gives each channel its rate, and
//!
//! - moved by up to a fiftieth, so that half of the queue that is let stand does stand, in all of
//!   them;
//! - times 1, 1.25, 1.5, 2, 2 ... in one plan after the other, where it carried all of that and had
//!   no queue, though the pipe waited for others; times 2 at once while it has never been full.
//!
//! Where nobody waits, the source sends less than the channels carry: nothing is learned and
//! nothing tried. While the pipe waits for a flight window that is still growing, nothing is
//! concluded from that.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 3.5, have quanta in the ratio of the
//! rates, and know these; that they follow is ours. The gains are those of BBR's probing and start.
//!
//! Invariants: a quantum is at least the longest packet and at most the plan's bound; against the
//! share that grows most none falls to less than a quarter at once; shares within 1/128 of what
//! they are stay as they are.

use super::options::{SharePlan, nanoseconds};
use super::path::{Path, Phase};
use super::seen::Seen;
use super::units::{carried, is_over, percent_of, rate};

/// What a channel without a queue is given, one plan after the other.
const GAINS_PERCENT: [u64; 4] = [100, 125, 150, 200];
/// A queue below this part of what is let stand is none.
const LOOSE_PERCENT: u64 = 12;
/// What a channel has carried of its rate, at least, to be given more than that.
const TRIED_PERCENT: u64 = 80;
/// By how much a rate is moved at most so that the queue is half of what is let stand.
const TRIM_SHARE: u64 = 50;
/// Someone waited for so much of the time, at least, or the pipe is not held up.
const WAITED_SHARE: u64 = 4;
/// What a channel's share loses at once, against the channel that gains most.
const LOSS_MAX: u64 = 4;
/// No round trip and two samples take longer.
const WAIT_NS_MAX: u64 = 60_000_000_000;
/// Shares that differ by less stay.
const DIFFERENCE_SHARE: u64 = 128;

impl Path {
    /// What the channel is to be given, in bytes a second; and what was seen begins anew.
    fn wish(&mut self, is_held_up: bool) -> u64 {
        let queue_percent = self.queue_percent();
        let has_queue = self.seen.full_reports > 0 || queue_percent >= LOOSE_PERCENT;
        let is_starting = self.phase == Phase::Starting;
        let is_loose = is_held_up && !has_queue && (is_starting || self.was_tried());
        let loose_plans = if is_loose { self.seen.loose_plans + 1 } else { 0 };
        self.gain_percent = match loose_plans {
            0 => GAINS_PERCENT[0],
            _ if is_starting => GAINS_PERCENT[GAINS_PERCENT.len() - 1],
            plans => GAINS_PERCENT[(plans - 1).min(GAINS_PERCENT.len() - 1)],
        };
        self.seen.loose_plans = loose_plans;
        let rate = percent_of(self.bytes_per_second().unwrap_or(0), self.gain_percent);
        if !is_held_up || is_starting {
            return rate;
        }
        let trim = |percent: u64| percent_of(rate / TRIM_SHARE, 2 * percent);
        let less = rate - trim(queue_percent.saturating_sub(50));
        less.saturating_add(trim(50_u64.saturating_sub(queue_percent)))
    }

    /// Whether the channel has carried what it is taken to carry.
    fn was_tried(&self) -> bool {
        let Some((first, last)) = self.seen.settled else { return false };
        let carried = rate(last.1.saturating_sub(first.1), last.0.saturating_sub(first.0));
        carried >= percent_of(self.bytes_per_second().unwrap_or(0), TRIED_PERCENT)
    }

    /// Whether its flight window is what holds the pipe up, and is still growing.
    fn is_growing(&self) -> bool {
        self.is_in() && self.phase == Phase::Starting && self.seen.full_reports > 0
    }

    /// How much of the queue that is let stand does stand, in hundredths.
    fn queue_percent(&self) -> u64 {
        let level_bytes = self.seen.levels_bytes / self.seen.reports.max(1);
        let way_bytes = self.way_bytes().min(self.window_bytes());
        let room_bytes = (self.window_bytes() - way_bytes).max(1);
        (level_bytes.saturating_sub(way_bytes).saturating_mul(100) / room_bytes).min(100)
    }
}

/// The plans of shares.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    plan: SharePlan,
    longest_bytes: u32,
    /// Since when what is seen counts, and until when at least.
    since_ns: u64,
    until_ns: u64,
    /// Set-up takes the room: nothing is allocated later.
    wishes: Vec<u64>,
    quanta: Vec<u32>,
}

impl Shares {
    pub(super) fn new(plan: SharePlan, longest_bytes: u32, channels: usize) -> Self {
        Self {
            plan,
            longest_bytes,
            since_ns: 0,
            until_ns: 0,
            wishes: vec![0; channels],
            quanta: vec![0; channels],
        }
    }

    /// What is seen from now on is of the quanta that hold now: until all has got through, and two
    /// samples are taken.
    pub(super) fn look_anew(&mut self, now_ns: u64, paths: &mut [Path], sample_ns: u64) {
        let round_trips = paths.iter().filter(|path| path.is_in()).map(Path::round_trip_ns);
        let settled_at_ns = now_ns.saturating_add(round_trips.max().unwrap_or(0));
        self.since_ns = now_ns;
        self.until_ns = settled_at_ns.saturating_add(2 * sample_ns);
        for path in paths {
            let loose_plans = path.seen.loose_plans;
            path.seen = Seen { settled_at_ns, loose_plans, ..Seen::default() };
        }
    }

    /// Whether enough has been seen.
    pub(super) const fn are_due(&self, now_ns: u64) -> bool {
        is_over(now_ns, self.until_ns, WAIT_NS_MAX)
    }

    /// New quanta, if what was seen calls for any.
    pub(super) fn plan(
        &mut self,
        now_ns: u64,
        paths: &mut [Path],
        sample_ns: u64,
    ) -> Option<&mut [u32]> {
        let is_known = |path: &Path| {
            !path.is_in() || (path.seen.reports > 0 && path.bytes_per_second().is_some())
        };
        if !paths.iter().all(is_known) {
            return None;
        }
        let waited_ns: u64 = paths.iter().map(|path| path.seen.waited_ns).sum();
        let growing = paths.iter().filter(|path| path.is_growing());
        if 2 * growing.map(|path| path.seen.waited_ns).sum::<u64>() > waited_ns {
            self.look_anew(now_ns, paths, sample_ns);
            return None;
        }
        let is_held_up =
            waited_ns.saturating_mul(WAITED_SHARE) >= now_ns.saturating_sub(self.since_ns);
        for (wish, path) in self.wishes.iter_mut().zip(paths.iter_mut()) {
            *wish = if path.is_in() { path.wish(is_held_up).max(1) } else { 0 };
        }
        self.look_anew(now_ns, paths, sample_ns);
        self.bound_wishes(paths);
        self.set_quanta();
        self.differs(paths).then_some(&mut self.quanta)
    }

    /// No channel loses more of its share at once than a few plans can give back.
    fn bound_wishes(&mut self, paths: &[Path]) {
        let least = |path: &Path, most: u64| percent_of(most, path.quantum_bytes()) / LOSS_MAX;
        // Hundredths of a quantum each, so that what is compared is what a byte of quantum would
        // carry.
        let worth = |(wish, path): (&u64, &Path)| {
            wish.saturating_mul(100).checked_div(path.quantum_bytes()).unwrap_or(0)
        };
        let most = self.wishes.iter().zip(paths).map(worth).max().unwrap_or(0);
        for (wish, path) in self.wishes.iter_mut().zip(paths) {
            *wish = (*wish).max(least(path, most));
        }
    }

    /// In a round each channel sends what it carries in the time of the round, and the slowest its
    /// longest packet at least.
    fn set_quanta(&mut self) {
        let slowest = self.wishes.iter().copied().filter(|wish| *wish > 0).min().unwrap_or(1);
        let longest_ns = u64::from(self.longest_bytes).saturating_mul(1_000_000_000) / slowest;
        let round_ns = nanoseconds(self.plan.round).max(longest_ns);
        let most_bytes = self.plan.quantum_bytes_max.max(self.longest_bytes);
        for (quantum, wish) in self.quanta.iter_mut().zip(&self.wishes) {
            let bytes = u32::try_from(carried(*wish, round_ns)).unwrap_or(u32::MAX);
            *quantum = if *wish == 0 { 0 } else { bytes.clamp(self.longest_bytes, most_bytes) };
        }
    }

    /// Whether a share would be another one.
    fn differs(&self, paths: &[Path]) -> bool {
        let new_total: u64 = self.quanta.iter().map(|quantum| u64::from(*quantum)).sum();
        let old_total: u64 = paths.iter().map(Path::quantum_bytes).sum();
        let differs = |(path, quantum): (&Path, &u32)| {
            let old = u128::from(path.quantum_bytes()) * u128::from(new_total);
            let new = u128::from(*quantum) * u128::from(old_total);
            old.abs_diff(new) > old / u128::from(DIFFERENCE_SHARE)
        };
        paths.iter().zip(&self.quanta).any(differs)
    }
}

#[cfg(test)]
impl Shares {
    pub(super) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        (self.since_ns, self.until_ns) = (words(), words());
        self.wishes.iter_mut().for_each(|wish| *wish = words());
        self.quanta.iter_mut().for_each(|quantum| *quantum = crate::corruption::word(words));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::flow::options::FlightPlan;

    const MILLISECOND: u64 = 1_000_000;

    /// A path that is taken to carry so many bytes a second, of which a report has come, and for
    /// which the pipe has waited so many of 100 ms.
    fn path(rate: u64, quantum_bytes: u32, waited_ms: u64) -> Path {
        let mut path = Path::new(FlightPlan::default(), 1_000, quantum_bytes);
        path.tell(rate);
        path.seen.reports = 1;
        path.seen.waited_ns = waited_ms * MILLISECOND;
        path.seen.full_reports = u64::from(waited_ms > 0);
        path
    }

    fn plan(paths: &mut [Path]) -> Option<Vec<u32>> {
        let mut shares = Shares::new(SharePlan::default(), 1_000, paths.len());
        let quanta = shares.plan(100 * MILLISECOND, paths, 20 * MILLISECOND);
        quanta.map(|quanta| quanta.to_vec())
    }

    fn steady(mut path: Path) -> Path {
        path.phase = Phase::Steady;
        path
    }

    /// 1 and 2 MB/s in 1.5 ms. Nobody waits, so nothing is tried.
    #[test]
    fn quanta_are_what_channels_carry_in_a_round() {
        let mut paths = [path(1_000_000, 1_000, 0), path(2_000_000, 1_000, 0)];
        assert_eq!(plan(&mut paths), Some(vec![1_500, 3_000]));
    }

    /// 0.1 MB/s takes 10 ms for a packet of 1,000 bytes, so a round takes that.
    #[test]
    fn the_slowest_channel_sends_a_packet_a_round() {
        let mut paths = [path(100_000, 1_000, 0), path(300_000, 1_000, 0)];
        assert_eq!(plan(&mut paths), Some(vec![1_000, 3_000]));
    }

    /// The pipe waits for the first, whose start is over; the second has never been full, and
    /// starts.
    #[test]
    fn a_channel_that_starts_is_given_twice_what_it_carries() {
        let mut paths = [steady(path(1_000_000, 1_500, 90)), path(1_000_000, 1_500, 0)];
        assert_eq!(
            plan(&mut paths),
            Some(vec![1_530, 3_000]),
            "the first by 2 % for want of a queue"
        );
    }

    /// The second has carried what it is taken to, without a queue: from the second such plan on it
    /// is given more. What has carried half of that is given that first.
    #[test]
    fn only_what_carries_all_it_is_taken_to_is_given_more() {
        for (carried_bytes, gains) in [(40_000, [100, 125, 150, 200]), (20_000, [100; 4])] {
            let mut second = steady(path(1_000_000, 1_500, 0));
            for gain in gains {
                let settled = ((0, 0), (40 * MILLISECOND, carried_bytes));
                second.seen = Seen { reports: 1, settled: Some(settled), ..second.seen };
                second.wish(true);
                assert_eq!(second.gain_percent, gain);
            }
        }
    }

    /// From 100 to 1 at once would be a hundredth; it is a quarter, against what gains most.
    #[test]
    fn a_share_falls_by_four_at_most() {
        let mut paths = [path(1_000_000, 1_000, 0), path(10_000, 1_000, 0)];
        assert_eq!(plan(&mut paths), Some(vec![4_000, 1_000]));
    }

    /// A difference of 1/150 is not announced, one of 1/75 is; who is out stays out.
    #[test]
    fn small_differences_are_left_alone() {
        let mut paths = [path(1_000_000, 1_500, 0), path(1_000_000, 1_510, 0)];
        assert_eq!(plan(&mut paths), None);
        let mut paths = [path(1_000_000, 1_500, 0), path(1_000_000, 1_530, 0), path(1, 0, 0)];
        assert_eq!(plan(&mut paths), Some(vec![1_500, 1_500, 0]));
    }

    /// A window that is still growing is no capacity: nothing is concluded from a pipe that waits
    /// for it.
    #[test]
    fn nothing_is_planned_while_the_pipe_waits_for_a_start() {
        let mut paths = [path(1_000_000, 1_000, 90), path(2_000_000, 1_000, 0)];
        assert_eq!(plan(&mut paths), None);
    }
}
