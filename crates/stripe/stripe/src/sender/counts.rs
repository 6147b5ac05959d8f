//! Sent packet counts (carried by markers), last reports, and credits.
//!
//! Credits ensure that the receiver has room for every packet sent:
//!
//! ```text
//!   charged to the channel   0 ............ sent ............ limit
//!                                            |<--- credit --->|
//! ```
//!
//! The limit is cumulative since the start of the epoch, so that lost or repeated reports do no
//! harm. It may fall if the receiver needs memory for other channels; markers acknowledge the limit
//! in use. Markers need no credit and trigger reports, so that credit in a lost report is reported
//! again.
//!
//! Source: FCVC of Kung and Chapman (ICNP 1993), which Adiseshu, Parulkar and Varghese 1996,
//! section 6.3, combine with markers; byte counts and falling limits are ours.
//!
//! Invariant: after a report, a channel's packets in flight and at the receiver fit into the
//! granted memory, except copies, which need no credit, and packets in flight on a deactivated
//! channel.

use crate::charge::USUAL_BYTES;
use crate::{Charge, Instant, Report};

/// Packets and bytes sent on a channel in this epoch, including copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Number of packets, modulo 2^32.
    pub packets: u32,
    /// Number of bytes.
    pub bytes: u64,
}

/// Last report about a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(Default))]
pub struct Reported {
    /// Arrival time of the report.
    pub at: Instant,
    /// Content of the report.
    pub report: Report,
}

impl Reported {
    /// Returns the round-trip time of the report, or a quarter of the report's age if that is
    /// longer, multiplied by the expected number of attempts per delivered byte.
    pub(super) fn cost_ns(&self, now: Instant) -> u128 {
        let (at, report) = (self.at.nanoseconds(), &self.report);
        let round_trip =
            at.saturating_sub(report.echo.nanoseconds()).saturating_sub(report.held_ns.into());
        let silent = now.nanoseconds().saturating_sub(at) / 4;
        let (sent, came) = (report.accounted_bytes.max(1), report.received_bytes.max(1));
        u128::from(round_trip.max(silent)) * u128::from(sent.max(came)) / u128::from(came)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Counts {
    charge: Option<Charge>,
    longest_bytes: u32,
    sent: Vec<Sent>,
    reported: Vec<Option<Reported>>,
    next_sequence: u32,
}

impl Counts {
    pub(super) fn new(charge: Option<Charge>, longest_bytes: u32, channels: usize) -> Self {
        let longest_bytes = if longest_bytes == u32::MAX { USUAL_BYTES } else { longest_bytes };
        let (sent, reported) = (vec![Sent::default(); channels], vec![None; channels]);
        Self { charge, longest_bytes, sent, reported, next_sequence: 0 }
    }

    pub(super) fn sent(&self, channel: usize) -> Sent {
        self.sent[channel]
    }

    pub(super) fn reported(&self, channel: usize) -> Option<Reported> {
        self.reported[channel]
    }

    pub(super) const fn next_sequence(&self) -> u32 {
        self.next_sequence
    }

    pub(super) fn accounted_packets(&self, channel: usize) -> u32 {
        self.reported(channel).map_or(0, |reported| reported.report.accounted_packets)
    }

    pub(super) fn handle_report(&mut self, channel: usize, reported: Reported) {
        self.reported[channel] = Some(reported);
    }

    pub(super) fn add(&mut self, channel: usize, length_bytes: u32) {
        self.add_copy(channel, length_bytes);
        self.next_sequence = self.next_sequence.wrapping_add(1);
    }

    /// Counts a copy, which gets a channel sequence number, but no new pipe sequence number.
    pub(super) fn add_copy(&mut self, channel: usize, length_bytes: u32) {
        let sent = &mut self.sent[channel];
        sent.packets = sent.packets.wrapping_add(1);
        sent.bytes = sent.bytes.wrapping_add(u64::from(length_bytes));
    }

    pub(super) fn restart(&mut self) {
        self.sent.fill(Sent::default());
        self.reported.fill(None);
        self.next_sequence = 0;
    }

    /// Returns whether there is credit for a packet; a length of 0 stands for the maximum length.
    pub(super) fn has_credit(&self, channel: usize, length_bytes: u32) -> bool {
        self.charge.is_none_or(|charge| self.is_credit_left(charge, channel, length_bytes))
    }

    #[inline(never)]
    fn is_credit_left(&self, charge: Charge, channel: usize, length_bytes: u32) -> bool {
        let length_bytes = if length_bytes == 0 { self.longest_bytes } else { length_bytes };
        let report = self.reported[channel].as_ref().map(|reported| &reported.report);
        has_credit(charge, charge.of(length_bytes), self.sent[channel], report)
    }
}

fn has_credit(charge: Charge, packet: u32, sent: Sent, report: Option<&Report>) -> bool {
    let limit = report.map_or(charge.first(), |report| report.limit_bytes);
    let sent = charge.of_all(sent.packets, sent.bytes);
    let credit = limit.wrapping_sub(sent).cast_signed();
    u32::try_from(credit).is_ok_and(|credit| credit >= packet)
}

#[cfg(test)]
crate::corruption::corrupt!(Sent: packets, bytes);
#[cfg(test)]
crate::corruption::corrupt!(Reported: at, report);
#[cfg(test)]
crate::corruption::corrupt!(Counts: next_sequence, sent, reported);

#[cfg(test)]
mod tests {
    use super::*;

    fn after(sent: (u32, u64), limit_bytes: u32, charge: Charge) -> bool {
        let report = Report { limit_bytes, ..Report::default() };
        let (packets, bytes) = sent;
        has_credit(charge, charge.of(1_000), Sent { packets, bytes }, Some(&report))
    }

    #[test]
    fn limit_counts_from_the_start_and_across_the_wrap() {
        let packets = |sent, limit| after((sent, 0), limit, Charge::PACKETS);
        assert!(packets(6, 7) && !packets(7, 7) && !packets(8, 7));
        assert!(packets(u32::MAX, 0) && packets(u32::MAX - 5, 3));
        assert!(!packets(0, 0) && !packets(1, u32::MAX));
        let bytes = |sent, limit| after(sent, limit, Charge::BYTES);
        assert!(bytes((2, 300), 524 + 1_112) && !bytes((2, 300), 524 + 1_111));
        assert!(bytes((0, (3 << 32) - 112), 1_000) && !bytes((0, (3 << 32) - 112), 999));
    }

    #[test]
    fn few_packets_have_credit_before_the_first_report() {
        let (charge, packet) = (Charge::BYTES, Charge::BYTES.of(1_460));
        assert!(has_credit(charge, packet, Sent { packets: 9, bytes: 9 * 1_460 }, None));
        assert!(!has_credit(charge, packet, Sent { packets: 10, bytes: 10 * 1_460 }, None));
    }
}
