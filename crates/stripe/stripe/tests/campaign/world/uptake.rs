//! Acceptance of offered packets by the sender, once errors have stopped.

use gingham_stripe::{Controlled, Discard, ReceiverOptions, SenderOptions};

use super::World;
use crate::case::{LONGEST_BYTES, LineCase, nanoseconds};
use crate::policies::Policies;

/// Least time allowed: the longest recovery of rates in the test of healing, with round trips of 80
/// ms.
const WITHIN_NS_MIN: u64 = 5_000_000_000;

/// The longest wait of BBR for its next probe of the rate.
const PROBE_WAIT_NS: u64 = 3_000_000_000;

/// Time after the healing within which packets are accepted again.
///
/// Errors may have left a line the least window, of four packets, too late for the rows of bad and
/// good rounds after which BBR begins anew. It waits for its next probe; a round trip ends the
/// phase before, and one fills the pipe. The window grows by 1, 2, 4 ... packets in a round trip,
/// the rate by a quarter. From `found` packets in a round trip to those that are needed this takes
///
/// > `log2(found) + log1.25(needed / found)` round trips,
///
/// most where `found` is the least.
pub(crate) fn within_ns(
    (sender, receiver): (&SenderOptions, &ReceiverOptions),
    lines: &[LineCase],
    needed: impl Fn(usize) -> u64,
) -> u64 {
    let is_found = matches!(sender.control.map(|control| control.by), Some(Controlled::Bbr(_)));
    let report_ns = receiver.reports.map_or(0, |plan| nanoseconds(plan.interval));
    let within_ns = |(number, line): (usize, &LineCase)| {
        let round_trip_ns = line.round_trip_ns() + report_ns;
        let rate = needed(number).min(line.there.rate.bytes_per_second());
        let packets_permille = rate * round_trip_ns / 1_000_000 / u64::from(LONGEST_BYTES);
        let grown = |permille: &u64| Some(permille * 5 / 4);
        let growth = std::iter::successors(Some(4_000), grown);
        let rounds = 4 + growth.take_while(|permille| *permille < packets_permille).count() as u64;
        PROBE_WAIT_NS + rounds * round_trip_ns
    };
    let longest_ns = lines.iter().enumerate().map(within_ns).max().unwrap_or(0);
    if is_found { longest_ns.max(WITHIN_NS_MIN) } else { WITHIN_NS_MIN }
}

/// Recovery is required if a model of the path controls the packets in flight, and no packet waits
/// despite room; CUBIC adds one packet in a round trip after losses (RFC 9438, section 4.3).
pub(crate) fn is_promised(sender: &SenderOptions, policies: &Policies) -> bool {
    let by = sender.control.map(|control| control.by);
    matches!(by, Some(Controlled::Bbr(_) | Controlled::FixedRate(_))) && !policies.may_wait()
}

impl World<'_> {
    /// Credits lose no packet for lack of memory, and stop no sender. Packets in flight on a
    /// channel that leaves lose their credit.
    pub(super) fn judge_credits(&self) -> Result<(), String> {
        let full = self.receiver.reception().discards.of(Discard::BufferFull);
        // Half of each channel's room is for packets before the first report, ten of 1,460 bytes.
        let first = 2 * 10 * u64::from(self.case.receiver.charge.of(1_460));
        let users = self.case.quanta.len() as u64 + 1;
        let roomy = self.case.receiver.buffer_bytes_max >= users * first;
        if self.case.sender.credits.is_some() && roomy && full > 0 {
            return Err(format!("{full} packets found no room, credits or not"));
        }
        // A window may be reduced for a while, to measure the minimum round trip.
        let flight = self.case.sender.control.is_some();
        let since_ns = if flight {
            self.case.silent_ns.saturating_sub(1_000_000_000)
        } else {
            self.case.settled_ns
        };
        let sent = self.ledger.sent_since(since_ns);
        if self.case.ample && sent < 50 {
            return Err(format!("{sent} packets were taken where about a hundred were offered"));
        }
        Ok(())
    }

    pub(super) fn judge_uptake(&mut self) -> Result<(), String> {
        let Some(uptake_ns) = self.case.uptake_ns else { return Ok(()) };
        let until_ns = self.case.heal_ns + uptake_ns;
        let resumed_ns = self.uptake.resumed_ns;
        let Some(in_time_ns) = resumed_ns.filter(|at_ns| *at_ns <= until_ns) else {
            let at_us = resumed_ns.map(|at_ns| at_ns / 1_000);
            return Err(format!(
                "packets are taken again from {at_us:?} us on, and are to be from {} us on",
                until_ns / 1_000
            ));
        };
        self.totals.uptake_ns_max = in_time_ns.saturating_sub(self.case.heal_ns);
        Ok(())
    }
}
