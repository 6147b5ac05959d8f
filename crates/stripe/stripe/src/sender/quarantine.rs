//! Quarantine: a slow channel with heavy loss carries copies instead of packets.
//!
//! ```text
//!           loss above 1/3 for four round trips,
//!           and a rate below 1/8 of the other channels' sum
//!   [used] ---------------------------------------------------------> [quarantine]   no packets; copies
//!      ^                                                                   |         of packets sent
//!      |       loss below 1/16, or 32 copies in a row received,            |         on others
//!      +-------------------------------------------------------------------+
//!              or a rate of at least 1/4 of that sum
//! ```
//!
//! Since delivery is in order, each lost packet blocks all later packets until its retransmission
//! arrives, at least one round trip later. BBR still sends two packets per round trip on a lossy
//! channel. Example: three lines of 30, 30 and 10 Mbit/s, with half of the packets lost on the
//! third. A CUBIC flow over all three reached only 86 % of its rate over the first two lines alone,
//! and the receiver waited for the third line 74 % of the time.
//!
//! Copies can probe the lossy channel without delay for the pipe, because the packet itself uses
//! another channel.
//!
//! The thresholds:
//!
//! - Loss of 1/3 for four round trips: in the example, the third line adds 2 % of goodput at 10 %
//!   loss, nothing at 15 %, and costs 2 % at 20 %.
//! - Averaging window of 64 packets: at a loss of 1/5, the threshold of 1/3 is 3.8 standard
//!   deviations away.
//! - Exit at 1/16: with 1/10, a line with 15 % loss entered and left quarantine repeatedly, which
//!   cost 1 % of goodput.
//! - Rate of 1/8: with 1/32, a lossy line of 10 Mbit/s did so beside a line of 20 Mbit/s and 10 ms.
//!
//! Only channels of equal priority are compared, to keep traffic off more expensive channels. A
//! quarantined channel carries copies only of packets sent on channels of equal or later priority.
//!
//! Invariants: a packet that fits no other channel of the same priority may use a quarantined
//! channel; quarantine requires free order and retransmission.

use core::time::Duration;

use super::paths::Paths;
use super::repairs::Place;
use crate::tag::ahead;
use crate::{ChannelSet, Instant, Report, channels_of};

const ALL: i64 = 1 << 16;
const HEAVY: i64 = ALL / 3;
const LIGHT: i64 = ALL / 16;
const PACKETS: i64 = 64;
/// Number of packets received in a row that ends heavy loss; at a loss rate of 1/3, the probability
/// of such a run is 1 in 400,000.
const CLEAN_PACKETS: u32 = 32;
const ROUND_TRIPS: u32 = 4;
/// Divisor of the entry threshold for the rate; the exit threshold is twice as high.
const SMALL_SHARE: u64 = 8;
const ACCOUNTED_MAX: i32 = 1 << 20;
const ROUND_TRIP_MAX: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    accounted: u32,
    received: u32,
    /// Average loss rate, in units of 1 / [`ALL`].
    share: i64,
    clean: u32,
    heavy_since: Option<Instant>,
}

impl Losses {
    fn take(&mut self, accounted: u32, received: u32) {
        let count = ahead(accounted, self.accounted);
        let came = received.wrapping_sub(self.received);
        (self.accounted, self.received) = (accounted, received);
        if !(1..=ACCOUNTED_MAX).contains(&count) {
            return;
        }
        let lost = count.unsigned_abs().saturating_sub(came);
        let share = i64::from(lost) * ALL / i64::from(count);
        self.share += (share - self.share) * i64::from(count).min(PACKETS) / PACKETS;
        self.clean = if lost == 0 { self.clean.saturating_add(count.unsigned_abs()) } else { 0 };
    }

    fn are_heavy_for(&mut self, now: Instant, span: Duration) -> bool {
        if self.share <= HEAVY || self.clean >= CLEAN_PACKETS {
            self.heavy_since = None;
            return false;
        }
        self.heavy_since.get_or_insert(now).after(span) <= now
    }

    const fn are_over(&self) -> bool {
        self.share < LIGHT || self.clean >= CLEAN_PACKETS
    }
}

#[derive(Clone, Debug)]
pub(super) struct Quarantine {
    channels: Vec<Losses>,
    inside: ChannelSet,
    copy: Option<(usize, Place)>,
}

impl Quarantine {
    pub(super) fn new(channels: usize) -> Self {
        Self { channels: vec![Losses::default(); channels], inside: 0, copy: None }
    }

    pub(super) const fn has(&self, channel: usize) -> bool {
        self.inside & 1 << channel != 0
    }

    pub(super) fn forget(&mut self, channel: usize) {
        let Losses { accounted, received, .. } = self.channels[channel];
        self.channels[channel] = Losses { accounted, received, ..Losses::default() };
        self.inside &= !(1 << channel);
    }

    pub(super) fn restart(&mut self) {
        self.copy = None;
        for losses in &mut self.channels {
            (losses.accounted, losses.received) = (0, 0);
        }
    }

    pub(super) fn repair_state(&mut self, now: Instant, all: ChannelSet) {
        self.inside &= all;
        for losses in &mut self.channels {
            losses.share = losses.share.clamp(0, ALL);
            losses.heavy_since = losses.heavy_since.map(|since| since.min(now));
        }
    }

    /// Handles a report; returns whether the channel enters quarantine. `carrying` is the set of
    /// active channels.
    pub(super) fn handle_report(
        &mut self,
        now: Instant,
        channel: usize,
        report: &Report,
        round_trip: Option<Duration>,
        (paths, carrying): (&Paths, ChannelSet),
    ) -> bool {
        let losses = &mut self.channels[channel];
        losses.take(report.accounted_packets, report.received_packets);
        let span = round_trip.unwrap_or(ROUND_TRIP_MAX);
        let is_heavy = losses.are_heavy_for(now, span.saturating_mul(ROUND_TRIPS));
        let is_over = losses.are_over();
        let others = paths.equals(channel, carrying) & !self.inside;
        let carries_less_than = |part| carries_less_than(paths, channel, others, part);
        if !self.has(channel) {
            let enters = is_heavy && carries_less_than(SMALL_SHARE);
            if enters {
                self.inside |= 1 << channel;
                self.channels[channel].clean = 0;
            }
            return enters;
        }
        let is_carrying = carrying & 1 << channel != 0;
        if is_over || is_carrying && !carries_less_than(SMALL_SHARE / 2) {
            self.forget(channel);
        }
        false
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.inside == 0
    }

    pub(super) fn choose_copied(
        &mut self,
        now: Instant,
        place: Place,
        (paths, unblocked): (&Paths, ChannelSet),
    ) {
        let went_on = usize::from(place.0);
        let takes = |channel: &usize| {
            *channel != went_on
                && paths.priority(*channel) <= paths.priority(went_on)
                && paths.admits(*channel, now)
        };
        let channel = channels_of(self.inside & unblocked).find(takes);
        self.copy = channel.map(|channel| (channel, place));
    }

    pub(super) fn take_copy(&mut self) -> Option<(usize, Place)> {
        self.copy.take().filter(|(channel, _)| self.has(*channel))
    }
}

fn carries_less_than(paths: &Paths, channel: usize, others: ChannelSet, part: u64) -> bool {
    let rate = |channel: usize| paths.on(channel).bytes_per_second();
    let others: u64 = channels_of(others).filter_map(rate).fold(0, u64::saturating_add);
    rate(channel).unwrap_or(0).saturating_mul(part) < others
}

#[cfg(test)]
impl crate::corruption::Corrupt for Quarantine {
    fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.inside.corrupt(words);
        self.channels.corrupt(words);
        self.copy.corrupt(words);
        self.copy = self.copy.map(|(channel, place)| (channel % self.channels.len(), place));
    }
}
#[cfg(test)]
crate::corruption::corrupt!(Losses: accounted, received, share, clean, heavy_since);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanoseconds(milliseconds * 1_000_000)
    }

    /// Returns the number of reports until loss has been heavy for 40 ms. Each report covers four
    /// packets and 10 ms; `arrive` lists how many of the four arrive, cyclically.
    fn reports_until_heavy(arrive: &[u32]) -> Option<u32> {
        let mut losses = Losses::default();
        let mut received = 0;
        (1..1_000).find(|report| {
            received += arrive[*report as usize % arrive.len()];
            losses.take(4 * report, received);
            losses.are_heavy_for(at(10 * u64::from(*report)), Duration::from_millis(40))
        })
    }

    /// If 3/4 of the packets are lost, the average loss rate after n reports is 3/4 * (1 -
    /// (15/16)^n), which exceeds 1/3 at the tenth report. Loss must then stay heavy for four more
    /// reports, or 40 ms.
    #[test]
    fn loss_of_three_quarters_is_heavy_and_of_an_eighth_is_not() {
        assert_eq!(reports_until_heavy(&[1]), Some(14));
        assert_eq!(reports_until_heavy(&[4, 3]), None);
        assert_eq!(reports_until_heavy(&[4]), None);
    }

    #[test]
    fn losses_end_after_32_consecutive_packets() {
        let mut losses = Losses { share: ALL / 2, ..Losses::default() };
        losses.take(31, 31);
        assert!(!losses.are_over());
        losses.take(32, 31);
        losses.take(63, 62);
        assert!(!losses.are_over());
        losses.take(64, 63);
        assert!(losses.are_over());
    }

    #[test]
    fn impossible_counts_do_not_change_the_loss_share() {
        let mut losses = Losses { accounted: u32::MAX, received: u32::MAX, ..Losses::default() };
        losses.take(7, 3);
        assert_eq!((losses.share, losses.clean), (ALL / 2 / 8, 0));
        losses.take(3, 3);
        losses.take(u32::MAX / 2, 9);
        assert_eq!(losses.share, ALL / 2 / 8);
        losses.take(u32::MAX / 2 + 1, 99);
        assert_eq!(losses.clean, 1);
    }
}
