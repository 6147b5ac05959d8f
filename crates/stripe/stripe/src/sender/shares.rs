//! Quanta that follow the rates of their channels.
//!
//! ```text
//!   as shares of rates are       what is known of it               what it is given
//!   channel 0  [=====|=|==]      it has a queue: it carries        what came
//!   channel 1  [==     |  ]      gets less than it is known for    what it is known for
//!   channel 2  [=======|  ]      gets that, and waits for others   what its controller dares
//!                      ^ of the pipe, which waits for the first
//! ```
//!
//! Packets cannot pass a channel by, so the pipe is as fast as the channel with the most for its
//! rate. A channel that has a queue is measured, and what comes over it is what it carries. One that
//! has none and waits for others may carry more, if what it gets is no less than what it is known
//! for. Then it is given what its controller would send: a quarter more while that probes for
//! bandwidth, which controllers in strict order do together, and twice as much while it starts.
//!
//! Where nobody waits, the source sends less than the channels carry: nothing is learned and
//! nothing tried. While the pipe waits for a window that is still growing, nothing is concluded
//! from that.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 3.5, have quanta in the ratio of the
//! rates, and know these; that they follow is ours. The gains are those of BBR's probing and start.
//!
//! Invariants: a quantum is at least the longest packet and at most the plan's bound; against the
//! share that grows most none falls to less than a quarter at once; shares within 1/128 of what
//! they are stay as they are.

use gingham_congestion::units::{carried, percent_of, rate};

use super::control::SharePlan;
use super::seen::Seen;
use super::units::{is_over, nanoseconds};

/// What one that is starting is given at most: its window is twice what it is known to hold.
const START_PERCENT: u64 = 200;
/// What is less than this of something falls short of it; between the pace of a cruise, 99 %, and
/// that of a probe that others hold back, 81 %.
const NEARLY_PERCENT: u64 = 90;
/// A rate that has grown by so much since the last plan is growing.
const GROWN_PERCENT: u64 = 125;
/// Someone waited for so much of the time, at least, or the pipe is not held up.
const WAITED_SHARE: u64 = 4;
/// What a channel's share loses at once, against the channel that gains most.
const LOSS_MAX: u64 = 4;
/// No round trip and two samples take longer.
const WAIT_NS_MAX: u64 = 60_000_000_000;
/// Shares that differ by less stay.
const DIFFERENCE_SHARE: u64 = 128;

/// A channel as its shares are planned.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    quantum_bytes: u64,
    /// Its rate at the last plan, in bytes a second.
    rate: u64,
    pub(super) seen: Seen,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self { quantum_bytes: 0, rate: 0, seen: Seen::default() }
    }

    pub(super) fn set_quantum(&mut self, quantum_bytes: u32) {
        self.quantum_bytes = u64::from(quantum_bytes);
    }

    /// A report has come, of so many bytes that came.
    pub(super) fn see(&mut self, now_ns: u64, received_bytes: u64) {
        if now_ns >= self.seen.settled_at_ns {
            let last = (now_ns, received_bytes);
            self.seen.came = Some((self.seen.came.map_or(last, |(first, _)| first), last));
        }
        self.seen.reports += 1;
    }

    /// Whether the channel is in.
    const fn is_in(&self) -> bool {
        self.quantum_bytes > 0
    }

    /// At which rate it was there that packets came, if that was seen for long enough.
    fn came(&self) -> Option<u64> {
        let ((from_ns, from), (to_ns, to)) = self.seen.came?;
        let span_ns = to_ns.checked_sub(from_ns).filter(|span_ns| *span_ns >= SAMPLE_NS)?;
        Some(rate(to.checked_sub(from)?, span_ns))
    }

    /// What it is to be given, in bytes a second, where the pipe was held up all of this time.
    fn wish(&self, found: Found, span_ns: u64) -> u64 {
        let known = found.bytes_per_second.unwrap_or(0);
        let short = self.came().filter(|came| *came < percent_of(known, NEARLY_PERCENT));
        match short {
            Some(came) if found.is_queued => came,
            None if !found.is_queued && self.has_waited(span_ns) => {
                known.max(found.pace_bytes_per_second.min(percent_of(known, START_PERCENT)))
            }
            _ => known,
        }
    }

    /// Whether it is starting, and was faster than at the last plan.
    fn is_growing(&self, found: Found) -> bool {
        let rate = found.bytes_per_second.unwrap_or(0);
        self.is_in() && found.is_starting && rate >= percent_of(self.rate, GROWN_PERCENT)
    }

    /// Whether the channel waited for others, for more than a little of this time.
    const fn has_waited(&self, span_ns: u64) -> bool {
        self.seen.idle_ns.saturating_mul(100) > span_ns.saturating_mul(100 - NEARLY_PERCENT)
    }
}

/// What has been found out of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) bytes_per_second: Option<u64>,
    pub(super) pace_bytes_per_second: u64,
    pub(super) is_starting: bool,
    /// Whether packets stand in its queue, so that it is as fast as it can be.
    pub(super) is_queued: bool,
    pub(super) round_trip_ns: u64,
}

/// What a rate is taken over: longer than what coalescing of interrupts and frames moves arrivals
/// by.
const SAMPLE_NS: u64 = 20_000_000;

/// The plans of shares.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    plan: SharePlan,
    longest_bytes: u32,
    /// Since when what is seen counts, and until when at least.
    since_ns: u64,
    until_ns: u64,
    pub(super) channels: Vec<Shared>,
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
            channels: vec![Shared::new(); channels],
            wishes: vec![0; channels],
            quanta: vec![0; channels],
        }
    }

    /// What is seen from now on is of the quanta that hold now: until all has got through, and two
    /// samples are taken.
    pub(super) fn look_anew(&mut self, now_ns: u64, found: impl Fn(usize) -> Found) {
        let round_trips = self.channels.iter().enumerate().filter(|(_, one)| one.is_in());
        let round_trips = round_trips.map(|(channel, _)| found(channel).round_trip_ns);
        let settled_at_ns = now_ns.saturating_add(round_trips.max().unwrap_or(0));
        self.since_ns = now_ns;
        self.until_ns = settled_at_ns.saturating_add(2 * SAMPLE_NS);
        for Shared { seen, .. } in &mut self.channels {
            *seen = Seen { settled_at_ns, ..Seen::default() };
        }
    }

    /// Counts of what cannot be are forgotten.
    pub(super) fn repair_state(&mut self) {
        for channel in &mut self.channels {
            if !channel.seen.is_sound() {
                channel.seen = Seen::default();
            }
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
            self.look_anew(now_ns, found);
            return None;
        }
        let span_ns = now_ns.saturating_sub(self.since_ns);
        let is_held_up = waited_ns.saturating_mul(WAITED_SHARE) >= span_ns;
        for (channel, (wish, one)) in self.wishes.iter_mut().zip(&self.channels).enumerate() {
            let found = found(channel);
            *wish = match found.bytes_per_second {
                _ if !one.is_in() => 0,
                _ if is_held_up => one.wish(found, span_ns).max(1),
                known => known.unwrap_or(0).max(1),
            };
        }
        self.look_anew(now_ns, found);
        self.bound_wishes();
        self.set_quanta();
        self.differs().then_some(&mut self.quanta)
    }

    /// No channel loses more of its share at once than a few plans can give back: a round lasts as
    /// long as the channel with the most for its rate takes, and what is planned holds for rounds.
    fn bound_wishes(&mut self) {
        let channels = &self.channels;
        // Hundredths of a quantum each, so that what is compared is what a byte of quantum would
        // carry.
        let worth = |(wish, one): (&u64, &Shared)| {
            wish.saturating_mul(100).checked_div(one.quantum_bytes).unwrap_or(0)
        };
        let most = self.wishes.iter().zip(channels).map(worth).max().unwrap_or(0);
        for (wish, one) in self.wishes.iter_mut().zip(channels) {
            *wish = (*wish).max(percent_of(most, one.quantum_bytes) / LOSS_MAX);
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
crate::corruption::corrupt!(Shares: since_ns, until_ns, wishes, quanta, channels);
#[cfg(test)]
crate::corruption::corrupt!(Shared: seen, quantum_bytes);

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    fn found(bytes_per_second: u64) -> Found {
        Found {
            bytes_per_second: Some(bytes_per_second),
            pace_bytes_per_second: bytes_per_second,
            is_starting: false,
            is_queued: false,
            round_trip_ns: 10 * MILLISECOND,
        }
    }

    /// Shares of channels with these quanta, of each of which a report has come; the pipe has waited
    /// for each so many of 100 ms, in which others were idle.
    fn shares(quanta: &[u32], waits_ms: &[u64]) -> Shares {
        let mut shares = Shares::new(SharePlan::default(), 1_000, quanta.len());
        let sum_ns = waits_ms.iter().sum::<u64>() * MILLISECOND;
        for (one, (quantum, wait_ms)) in shares.channels.iter_mut().zip(quanta.iter().zip(waits_ms))
        {
            one.set_quantum(*quantum);
            one.seen.reports = 1;
            one.seen.waited_ns = wait_ms * MILLISECOND;
            one.seen.idle_ns = sum_ns - one.seen.waited_ns;
        }
        shares
    }

    /// So much came in 50 ms.
    const fn came(bytes: u64) -> ((u64, u64), (u64, u64)) {
        ((0, 0), (50 * MILLISECOND, bytes))
    }

    fn plan(shares: &mut Shares, found: &[Found]) -> Option<Vec<u32>> {
        let quanta = shares.plan(100 * MILLISECOND, |channel| found[channel]);
        quanta.map(|quanta| quanta.to_vec())
    }

    /// 1.5 and 3 MB/s in a millisecond. Nobody waits, so nothing is tried.
    #[test]
    fn quanta_are_what_channels_carry_in_a_round() {
        let mut shares = shares(&[1_000, 1_000], &[0, 0]);
        let faster = Found { pace_bytes_per_second: 9_000_000, ..found(3_000_000) };
        assert_eq!(plan(&mut shares, &[found(1_500_000), faster]), Some(vec![1_500, 3_000]));
    }

    /// 0.1 MB/s takes 10 ms for a packet of 1,000 bytes, so a round takes that.
    #[test]
    fn the_slowest_channel_sends_a_packet_a_round() {
        let mut shares = shares(&[1_000, 1_000], &[0, 0]);
        assert_eq!(plan(&mut shares, &[found(100_000), found(300_000)]), Some(vec![1_000, 3_000]));
    }

    /// The pipe waits for the first; the second probes, and could have sent a quarter more.
    #[test]
    fn a_channel_that_waits_is_given_what_its_controller_dares() {
        let probing = Found { pace_bytes_per_second: 1_250_000, ..found(1_000_000) };
        let mut one = shares(&[1_000, 1_000], &[90, 0]);
        assert_eq!(plan(&mut one, &[found(1_000_000), probing]), Some(vec![1_000, 1_250]));
        let mut other = shares(&[1_000, 1_000], &[90, 0]);
        let starting = Found { pace_bytes_per_second: 2_770_000, ..probing };
        assert_eq!(plan(&mut other, &[found(1_000_000), starting]), Some(vec![1_000, 2_000]));
    }

    /// Having a queue it is full; having less than it is known for it is given that; and while both
    /// wait in turn each is as full as the other.
    #[test]
    fn a_channel_is_given_no_more_than_it_is_known_for_without_cause() {
        let probing = Found { pace_bytes_per_second: 1_250_000, ..found(1_000_000) };
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

    /// The window of the channel for which the pipe waits has doubled since the last plan.
    #[test]
    fn nothing_is_planned_while_the_pipe_waits_for_a_start() {
        let starting = Found { is_starting: true, ..found(1_000_000) };
        let mut shares = shares(&[1_000, 1_000], &[90, 0]);
        shares.channels[0].rate = 500_000;
        assert_eq!(plan(&mut shares, &[starting, found(2_000_000)]), None);
    }

    /// 3 MB/s are known, and 1.5 came behind a queue.
    #[test]
    fn a_channel_with_a_queue_that_became_slower_is_given_what_came() {
        let slower = |is_queued| {
            let mut shares = shares(&[1_500, 1_600], &[0, 90]);
            shares.channels[1].seen.came = Some(came(75_000));
            plan(&mut shares, &[found(1_500_000), Found { is_queued, ..found(3_000_000) }])
        };
        assert_eq!(slower(true), Some(vec![1_500, 1_500]));
        assert_eq!(slower(false), Some(vec![1_500, 3_000]));
    }

    /// From 100 to 1 at once would be a hundredth; it is a quarter, against what gains most.
    #[test]
    fn a_share_falls_by_four_at_most() {
        let mut shares = shares(&[1_000, 1_000], &[0, 0]);
        assert_eq!(plan(&mut shares, &[found(1_000_000), found(10_000)]), Some(vec![4_000, 1_000]));
    }

    /// A difference of 1/150 is not announced, one of 1/75 is; who is out stays out.
    #[test]
    fn small_differences_are_left_alone() {
        let same = [found(1_500_000), found(1_500_000), found(1)];
        assert_eq!(plan(&mut shares(&[1_500, 1_510], &[0, 0]), &same), None);
        let mut shares = shares(&[1_500, 1_530, 0], &[0, 0, 0]);
        assert_eq!(plan(&mut shares, &same), Some(vec![1_500, 1_500, 0]));
    }
}
