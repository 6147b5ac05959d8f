//! Quanta that follow the rates of their channels.
//!
//! ```text
//!   as shares of rates are          the pipe waits for the first; it is full, and its rate is measured
//!   channel 0  [======|==]              less than its share: shares follow the measure
//!   channel 1  [==   |   ]              never full: it may carry more, and is now and then given more to find out
//! ```
//!
//! Packets cannot pass a channel by, so the pipe is as fast as the channel with the most for its
//! rate. On that one the sender waits, and it is measured. The others carry what they get, and
//! nobody knows what they could. A plan gives each channel its rate, as measured where it was full;
//! twice that while it is starting and could have sent more; and every four seconds one, in turn, is
//! given a quarter more to find out whether it carries that, and half more and twice as much in the
//! next plans until it is full.
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

#[cfg(test)]
mod corruption;

use gingham_congestion::units::{carried, percent_of, rate};

use super::control::SharePlan;
use super::seen::Seen;
use super::units::{is_over, nanoseconds};

/// What one channel after the other is given of its rate, in one plan after the other, until it is
/// full; and what one that is starting is given.
const PROBE_PERCENT: [u64; 3] = [125, 150, 200];
const START_PERCENT: u64 = 200;
/// The time between two probes: each costs the others a plan.
const PROBE_NS: u64 = 4_000_000_000;
/// A channel that could not have sent for so much of the time is full.
const FULL_PERCENT: u64 = 80;
/// A rate that has grown by so much since the last plan is growing.
const GROWN_PERCENT: u64 = 125;
/// A full channel that carries less than this of what it is known to carry has become slower; what
/// it is short of above this may be its controller's course.
const FALLEN_PERCENT: u64 = 75;
/// In so many plans in a row: a probe of BBR for its round trip takes two or three.
const FALLEN_PLANS: u32 = 5;
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
    /// In how many plans in a row it was full and carried much less than that.
    fallen_plans: u32,
    pub(super) seen: Seen,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self { quantum_bytes: 0, rate: 0, fallen_plans: 0, seen: Seen::default() }
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

    /// What it carries, in bytes a second: as known, or as it came where it was full and much less
    /// came in several plans in a row.
    fn carries(&mut self, found: Found, is_full: bool) -> u64 {
        let came = self.seen.came.and_then(|((from_ns, from), (to_ns, to))| {
            let span_ns = to_ns.checked_sub(from_ns).filter(|span_ns| *span_ns >= SAMPLE_NS)?;
            Some(rate(to.checked_sub(from)?, span_ns))
        });
        let known = found.bytes_per_second.unwrap_or(0);
        let less = came.filter(|came| is_full && *came < percent_of(known, FALLEN_PERCENT));
        self.fallen_plans = less.map_or(0, |_| self.fallen_plans.saturating_add(1));
        less.filter(|_| self.fallen_plans >= FALLEN_PLANS).unwrap_or(known)
    }

    /// Whether it is starting, and was faster than at the last plan.
    fn is_growing(&self, found: Found) -> bool {
        let rate = found.bytes_per_second.unwrap_or(0);
        self.is_in() && found.is_starting && rate >= percent_of(self.rate, GROWN_PERCENT)
    }

    /// Whether the channel held itself up in all of this time but a little.
    const fn is_full(&self, span_ns: u64) -> bool {
        self.seen.idle_ns.saturating_mul(100) <= span_ns.saturating_mul(100 - FULL_PERCENT)
    }
}

/// A channel that is given more than it is known to carry, in how many plans before.
#[derive(Clone, Copy, Debug)]
struct Probe {
    channel: usize,
    step: usize,
}

/// What has been found out of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) bytes_per_second: Option<u64>,
    pub(super) is_starting: bool,
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
    /// Which channel is given more than it is known to carry, when the next will be, and which was
    /// the last.
    probe: Option<Probe>,
    probe_at_ns: u64,
    next: usize,
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
            probe: None,
            probe_at_ns: 0,
            next: 0,
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
        let probed = self.probed(now_ns, span_ns, is_held_up);
        for (channel, wish) in self.wishes.iter_mut().enumerate() {
            let one = &mut self.channels[channel];
            let (found, is_full) = (found(channel), !is_held_up || one.is_full(span_ns));
            let gain = match probed {
                _ if found.is_starting && !is_full => START_PERCENT,
                Some((probed, percent)) if probed == channel => percent,
                _ => 100,
            };
            let carries = one.carries(found, is_held_up && is_full);
            *wish = if one.is_in() { percent_of(carries, gain).max(1) } else { 0 };
        }
        self.look_anew(now_ns, found);
        self.bound_wishes();
        self.set_quanta();
        self.differs().then_some(&mut self.quanta)
    }

    /// The channel that is given more than it is known to carry, if any is now, and how much: the
    /// one that was, as long as that has not filled it, or another when it is time.
    fn probed(&mut self, now_ns: u64, span_ns: u64, is_held_up: bool) -> Option<(usize, u64)> {
        let count = self.channels.len();
        let goes_on = |probe: &Probe| !self.channels[probe.channel % count].is_full(span_ns);
        self.probe = match self.probe.filter(|probe| is_held_up && goes_on(probe)) {
            Some(probe) => Some(Probe { step: probe.step + 1, ..probe }),
            None if is_held_up && is_over(now_ns, self.probe_at_ns, PROBE_NS) => {
                self.probe_at_ns = now_ns.saturating_add(PROBE_NS);
                self.next = (self.next + 1) % count;
                Some(Probe { channel: self.next, step: 0 })
            }
            None => None,
        };
        let Probe { channel, step } = self.probe?;
        Some((channel % count, PROBE_PERCENT[step.min(PROBE_PERCENT.len() - 1)]))
    }

    /// No channel loses more of its share at once than a few plans can give back.
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
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    fn found(bytes_per_second: u64) -> Found {
        Found {
            bytes_per_second: Some(bytes_per_second),
            is_starting: false,
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
        // No probe is due.
        shares.probe_at_ns = 1_000 * MILLISECOND;
        shares
    }

    fn plan(shares: &mut Shares, found: &[Found]) -> Option<Vec<u32>> {
        let quanta = shares.plan(100 * MILLISECOND, |channel| found[channel]);
        quanta.map(|quanta| quanta.to_vec())
    }

    /// 1 and 2 MB/s in 1.5 ms. Nobody waits, so nothing is tried.
    #[test]
    fn quanta_are_what_channels_carry_in_a_round() {
        let mut shares = shares(&[1_000, 1_000], &[0, 0]);
        assert_eq!(
            plan(&mut shares, &[found(1_000_000), found(2_000_000)]),
            Some(vec![1_500, 3_000])
        );
    }

    /// 0.1 MB/s takes 10 ms for a packet of 1,000 bytes, so a round takes that.
    #[test]
    fn the_slowest_channel_sends_a_packet_a_round() {
        let mut shares = shares(&[1_000, 1_000], &[0, 0]);
        assert_eq!(plan(&mut shares, &[found(100_000), found(300_000)]), Some(vec![1_000, 3_000]));
    }

    /// The pipe waits for the first; the second starts, and could have sent more.
    #[test]
    fn a_channel_that_starts_is_given_twice_what_it_carries() {
        let starting = Found { is_starting: true, ..found(1_000_000) };
        let mut shares = shares(&[1_500, 1_500], &[90, 0]);
        shares.channels[1].rate = 1_000_000;
        assert_eq!(plan(&mut shares, &[found(1_000_000), starting]), Some(vec![1_500, 3_000]));
    }

    /// The window of the channel for which the pipe waits has doubled since the last plan.
    #[test]
    fn nothing_is_planned_while_the_pipe_waits_for_a_start() {
        let starting = Found { is_starting: true, ..found(1_000_000) };
        let mut shares = shares(&[1_000, 1_000], &[90, 0]);
        shares.channels[0].rate = 500_000;
        assert_eq!(plan(&mut shares, &[starting, found(2_000_000)]), None);
    }

    /// When it is time the second is given a quarter more; not having been full, half more; and once
    /// it is full, what it carries.
    #[test]
    fn one_after_the_other_is_given_more_until_it_is_full() {
        let mut shares = shares(&[1_500, 1_500], &[90, 0]);
        shares.probe_at_ns = 0;
        let both = [found(1_000_000), found(1_000_000)];
        assert_eq!(plan(&mut shares, &both), Some(vec![1_500, 1_875]));
        let again = |shares: &mut Shares, waits_ms: [u64; 2]| {
            for (one, wait_ms) in shares.channels.iter_mut().zip(waits_ms) {
                one.seen.reports = 1;
                one.seen.waited_ns = wait_ms * MILLISECOND;
                one.seen.idle_ns = 90 * MILLISECOND - one.seen.waited_ns;
            }
            shares.since_ns = 0;
            plan(shares, &both)
        };
        assert_eq!(again(&mut shares, [90, 0]), Some(vec![1_500, 2_250]));
        assert_eq!(again(&mut shares, [0, 90]), None, "as it is");
    }

    /// 2 MB/s are known, and 1 came in a sample in which the channel was full, for the fifth time.
    #[test]
    fn a_full_channel_that_became_slower_is_given_what_came() {
        let mut shares = shares(&[1_500, 3_000], &[0, 90]);
        shares.channels[1].seen.came = Some(((0, 0), (50 * MILLISECOND, 50_000)));
        shares.channels[1].fallen_plans = 4;
        assert_eq!(
            plan(&mut shares, &[found(1_000_000), found(2_000_000)]),
            Some(vec![1_500, 1_500])
        );
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
        let same = [found(1_000_000), found(1_000_000), found(1)];
        assert_eq!(plan(&mut shares(&[1_500, 1_510], &[0, 0]), &same), None);
        let mut shares = shares(&[1_500, 1_530, 0], &[0, 0, 0]);
        assert_eq!(plan(&mut shares, &same), Some(vec![1_500, 1_500, 0]));
    }
}
