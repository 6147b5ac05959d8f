//! What may be in flight on each channel and how fast it goes, and by that a free choice of the
//! channel.
//!
//! ```text
//!                         in flight + the packet
//!   arrives after  max( ------------------------- , least ) - least / 2       the least of all channels with room
//!                               rate
//! ```
//!
//! A packet goes to the channel, among those that have room, on which it will be there first. What
//! is in flight there goes before it; where that is less than the way holds, the way alone counts.
//! Then packets stay on that channel for a quantum or a millisecond, so that a network card gets
//! them in one go.
//!
//! Source: ours; the earliest delivery path first of Chebrolu and Rao (IEEE Trans. Mobile Computing
//! 5(4), 2006) is the rule.
//!
//! Invariant: nothing here is needed for order.

use gingham_congestion::{Acknowledgement, Control, Path, PathPlan, Told};

use super::control::ControlPlan;
use crate::{Instant, Report, Sent};

/// What goes on one channel in a row is at most so much.
const RUN_BYTES_MAX: u64 = 64_000;
/// And takes at most so long.
const RUN_NS_MAX: u64 = 1_000_000;

/// A channel and what may follow on it without another choice.
#[derive(Clone, Copy, Debug)]
struct Run {
    channel: usize,
    left_bytes: u64,
    until_ns: u64,
}

/// The channels as paths.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    paths: Vec<Path>,
    longest_bytes: u64,
    run: Option<Run>,
    /// What was said last of when a marker was sent, on each channel.
    echoes: Vec<Instant>,
}

impl Paths {
    pub(super) fn new(plan: &ControlPlan, longest_bytes: u32, channels: usize) -> Self {
        let longest_bytes = u64::from(longest_bytes);
        let path_plan = PathPlan {
            window_bytes_max: plan.window_bytes_max.unwrap_or(u64::MAX),
            burst: plan.burst,
            ..PathPlan::new(longest_bytes)
        };
        let path = |channel| Path::new(path_plan, plan.control(longest_bytes, channel));
        Self {
            paths: (0..channels).map(path).collect(),
            longest_bytes,
            run: None,
            echoes: vec![Instant::ORIGIN; channels],
        }
    }

    /// Somebody knows what a channel carries.
    pub(super) fn tell(&mut self, channel: usize, bytes_per_second: u64) {
        let told = Told::new(bytes_per_second, self.longest_bytes);
        self.paths[channel].set_control(Control::Told(told));
    }

    pub(super) fn on(&self, channel: usize) -> &Path {
        &self.paths[channel]
    }

    /// Whether a packet may go on a channel.
    pub(super) fn admits(&self, channel: usize, now: Instant) -> bool {
        self.paths[channel].admits(now.nanoseconds())
    }

    /// The channel of these on which a packet is there first, if any has room.
    pub(super) fn choose(
        &self,
        now: Instant,
        mut channels: impl Iterator<Item = usize> + Clone,
    ) -> Option<usize> {
        let now_ns = now.nanoseconds();
        let stays = self.run.filter(|run| {
            run.left_bytes >= self.longest_bytes
                && run.until_ns > now_ns
                && self.paths[run.channel].admits(now_ns)
        });
        if let Some(run) = stays.filter(|run| channels.clone().any(|one| one == run.channel)) {
            return Some(run.channel);
        }
        let open = channels.by_ref().filter(|channel| self.paths[*channel].admits(now_ns));
        open.min_by_key(|channel| self.arrives_after_ns(*channel))
    }

    /// In which time a packet that goes now is there.
    fn arrives_after_ns(&self, channel: usize) -> u64 {
        let path = &self.paths[channel];
        let least_ns = path.round_trip().least_ns();
        let Some(rate) = path.bytes_per_second().or_else(|| path.pace_bytes_per_second()) else {
            return least_ns / 2;
        };
        let ahead_bytes = u128::from(path.in_flight_bytes() + self.longest_bytes);
        let ahead_ns = ahead_bytes * 1_000_000_000 / u128::from(rate.max(1));
        let ahead_ns = u64::try_from(ahead_ns).unwrap_or(u64::MAX);
        ahead_ns.max(least_ns) - least_ns / 2
    }

    /// From when on a pace lets a packet go on one of these channels whose window has room, where
    /// none may go now.
    pub(super) fn next_at(
        &self,
        now: Instant,
        channels: impl Iterator<Item = usize>,
    ) -> Option<Instant> {
        let roomy = channels.map(|channel| &self.paths[channel]).filter(|path| path.has_room());
        let next_ns = roomy.map(Path::paced_until_ns).min()?;
        (next_ns > now.nanoseconds()).then(|| Instant::from_nanoseconds(next_ns))
    }

    /// A packet goes.
    pub(super) fn sent(&mut self, channel: usize, now: Instant, length_bytes: u32) {
        let (now_ns, bytes) = (now.nanoseconds(), u64::from(length_bytes));
        self.paths[channel].sent(now_ns, bytes);
        let run = self.run.filter(|run| run.channel == channel && run.until_ns > now_ns);
        let run = run.unwrap_or(Run {
            channel,
            left_bytes: RUN_BYTES_MAX,
            until_ns: now_ns.saturating_add(RUN_NS_MAX),
        });
        self.run = Some(Run { left_bytes: run.left_bytes.saturating_sub(bytes), ..run });
    }

    /// A copy goes, which is counted nowhere.
    pub(super) fn sent_copy(&mut self, channel: usize, now: Instant, length_bytes: u32) {
        self.paths[channel].sent_beside(now.nanoseconds(), u64::from(length_bytes));
    }

    /// A report has come: whether it can be so.
    pub(super) fn take_report(
        &mut self,
        now: Instant,
        channel: usize,
        sent: Sent,
        report: &Report,
    ) -> bool {
        let (now_ns, path) = (now.nanoseconds(), &mut self.paths[channel]);
        let unaccounted = sent.packets.wrapping_sub(report.accounted_packets);
        let Some(accounted_packets) = path.sent_packets().checked_sub(u64::from(unaccounted))
        else {
            return false;
        };
        let told_ns = report.echo.nanoseconds().saturating_add(u64::from(report.held_ns));
        if report.echo > self.echoes[channel] && report.held_ns != u32::MAX {
            self.echoes[channel] = report.echo;
            if let Some(round_trip_ns) = now_ns.checked_sub(told_ns) {
                path.timed(now_ns, round_trip_ns);
            }
        }
        path.acknowledged(
            now_ns,
            &Acknowledgement {
                accounted_packets,
                accounted_bytes: report.accounted_bytes,
                received_bytes: report.received_bytes,
                came_at_ns: report.came_at.nanoseconds(),
                held_ns: Some(report.came_ago_ns)
                    .filter(|held_ns| *held_ns != u32::MAX)
                    .map(u64::from),
            },
        )
    }

    /// When a controller wants to be asked though nothing happens.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.paths.iter().filter_map(Path::poll_timeout).min().map(Instant::from_nanoseconds)
    }

    pub(super) fn handle_timeouts(&mut self, now: Instant) {
        let now_ns = now.nanoseconds();
        for path in &mut self.paths {
            if path.poll_timeout().is_some_and(|at_ns| at_ns <= now_ns) {
                path.handle_timeout(now_ns);
            }
        }
    }

    /// A new epoch.
    pub(super) fn restart(&mut self) {
        self.run = None;
        self.echoes.fill(Instant::ORIGIN);
        self.paths.iter_mut().for_each(Path::restart);
    }
}
