//! Quanta that follow the rates of their channels.
//!
//! ```text
//!   as shares of rates are          the pipe waits for the first; it is full, and its rate is measured
//!   channel 0  [======|==]              less than its share: shares follow the measure
//!   channel 1  [==   |   ]              never full: it may carry more, and is given more and more to find out
//! ```
//!
//! Packets cannot pass a channel by, so the pipe is as fast as the channel with the most for its rate. On
//! that one the sender waits, and it is measured. The others carry what they get, and nobody knows what they
//! could. A plan gives each channel its rate, and
//!
//! - moved by up to a fiftieth, so that half of the queue that is let stand does stand, in all of them;
//! - times 1, 1.25, 1.5, 2, 2 ... in one plan after the other, where there was no queue all the while though
//!   the pipe waited for others; times 2 at once while the channel has never been full.
//!
//! Where nobody waits, the source sends less than the channels carry: nothing is learned and nothing changed.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 3.5, have quanta in the ratio of the rates, and
//! know these; that they follow is ours. The gains are those of BBR's probing and start.
//!
//! Invariants: a quantum is at least the longest packet and at most the plan's bound; shares within
//! 1/128 of what they are stay as they are.

use super::options::{SharePlan, nanoseconds};
use super::path::{Path, Phase};
use super::units::{carried, percent_of};

/// What a channel without a queue is given, one plan after the other.
const GAINS_PERCENT: [u64; 4] = [100, 125, 150, 200];
/// A queue below this part of what is let stand is none.
const LOOSE_PERCENT: u64 = 12;
/// By how much a rate is moved at most so that the queue is half of what is let stand.
const TRIM_SHARE: u64 = 50;
/// Someone waited for so much of the time, at least, or the pipe is not held up.
const WAITED_SHARE: u64 = 4;
/// Shares that differ by less stay.
const DIFFERENCE_SHARE: u64 = 128;

/// What was seen of a channel since the last plan.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) levels_bytes: u64,
    pub(super) reports: u64,
    pub(super) full_reports: u64,
    pub(super) waited_ns: u64,
    /// Plans in a row before which the channel had no queue while the pipe waited for others.
    loose_plans: usize,
}

impl Path {
    /// What the channel is to be given, in bytes a second; and what was seen begins anew.
    fn wish(&mut self, is_held_up: bool) -> u64 {
        let queue_percent = self.queue_percent();
        let is_loose = is_held_up && self.seen.full_reports == 0 && queue_percent < LOOSE_PERCENT;
        let loose_plans = if is_loose { self.seen.loose_plans + 1 } else { 0 };
        let is_starting = self.phase == Phase::Starting;
        self.gain_percent = match loose_plans {
            0 => GAINS_PERCENT[0],
            _ if is_starting => GAINS_PERCENT[GAINS_PERCENT.len() - 1],
            plans => GAINS_PERCENT[(plans - 1).min(GAINS_PERCENT.len() - 1)],
        };
        self.seen = Seen { loose_plans, ..Seen::default() };
        let rate = percent_of(self.bytes_per_second().unwrap_or(0), self.gain_percent);
        if !is_held_up || is_starting {
            return rate;
        }
        let trim = |percent: u64| percent_of(rate / TRIM_SHARE, 2 * percent);
        rate - trim(queue_percent.saturating_sub(50)) + trim(50_u64.saturating_sub(queue_percent))
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

    /// What is seen from now on is of the quanta that hold now: until all has got through, and two samples
    /// are taken.
    pub(super) fn look_anew(&mut self, now_ns: u64, paths: &mut [Path], sample_ns: u64) {
        let slowest_ns = paths.iter().filter(|path| path.is_in()).map(Path::round_trip_ns);
        self.since_ns = now_ns;
        self.until_ns = now_ns + slowest_ns.max().unwrap_or(0) + 2 * sample_ns;
        for path in paths {
            path.seen = Seen { loose_plans: path.seen.loose_plans, ..Seen::default() };
        }
    }

    /// Whether enough has been seen.
    pub(super) const fn are_due(&self, now_ns: u64) -> bool {
        now_ns >= self.until_ns
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
        let is_held_up = waited_ns.saturating_mul(WAITED_SHARE) >= now_ns - self.since_ns;
        for (wish, path) in self.wishes.iter_mut().zip(paths.iter_mut()) {
            *wish = if path.is_in() { path.wish(is_held_up).max(1) } else { 0 };
        }
        self.look_anew(now_ns, paths, sample_ns);
        self.set_quanta();
        self.differs(paths).then_some(&mut self.quanta)
    }

    /// In a round each channel sends what it carries in the time of the round, and the slowest its longest
    /// packet at least.
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
