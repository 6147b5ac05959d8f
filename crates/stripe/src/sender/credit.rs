//! Credits: no packet is sent that the receiver might have no room for.
//!
//! ```text
//!   charged to the channel   0 ............ sent ............ limit
//!                                            |<--- credit --->|
//! ```
//!
//! The limit is a count from the beginning of the epoch, not so much more: a report that is lost,
//! or that says the same again, does no harm, and the next one puts all right. It may be lower than
//! the last one, where the receiver wants room for others: markers give back which one holds.
//! Markers need no credit; each brings a report, so credit that came back while a report was lost
//! is heard of. While a channel has none they go as often as while packets do.
//!
//! Source: FCVC of Kung and Chapman (ICNP 1993), which Adiseshu, Parulkar and Varghese 1996,
//! section 6.3, put on their markers; bytes, and limits that fall, are ours.
//!
//! Invariant: what is in flight and what waits at the receiver together fit what it keeps for the
//! channel, once a report has come; copies of lost packets, which need no credit, aside.

use super::Sender;
use crate::charge::USUAL_BYTES;
use crate::{Charge, Numbered, Report, Sent};

/// Whether a channel has credit for a packet that is charged so much.
fn has_credit(charge: Charge, packet: u32, sent: Sent, report: Option<&Report>) -> bool {
    let limit = report.map_or(charge.first(), |report| report.limit_bytes);
    let sent = charge.of_all(sent.packets, sent.bytes);
    let credit = limit.wrapping_sub(sent).cast_signed();
    u32::try_from(credit).is_ok_and(|credit| credit >= packet)
}

impl<S: Numbered> Sender<S> {
    /// Whether a packet of so many bytes may go on a channel as far as credit goes; with 0 any may.
    pub(super) fn has_credit(&self, channel: usize, length_bytes: u32) -> bool {
        self.options.credits.is_none_or(|charge| self.is_credit_left(charge, channel, length_bytes))
    }

    /// Out of line, for those who need none.
    #[inline(never)]
    fn is_credit_left(&self, charge: Charge, channel: usize, length_bytes: u32) -> bool {
        let packet = match (length_bytes, self.scheduler.longest_bytes()) {
            (0, u32::MAX) => charge.of(USUAL_BYTES),
            (0, longest_bytes) => charge.of(longest_bytes),
            (length_bytes, _) => charge.of(length_bytes),
        };
        let reported = self.reported.on(channel);
        let report = reported.as_ref().map(|reported| &reported.report);
        has_credit(charge, packet, self.sent.on(channel), report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(sent: (u32, u64), limit_bytes: u32, charge: Charge) -> bool {
        let report = Report { limit_bytes, ..Report::default() };
        let (packets, bytes) = sent;
        has_credit(charge, charge.of(1_000), Sent { packets, bytes }, Some(&report))
    }

    #[test]
    fn a_limit_counts_from_the_beginning_and_across_the_wrap() {
        let packets = |sent, limit| after((sent, 0), limit, Charge::PACKETS);
        assert!(packets(6, 7) && !packets(7, 7) && !packets(8, 7));
        assert!(packets(u32::MAX, 0) && packets(u32::MAX - 5, 3));
        assert!(!packets(0, 0) && !packets(1, u32::MAX));
        let bytes = |sent, limit| after(sent, limit, Charge::BYTES);
        assert!(bytes((2, 300), 524 + 1_112) && !bytes((2, 300), 524 + 1_111));
        assert!(bytes((0, (3 << 32) - 112), 1_000) && !bytes((0, (3 << 32) - 112), 999));
    }

    #[test]
    fn a_few_packets_go_before_the_first_report() {
        let (charge, packet) = (Charge::BYTES, Charge::BYTES.of(1_460));
        assert!(has_credit(charge, packet, Sent { packets: 9, bytes: 9 * 1_460 }, None));
        assert!(!has_credit(charge, packet, Sent { packets: 10, bytes: 10 * 1_460 }, None));
    }
}
