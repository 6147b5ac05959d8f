//! Congestion window and pacing rate of each channel, and the choice of a channel in free order.
//!
//! ```text
//!                          in flight + the packet
//!   arrives after  max( ---------------------------- , min. RTT ) - min. RTT / 2
//!                           bottleneck bandwidth
//! ```
//!
//! A packet takes the channel with room and the earliest expected arrival. Below the
//! bandwidth-delay product, only the minimum round-trip time matters. Further packets stay on that
//! channel for 64,000 bytes or 1 ms, to form one batch for a network card.
//!
//! Source: earliest delivery path first, Chebrolu and Rao (IEEE Trans. Mobile Computing 5(4),
//! 2006).
//!
//! Invariant: the delivery order does not depend on this choice.

mod choice;

use super::control::{ControlPlan, Order, SharePlan};
use super::shares::{Found, Shares};
use super::units::is_over;
use crate::receiver::REPORT_PAUSE;
use crate::{ChannelSet, Instant, Report, Sent, channels_of, channels_where};
use core::time::Duration;
use gingham_congestion::units::time_ns;
use gingham_congestion::{
    Acknowledgement, Control, Controller, FixedRate, Path, PathPlan, RateCap, keep_time,
};

const RUN_BYTES_MAX: u64 = 64_000;
const RUN_NS_MAX: u64 = 1_000_000;

const ROUND_NS_MAX: u64 = 60_000_000_000;

#[derive(Clone, Copy, Debug)]
#[cfg_attr(test, derive(Default))]
struct Run {
    channel: usize,
    left_bytes: u64,
    until_ns: u64,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(test, derive(Default))]
struct Waiting {
    channel: usize,
    since_ns: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Paths {
    plan: ControlPlan,
    order: Order,
    channels: Vec<Path>,
    longest_bytes: u64,
    run: Option<Run>,
    priorities: Vec<u8>,
    has_levels: bool,
    caps: Vec<Option<RateCap>>,
    waiting: Option<Waiting>,
    shares: Option<Shares>,
    /// End of the present common round of all channels; used only while quanta are constant.
    round_until_ns: u64,
    echoes: Vec<Option<Instant>>,
}

impl Paths {
    pub(super) fn new(
        plan: &ControlPlan,
        order: Order,
        shares: Option<SharePlan>,
        longest: u32,
        channels: usize,
    ) -> Self {
        let longest_bytes = u64::from(longest);
        let path = |channel| new_path(plan, longest_bytes, order, channel);
        Self {
            plan: *plan,
            order,
            channels: (0..channels).map(path).collect(),
            longest_bytes,
            run: None,
            priorities: vec![0; channels],
            has_levels: false,
            caps: vec![None; channels],
            waiting: None,
            shares: shares.map(|plan| Shares::new(plan, longest, channels)),
            round_until_ns: 0,
            echoes: vec![None; channels],
        }
    }

    pub(super) fn rest(&mut self) {
        self.channels.iter_mut().for_each(Path::rest);
    }

    /// Forgets the measurements of a dead channel, except a configured rate. BBR keeps the former
    /// bandwidth for its first probe.
    pub(super) fn revive(&mut self, channel: usize) {
        let path = &mut self.channels[channel];
        if !matches!(path.control(), Control::FixedRate(_)) {
            let mut control = self.plan.control(self.longest_bytes, self.order, channel);
            if let (Control::Bbr(bbr), Some(before)) = (&mut control, path.bytes_per_second()) {
                bbr.expect(before);
            }
            path.set_control(control);
        }
    }

    /// Forgets the measurements and the packets in flight of a channel's former link.
    pub(super) fn begin(&mut self, channel: usize) {
        let (packets, bytes) = self.channels[channel].sent_counts();
        let mut path = new_path(&self.plan, self.longest_bytes, self.order, channel);
        path.set_sent(packets, bytes);
        path.set_cap(self.caps[channel]);
        self.channels[channel] = path;
    }

    pub(super) fn set_priority(&mut self, channel: usize, priority: u8) {
        self.priorities[channel] = priority;
        self.has_levels = self.priorities.iter().any(|other| *other != self.priorities[0]);
        self.run = None;
    }

    pub(super) fn priority(&self, channel: usize) -> u8 {
        self.priorities[channel]
    }

    pub(super) fn equals(&self, channel: usize, among: ChannelSet) -> ChannelSet {
        let is_equal =
            |other| other != channel && self.priorities[other] == self.priorities[channel];
        among & channels_where(self.priorities.len(), is_equal)
    }

    pub(super) fn round_trip_least(&self, channels: ChannelSet) -> Option<Duration> {
        let trips = channels_of(channels).map(|channel| self.on(channel).round_trip().least_ns());
        trips.max().filter(|longest_ns| *longest_ns > 0).map(Duration::from_nanos)
    }

    pub(super) fn set_cap(&mut self, channel: usize, cap: Option<RateCap>) {
        self.caps[channel] = cap;
        self.channels[channel].set_cap(cap);
    }

    pub(super) fn set_rate(&mut self, channel: usize, bytes_per_second: u64) {
        let controller = FixedRate::new(bytes_per_second, self.longest_bytes);
        self.channels[channel].set_control(Control::FixedRate(controller));
    }

    pub(super) fn on(&self, channel: usize) -> &Path {
        &self.channels[channel]
    }

    pub(super) fn admits(&self, channel: usize, now: Instant) -> bool {
        self.channels[channel].admits(now.nanoseconds())
    }

    fn run_at(&self, now_ns: u64) -> Option<Run> {
        let goes_on = |run: &Run| run.left_bytes >= self.longest_bytes && run.until_ns > now_ns;
        self.run.filter(goes_on).filter(|run| run.channel < self.channels.len())
    }

    pub(super) fn ready_bytes(&self, channel: usize, now: Instant) -> u64 {
        self.channels[channel].ready_bytes(now.nanoseconds())
    }

    pub(super) fn run_bytes(&self, channel: usize, now: Instant) -> u64 {
        let run = self.run_at(now.nanoseconds()).filter(|run| run.channel == channel);
        run.map_or(RUN_BYTES_MAX, |run| run.left_bytes).saturating_sub(self.longest_bytes) + 1
    }

    pub(super) fn arrives_after_ns(&self, channel: usize) -> u64 {
        let path = &self.channels[channel];
        let least_ns = path.round_trip().least_ns();
        let Some(rate) = path.bytes_per_second().or_else(|| path.pacing_rate_bytes_per_second())
        else {
            return least_ns / 2;
        };
        let ahead_ns = time_ns(path.in_flight_bytes() + self.longest_bytes, rate);
        ahead_ns.max(least_ns) - least_ns / 2
    }

    pub(super) fn sent(&mut self, channel: usize, now: Instant, length_bytes: u32) {
        let (now_ns, bytes) = (now.nanoseconds(), u64::from(length_bytes));
        match &mut self.run {
            Some(run) if run.channel == channel && run.until_ns > now_ns => {
                run.left_bytes = run.left_bytes.saturating_sub(bytes);
            }
            run => {
                if self.has_levels {
                    self.channels[channel].see_work(now_ns);
                }
                let left_bytes = RUN_BYTES_MAX.saturating_sub(bytes);
                let until_ns = now_ns.saturating_add(RUN_NS_MAX);
                *run = Some(Run { channel, left_bytes, until_ns });
            }
        }
        self.channels[channel].sent(now_ns, bytes);
    }

    pub(super) fn sent_copy(&mut self, channel: usize, now: Instant, length_bytes: u32) {
        self.channels[channel].sent(now.nanoseconds(), u64::from(length_bytes));
    }

    pub(super) fn handle_report(
        &mut self,
        now: Instant,
        channel: usize,
        sent: Sent,
        report: &Report,
        quantum: impl Fn(usize) -> u32,
    ) -> bool {
        let can_be = self.take_report(now, channel, sent, report);
        if self.order == Order::Strict {
            self.keep_time(now, channel, quantum);
        }
        can_be
    }

    fn take_report(&mut self, now: Instant, channel: usize, sent: Sent, report: &Report) -> bool {
        let (now_ns, path) = (now.nanoseconds(), &mut self.channels[channel]);
        let unaccounted = sent.packets.wrapping_sub(report.accounted_packets);
        let (sent_packets, _) = path.sent_counts();
        let Some(accounted_packets) = sent_packets.checked_sub(u64::from(unaccounted)) else {
            return false;
        };
        let told_ns = report.echo.nanoseconds().saturating_add(u64::from(report.held_ns));
        if self.echoes[channel] != Some(report.echo) && report.held_ns != u32::MAX {
            self.echoes[channel] = Some(report.echo);
            if let Some(round_trip_ns) = now_ns.checked_sub(told_ns) {
                path.timed(now_ns, round_trip_ns);
            }
        }
        let held_ns = Some(report.received_ago_ns).filter(|held_ns| *held_ns != u32::MAX);
        let acknowledgement = Acknowledgement {
            accounted_packets,
            accounted_bytes: report.accounted_bytes,
            received_bytes: report.received_bytes,
            received_at_ns: report.received_at.nanoseconds(),
            held_ns: held_ns.map(u64::from),
        };
        self.take_turns(now_ns, channel);
        let can_be = self.channels[channel].acknowledged(now_ns, &acknowledgement);
        if let Some(shares) = self.shares.as_mut().filter(|_| can_be) {
            shares.see(channel, now_ns, report.received_bytes);
        }
        can_be
    }

    /// In free order, lets only one channel at a time probe its minimum round-trip time, while the
    /// other channels carry its load.
    fn take_turns(&mut self, now_ns: u64, channel: usize) {
        if self.order == Order::Free {
            let mut others =
                self.channels.iter().enumerate().filter(|(other, _)| *other != channel);
            let others_probe = others.any(|(_, path)| path.is_probing_round_trip(now_ns));
            self.channels[channel].see_others_probe(others_probe);
        }
    }

    /// In strict order, lets the packets of a turn form a burst, so that the other channels wait
    /// less.
    fn keep_time(&mut self, now: Instant, channel: usize, quantum: impl Fn(usize) -> u32) {
        let bytes = u64::from(quantum(channel)) + self.longest_bytes;
        self.channels[channel].set_burst(bytes);
        let now_ns = now.nanoseconds();
        if self.shares.is_none() && is_over(now_ns, self.round_until_ns, ROUND_NS_MAX) {
            let round_trips = self.channels.iter().map(|path| path.round_trip().smoothed_ns());
            let round_ns = round_trips.max().unwrap_or(0).min(ROUND_NS_MAX);
            self.round_until_ns = now_ns.saturating_add(round_ns);
            self.channels.iter_mut().for_each(Path::pass_round);
        }
        keep_time(now_ns, channel, &mut self.channels, |one| quantum(one) > 0);
    }

    /// Records the channel whose turn it is, and measures how long the pipe waits for it.
    pub(super) fn see_turn(&mut self, now: Instant, channel: usize) {
        let now_ns = now.nanoseconds();
        let waits = !self.channels[channel].admits(now_ns);
        match self.waiting {
            Some(waiting) if waiting.channel == channel && waits => {}
            Some(waiting) => {
                self.end_wait(now_ns, waiting);
                self.waiting = None;
            }
            None => {}
        }
        if waits && self.waiting.is_none() {
            self.waiting = Some(Waiting { channel, since_ns: now_ns });
        }
    }

    fn end_wait(&mut self, now_ns: u64, waiting: Waiting) {
        let Some(shares) = &mut self.shares else { return };
        shares.add_wait(waiting.channel, now_ns.saturating_sub(waiting.since_ns));
        for (channel, path) in self.channels.iter_mut().enumerate() {
            let idle_ns = now_ns.saturating_sub(path.idle_from_ns().max(waiting.since_ns));
            if channel != waiting.channel && path.has_room(now_ns) && idle_ns > 0 {
                path.see_idleness(now_ns);
                shares.add_idle_time(channel, idle_ns);
            }
        }
    }

    pub(super) fn see_changes(&mut self, now: Instant) {
        if let Some(shares) = &mut self.shares {
            shares.restart_measurement(now.nanoseconds(), |channel| found(&self.channels[channel]));
        }
    }

    pub(super) fn plan(
        &mut self,
        now: Instant,
        quanta: impl Iterator<Item = u32>,
    ) -> Option<&mut [u32]> {
        let shares = self.shares.as_mut().filter(|shares| shares.are_due(now.nanoseconds()))?;
        shares.set_present(quanta);
        shares.repair_state();
        self.channels.iter_mut().for_each(Path::pass_round);
        let channels = &self.channels;
        shares.plan(now.nanoseconds(), |channel| found(&channels[channel]))
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.channels.iter().filter_map(Path::poll_timeout).min().map(Instant::from_nanoseconds)
    }

    pub(super) fn handle_timeouts(&mut self, now: Instant) {
        let now_ns = now.nanoseconds();
        for path in &mut self.channels {
            if path.poll_timeout().is_some_and(|at_ns| at_ns <= now_ns) {
                path.handle_timeout(now_ns);
            }
        }
    }

    pub(super) fn repair_state(&mut self, channel: usize, sent: Sent) {
        let path = &mut self.channels[channel];
        let (packets, bytes) = path.sent_counts();
        let sent_packets = u64::from(sent.packets);
        if (packets ^ sent_packets) & u64::from(u32::MAX) != 0 || bytes != sent.bytes {
            path.set_sent(sent_packets, sent.bytes);
        }
    }

    pub(super) fn restart(&mut self) {
        (self.run, self.waiting) = (None, None);
        self.echoes.fill(None);
        self.channels.iter_mut().for_each(Path::restart);
    }
}

fn new_path(plan: &ControlPlan, longest_bytes: u64, order: Order, channel: usize) -> Path {
    let path_plan = PathPlan {
        window_bytes_max: plan.window_bytes_max.unwrap_or(u64::MAX),
        burst: plan.burst,
        kept: REPORT_PAUSE,
        ..PathPlan::new(longest_bytes)
    };
    Path::new(path_plan, plan.control(longest_bytes, order, channel))
}

fn found(path: &Path) -> Found {
    Found {
        bytes_per_second: path.bytes_per_second(),
        is_starting: path.control().is_starting(),
        round_trip_ns: path.round_trip().smoothed_ns(),
        is_queued: path.is_queued(),
        pacing_rate_bytes_per_second: path.pacing_rate_bytes_per_second().unwrap_or(0),
    }
}

#[cfg(test)]
crate::corruption::corrupt!(Paths: waiting, run, round_until_ns, echoes; shares);
#[cfg(test)]
crate::corruption::corrupt!(Waiting: channel, since_ns);
#[cfg(test)]
crate::corruption::corrupt!(Run: channel, left_bytes, until_ns);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::control::Controlled;

    pub(super) const MILLISECOND: u64 = 1_000_000;

    pub(super) fn at(ms: u64) -> Instant {
        Instant::from_nanoseconds(ms * MILLISECOND)
    }

    pub(super) fn paths(round_trips_ms: &[u64]) -> Paths {
        let by = Controlled::FixedRate(1_000_000);
        let plan = ControlPlan { by, ..ControlPlan::default() };
        let mut paths = Paths::new(&plan, Order::Free, None, 1_000, round_trips_ms.len());
        for (path, round_trip_ms) in paths.channels.iter_mut().zip(round_trips_ms) {
            path.timed(0, round_trip_ms * MILLISECOND);
        }
        paths
    }

    #[test]
    fn impossible_report_is_rejected() {
        let mut paths = paths(&[10]);
        paths.sent(0, at(0), 1_000);
        let sent = Sent { packets: 1, bytes: 1_000 };
        let report = Report { accounted_packets: 2, accounted_bytes: 2_000, ..Report::default() };
        assert!(!paths.take_report(at(20), 0, sent, &report));
        assert_eq!(paths.on(0).in_flight_bytes(), 1_000);
        let report = Report { accounted_packets: 1, accounted_bytes: 1_000, ..report };
        assert!(paths.take_report(at(20), 0, sent, &report));
        assert_eq!(paths.on(0).in_flight_bytes(), 0);
    }
}
