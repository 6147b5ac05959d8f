//! Credits: no packet is sent that the buffer of its channel might have no room for.
//!
//! ```text
//!   packets sent on the channel   0 ............ sent ............ limit
//!                                                 |<--- credit --->|
//! ```
//!
//! The limit is a count from the beginning of the epoch, not a number of packets more: a report
//! that is lost, or that says the same again, does no harm, and the next one puts all right.
//! Markers need no credit; each brings a report, so credit that came back while a report was lost
//! is heard of.
//!
//! Source: FCVC of Kung and Chapman (ICNP 1993), which Adiseshu, Parulkar and Varghese 1996,
//! section 6.3, put on their markers.
//!
//! Invariant: what is in flight and what waits in the buffer together fit the buffer, once a report
//! has come.

use crate::{Report, Sent};

/// Packets that may go before the receiver has said anything: the initial window of RFC 6928.
const FIRST_PACKETS: u32 = 10;

/// Whether a channel has credit for a packet.
pub(super) fn has_credit(sent: Sent, report: Option<&Report>) -> bool {
    let limit = report.map_or(FIRST_PACKETS, |report| report.limit_packets);
    limit.wrapping_sub(sent.packets).cast_signed() > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(packets: u32, limit_packets: u32) -> bool {
        let report = Report { limit_packets, ..Report::default() };
        has_credit(Sent { packets, bytes: 0 }, Some(&report))
    }

    #[test]
    fn a_limit_counts_from_the_beginning_and_across_the_wrap() {
        assert!(after(6, 7) && !after(7, 7) && !after(8, 7));
        assert!(
            after(u32::MAX, 0) && after(u32::MAX - 5, 3) && !after(0, 0) && !after(1, u32::MAX)
        );
    }

    #[test]
    fn a_few_packets_go_before_the_first_report() {
        assert!(has_credit(Sent { packets: 9, bytes: 0 }, None));
        assert!(!has_credit(Sent { packets: 10, bytes: 0 }, None));
    }
}
