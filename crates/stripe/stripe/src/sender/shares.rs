//! Quanta that follow the rates of their channels.
//!
//! ```text
//!   shares as fractions of rates    observation                           target rate
//!   channel 0  [=====|=|==]         has a queue: runs at its capacity     arrival rate
//!   channel 1  [==   |    ]         gets less than its known rate         known rate
//!   channel 2  [=======|  ]         gets its known rate, and waits        pacing rate of its controller
//!                      ^ rate of the pipe, which waits for channel 0
//! ```
//!
//! In strict order, the channel with the largest share relative to its rate limits the pipe. If a
//! channel has a queue, its arrival rate is its capacity. A channel that reaches its known rate and
//! still waits for others may have more capacity. It then gets its controller's pacing rate: 1.25
//! times the known rate during a probe, and up to twice the known rate during startup.
//!
//! If the pipe waits for no channel, the source sends less than the channels can carry, and quanta
//! stay unchanged. Quanta also stay unchanged while the pipe waits for a growing congestion window.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 3.5, set quanta in proportion to known
//! rates; adaptation is ours, with the gains of BBR.
//!
//! Invariant: a quantum is at least the maximum packet length and at most the plan's limit.

use gingham_congestion::units::{carried, percent_of, rate};

use super::control::SharePlan;
use super::units::{is_over, nanoseconds};

/// Maximum target during startup, in percent of the known rate: the window is twice the
/// bandwidth-delay product.
const START_PERCENT: u64 = 200;
/// Percentage of its known rate below which a channel falls short. The threshold lies between the
/// pacing rates of a cruising channel, 99 %, and of a probing channel held back by others, 81 %.
const NEARLY_PERCENT: u64 = 90;
/// Percentage of its rate at the last plan that a rate must reach to count as growing.
const GROWN_PERCENT: u64 = 125;
/// Fraction of the measurement (1/4) that the pipe must spend waiting to count as held up.
const WAITED_SHARE: u64 = 4;
/// Maximum factor by which one plan reduces a share relative to the share that grows most.
const LOSS_MAX: u64 = 4;
const WAIT_NS_MAX: u64 = 60_000_000_000;
/// Smallest relative change of a share that is applied (1/128).
const DIFFERENCE_SHARE: u64 = 128;

const NS_MAX: u64 = 1 << 56;
const COUNT_MAX: u64 = 1 << 32;

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    reports: u64,
    waited_ns: u64,
    /// Time that the channel could have used for sending while the pipe waited for another channel.
    idle_ns: u64,
    /// Time when all packets sent before the last plan are expected to have arrived.
    settled_at_ns: u64,
    /// Time in ns of the first and the last report, each with the number of bytes received by then.
    came: Option<((u64, u64), (u64, u64))>,
}

impl Seen {
    const fn is_sound(&self) -> bool {
        self.reports < COUNT_MAX && self.waited_ns < NS_MAX && self.idle_ns < NS_MAX
    }
}

#[derive(Clone, Debug)]
struct Shared {
    quantum_bytes: u64,
    rate: u64,
    seen: Seen,
}

impl Shared {
    fn new() -> Self {
        Self { quantum_bytes: 0, rate: 0, seen: Seen::default() }
    }

    fn see(&mut self, now_ns: u64, received_bytes: u64) {
        if now_ns >= self.seen.settled_at_ns {
            let last = (now_ns, received_bytes);
            self.seen.came = Some((self.seen.came.map_or(last, |(first, _)| first), last));
        }
        self.seen.reports += 1;
    }

    const fn is_in(&self) -> bool {
        self.quantum_bytes > 0
    }

    fn came(&self) -> Option<u64> {
        let ((from_ns, from), (to_ns, to)) = self.seen.came?;
        let span_ns = to_ns.checked_sub(from_ns).filter(|span_ns| *span_ns >= SAMPLE_NS)?;
        Some(rate(to.checked_sub(from)?, span_ns))
    }

    /// Returns the target rate in bytes per second, given that the pipe was held up.
    fn target(&self, found: Found, span_ns: u64) -> u64 {
        let known = found.bytes_per_second.unwrap_or(0);
        let short = self.came().filter(|came| *came < percent_of(known, NEARLY_PERCENT));
        match short {
            Some(came) if found.is_queued => came,
            None if !found.is_queued && self.has_waited(span_ns) => {
                known.max(found.pacing_rate_bytes_per_second.min(percent_of(known, START_PERCENT)))
            }
            _ => known,
        }
    }

    fn is_growing(&self, found: Found) -> bool {
        let rate = found.bytes_per_second.unwrap_or(0);
        self.is_in() && found.is_starting && rate >= percent_of(self.rate, GROWN_PERCENT)
    }

    const fn has_waited(&self, span_ns: u64) -> bool {
        self.seen.idle_ns.saturating_mul(100) > span_ns.saturating_mul(100 - NEARLY_PERCENT)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) bytes_per_second: Option<u64>,
    pub(super) pacing_rate_bytes_per_second: u64,
    pub(super) is_starting: bool,
    pub(super) is_queued: bool,
    pub(super) round_trip_ns: u64,
}

/// Minimum span of a rate measurement, to average out interrupt and frame coalescing.
const SAMPLE_NS: u64 = 20_000_000;

#[derive(Clone, Debug)]
pub(super) struct Shares {
    plan: SharePlan,
    longest_bytes: u32,
    since_ns: u64,
    until_ns: u64,
    channels: Vec<Shared>,
    targets: Vec<u64>,
    quanta: Vec<u32>,
}

impl Shares {
    pub(super) fn new(plan: SharePlan, longest_bytes: u32, channels: usize) -> Self {
        Self {
            plan,
            longest_bytes,
            since_ns: 0,
            until_ns: 0,
            channels: vec![Shared::new(); channels],
            targets: vec![0; channels],
            quanta: vec![0; channels],
        }
    }

    pub(super) fn see(&mut self, channel: usize, now_ns: u64, received_bytes: u64) {
        self.channels[channel].see(now_ns, received_bytes);
    }

    pub(super) fn add_wait(&mut self, channel: usize, span_ns: u64) {
        if let Some(Shared { seen, .. }) = self.channels.get_mut(channel) {
            seen.waited_ns = seen.waited_ns.saturating_add(span_ns);
        }
    }

    pub(super) fn add_idle_time(&mut self, channel: usize, span_ns: u64) {
        let seen = &mut self.channels[channel].seen;
        seen.idle_ns = seen.idle_ns.saturating_add(span_ns);
    }

    pub(super) fn set_present(&mut self, quanta: impl Iterator<Item = u32>) {
        for (one, quantum) in self.channels.iter_mut().zip(quanta) {
            one.quantum_bytes = quantum.into();
        }
    }

    /// Restarts the measurement, which ends once earlier packets have arrived and two samples are
    /// taken.
    pub(super) fn restart_measurement(&mut self, now_ns: u64, found: impl Fn(usize) -> Found) {
        let round_trips = self.channels.iter().enumerate().filter(|(_, one)| one.is_in());
        let round_trips = round_trips.map(|(channel, _)| found(channel).round_trip_ns);
        let settled_at_ns = now_ns.saturating_add(round_trips.max().unwrap_or(0));
        self.since_ns = now_ns;
        self.until_ns = settled_at_ns.saturating_add(2 * SAMPLE_NS);
        for Shared { seen, .. } in &mut self.channels {
            *seen = Seen { settled_at_ns, ..Seen::default() };
        }
    }

    pub(super) fn repair_state(&mut self) {
        for channel in &mut self.channels {
            if !channel.seen.is_sound() {
                channel.seen = Seen::default();
            }
        }
    }

    pub(super) const fn are_due(&self, now_ns: u64) -> bool {
        is_over(now_ns, self.until_ns, WAIT_NS_MAX)
    }

    pub(super) fn plan(
        &mut self,
        now_ns: u64,
        found: impl Fn(usize) -> Found + Copy,
    ) -> Option<&mut [u32]> {
        let channels = self.channels.iter().enumerate();
        let is_known = |(channel, one): (usize, &Shared)| {
            !one.is_in() || (one.seen.reports > 0 && found(channel).bytes_per_second.is_some())
        };
        if !channels.clone().all(is_known) {
            return None;
        }
        let waited_ns: u64 = channels.clone().map(|(_, one)| one.seen.waited_ns).sum();
        let growing = channels.filter(|(channel, one)| one.is_growing(found(*channel)));
        let is_growing = 2 * growing.map(|(_, one)| one.seen.waited_ns).sum::<u64>() > waited_ns;
        for (channel, one) in self.channels.iter_mut().enumerate() {
            one.rate = found(channel).bytes_per_second.unwrap_or(0);
        }
        if is_growing {
            self.restart_measurement(now_ns, found);
            return None;
        }
        let span_ns = now_ns.saturating_sub(self.since_ns);
        let is_held_up = waited_ns.saturating_mul(WAITED_SHARE) >= span_ns;
        for (channel, (target, one)) in self.targets.iter_mut().zip(&self.channels).enumerate() {
            let found = found(channel);
            *target = match found.bytes_per_second {
                _ if !one.is_in() => 0,
                _ if is_held_up => one.target(found, span_ns).max(1),
                known => known.unwrap_or(0).max(1),
            };
        }
        self.restart_measurement(now_ns, found);
        self.bound_targets();
        self.set_quanta();
        self.differs().then_some(&mut self.quanta)
    }

    /// Limits reductions of targets, so that a few plans can restore a share.
    fn bound_targets(&mut self) {
        let channels = &self.channels;
        // Target per byte of quantum, in hundredths.
        let worth = |(target, one): (&u64, &Shared)| {
            target.saturating_mul(100).checked_div(one.quantum_bytes).unwrap_or(0)
        };
        let most = self.targets.iter().zip(channels).map(worth).max().unwrap_or(0);
        for (target, one) in self.targets.iter_mut().zip(channels) {
            *target = (*target).max(percent_of(most, one.quantum_bytes) / LOSS_MAX);
        }
    }

    /// Sets the quanta for a round that is long enough for a packet of maximum length on the
    /// slowest channel.
    fn set_quanta(&mut self) {
        let slowest = self.targets.iter().copied().filter(|target| *target > 0).min().unwrap_or(1);
        let longest_ns = u64::from(self.longest_bytes).saturating_mul(1_000_000_000) / slowest;
        let round_ns = nanoseconds(self.plan.round).max(longest_ns);
        let most_bytes = self.plan.quantum_bytes_max.max(self.longest_bytes);
        for (quantum, target) in self.quanta.iter_mut().zip(&self.targets) {
            let bytes = u32::try_from(carried(*target, round_ns)).unwrap_or(u32::MAX);
            *quantum = if *target == 0 { 0 } else { bytes.clamp(self.longest_bytes, most_bytes) };
        }
    }

    fn differs(&self) -> bool {
        let new_total: u64 = self.quanta.iter().map(|quantum| u64::from(*quantum)).sum();
        let old_total: u64 = self.channels.iter().map(|one| one.quantum_bytes).sum();
        let differs = |(one, quantum): (&Shared, &u32)| {
            let old = u128::from(one.quantum_bytes) * u128::from(new_total);
            let new = u128::from(*quantum) * u128::from(old_total);
            old.abs_diff(new) > old / u128::from(DIFFERENCE_SHARE)
        };
        self.channels.iter().zip(&self.quanta).any(differs)
    }
}

#[cfg(test)]
crate::corruption::corrupt!(Shares: since_ns, until_ns, targets, quanta, channels);
#[cfg(test)]
crate::corruption::corrupt!(Shared: seen, quantum_bytes);
#[cfg(test)]
crate::corruption::corrupt!(Seen: reports, waited_ns, idle_ns, settled_at_ns, came);

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    fn found(bytes_per_second: u64) -> Found {
        Found {
            bytes_per_second: Some(bytes_per_second),
            pacing_rate_bytes_per_second: bytes_per_second,
            is_starting: false,
            is_queued: false,
            round_trip_ns: 10 * MILLISECOND,
        }
    }

    /// Returns shares after one report on each channel. In the 100 ms before, the pipe waited for
    /// each channel for the time in `waits_ms`.
    fn shares(quanta: &[u32], waits_ms: &[u64]) -> Shares {
        let mut shares = Shares::new(SharePlan::default(), 1_000, quanta.len());
        let sum_ns = waits_ms.iter().sum::<u64>() * MILLISECOND;
        for (one, (quantum, wait_ms)) in shares.channels.iter_mut().zip(quanta.iter().zip(waits_ms))
        {
            one.quantum_bytes = u64::from(*quantum);
            one.seen.reports = 1;
            one.seen.waited_ns = wait_ms * MILLISECOND;
            one.seen.idle_ns = sum_ns - one.seen.waited_ns;
        }
        shares
    }

    const fn came(bytes: u64) -> ((u64, u64), (u64, u64)) {
        ((0, 0), (50 * MILLISECOND, bytes))
    }

    fn plan(shares: &mut Shares, found: &[Found]) -> Option<Vec<u32>> {
        let quanta = shares.plan(100 * MILLISECOND, |channel| found[channel]);
        quanta.map(|quanta| quanta.to_vec())
    }

    #[test]
    fn quanta_match_channel_rates_in_a_round() {
        let mut shares = shares(&[1_000, 1_000], &[0, 0]);
        let faster = Found { pacing_rate_bytes_per_second: 9_000_000, ..found(3_000_000) };
        assert_eq!(plan(&mut shares, &[found(1_500_000), faster]), Some(vec![1_500, 3_000]));
    }

    /// At 0.1 MB/s, a packet of 1,000 bytes takes 10 ms.
    #[test]
    fn slowest_channel_sends_one_packet_per_round() {
        let mut shares = shares(&[1_000, 1_000], &[0, 0]);
        assert_eq!(plan(&mut shares, &[found(100_000), found(300_000)]), Some(vec![1_000, 3_000]));
    }

    /// The second channel probes, and could have sent at 1.25 times its known rate.
    #[test]
    fn waiting_channel_gets_the_share_of_its_controller() {
        let probing = Found { pacing_rate_bytes_per_second: 1_250_000, ..found(1_000_000) };
        let mut one = shares(&[1_000, 1_000], &[90, 0]);
        assert_eq!(plan(&mut one, &[found(1_000_000), probing]), Some(vec![1_000, 1_250]));
        let mut other = shares(&[1_000, 1_000], &[90, 0]);
        let starting = Found { pacing_rate_bytes_per_second: 2_770_000, ..probing };
        assert_eq!(plan(&mut other, &[found(1_000_000), starting]), Some(vec![1_000, 2_000]));
    }

    /// A channel with a queue is at its capacity, as are two channels that hold up the pipe
    /// alternately. A channel that gets less than its known rate is given the known rate.
    #[test]
    fn share_above_the_known_rate_requires_a_cause() {
        let probing = Found { pacing_rate_bytes_per_second: 1_250_000, ..found(1_000_000) };
        let both = [found(1_000_000), probing];
        let mut queued = shares(&[1_000, 2_000], &[90, 0]);
        assert_eq!(
            plan(&mut queued, &[both[0], Found { is_queued: true, ..probing }]),
            Some(vec![1_000, 1_000])
        );
        let mut short = shares(&[1_000, 2_000], &[90, 0]);
        short.channels[1].seen.came = Some(came(44_999));
        assert_eq!(plan(&mut short, &both), Some(vec![1_000, 1_000]));
        short.channels.clone_from(&shares(&[1_000, 2_000], &[90, 0]).channels);
        short.channels[1].seen.came = Some(came(45_000));
        short.since_ns = 0;
        assert_eq!(plan(&mut short, &both), Some(vec![1_000, 1_250]));
        let mut in_turn = shares(&[1_000, 2_000], &[9, 81]);
        assert_eq!(plan(&mut in_turn, &both), Some(vec![1_000, 1_000]));
    }

    /// The rate of the channel that limits the pipe has doubled since the last plan.
    #[test]
    fn no_quanta_are_planned_while_a_startup_limits_the_pipe() {
        let starting = Found { is_starting: true, ..found(1_000_000) };
        let mut shares = shares(&[1_000, 1_000], &[90, 0]);
        shares.channels[0].rate = 500_000;
        assert_eq!(plan(&mut shares, &[starting, found(2_000_000)]), None);
    }

    #[test]
    fn slower_channel_with_a_queue_gets_its_delivered_rate() {
        let slower = |is_queued| {
            let mut shares = shares(&[1_500, 1_600], &[0, 90]);
            shares.channels[1].seen.came = Some(came(75_000));
            plan(&mut shares, &[found(1_500_000), Found { is_queued, ..found(3_000_000) }])
        };
        assert_eq!(slower(true), Some(vec![1_500, 1_500]));
        assert_eq!(slower(false), Some(vec![1_500, 3_000]));
    }

    #[test]
    fn share_falls_by_a_factor_of_four_at_most() {
        let mut shares = shares(&[1_000, 1_000], &[0, 0]);
        assert_eq!(plan(&mut shares, &[found(1_000_000), found(10_000)]), Some(vec![4_000, 1_000]));
    }

    #[test]
    fn small_differences_do_not_change_quanta() {
        let same = [found(1_500_000), found(1_500_000), found(1)];
        assert_eq!(plan(&mut shares(&[1_500, 1_510], &[0, 0]), &same), None);
        let mut shares = shares(&[1_500, 1_530, 0], &[0, 0, 0]);
        assert_eq!(plan(&mut shares, &same), Some(vec![1_500, 1_500, 0]));
    }
}
