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
//! nobody knows what they could. A plan gives each channel its rate; twice that while it is
//! starting and could have sent more; and every two seconds one, in turn, is given a quarter more
//! for one plan to find out whether it carries that.
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

use super::control::SharePlan;
use super::seen::Seen;
use super::units::{carried, is_over, nanoseconds, percent_of};

/// What one channel after the other is given of its rate, to find out whether it carries more; and
/// what one that is starting is given.
const PROBE_PERCENT: u64 = 125;
const START_PERCENT: u64 = 200;
/// The time between two probes: the least of BBR.
const PROBE_NS: u64 = 2_000_000_000;
/// A channel that could not have sent for so much of the time is full.
const FULL_PERCENT: u64 = 95;
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

    /// A report has come.
    pub(super) fn see(&mut self) {
        self.seen.reports += 1;
    }

    /// Whether the channel is in.
    const fn is_in(&self) -> bool {
        self.quantum_bytes > 0
    }

    /// What the channel is to be given, in bytes a second, where it carries so much.
    fn wish(found: Found, is_probed: bool) -> u64 {
        let rate = found.bytes_per_second.unwrap_or(0);
        match (found.is_starting, is_probed) {
            (true, _) => percent_of(rate, START_PERCENT),
            (false, true) => percent_of(rate, PROBE_PERCENT),
            (false, false) => rate,
        }
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
    /// When a channel is given more than it is known to carry, and which.
    probe_at_ns: u64,
    probed: usize,
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
            probe_at_ns: 0,
            probed: 0,
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
        self.since_ns = now_ns;
        self.until_ns =
            now_ns.saturating_add(round_trips.max().unwrap_or(0)).saturating_add(2 * SAMPLE_NS);
        for Shared { seen, .. } in &mut self.channels {
            *seen = Seen::default();
        }
    }

    /// Counts of what cannot be are forgotten.
    pub(super) fn mend(&mut self) {
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
        let probed = self.probed(now_ns, is_held_up);
        for (channel, wish) in self.wishes.iter_mut().enumerate() {
            let one = &self.channels[channel];
            let found = found(channel);
            let found = Found {
                is_starting: found.is_starting && is_held_up && !one.is_full(span_ns),
                ..found
            };
            let is_probed = probed == Some(channel);
            *wish = if one.is_in() { Shared::wish(found, is_probed).max(1) } else { 0 };
        }
        self.look_anew(now_ns, found);
        self.bound_wishes();
        self.set_quanta();
        self.differs().then_some(&mut self.quanta)
    }

    /// The channel that is given more than it is known to carry, if it is time for that.
    fn probed(&mut self, now_ns: u64, is_held_up: bool) -> Option<usize> {
        let is_due = is_held_up && is_over(now_ns, self.probe_at_ns, PROBE_NS);
        is_due.then(|| {
            self.probe_at_ns = now_ns.saturating_add(PROBE_NS);
            let channel = self.probed % self.channels.len();
            self.probed = channel + 1;
            channel
        })
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
impl Shares {
    pub(super) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        (self.since_ns, self.until_ns) = (words(), words());
        self.wishes.iter_mut().for_each(|wish| *wish = words());
        self.quanta.iter_mut().for_each(|quantum| *quantum = crate::corruption::word(words));
        for channel in &mut self.channels {
            channel.seen.corrupt(words);
            channel.quantum_bytes = crate::corruption::word(words).into();
        }
    }
}
