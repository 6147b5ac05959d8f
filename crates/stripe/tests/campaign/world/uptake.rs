//! Whether the sender takes what is offered, once errors have stopped.

use gingham_stripe::{Controlled, Discard, SenderOptions};

use super::World;
use crate::policies::Policies;

/// So long after the healing packets are taken again: the longest that rates take to be found again
/// in the test of healing.
pub(crate) const WITHIN_NS: u64 = 5_000_000_000;

/// Where a model of the path says what may be in flight, channels that are good again are used
/// again. CUBIC adds a packet in a round trip to what losses left (RFC 9438, section 4.3), and is not
/// asked; nor where a packet may have to wait though there is room.
pub(crate) fn is_promised(sender: &SenderOptions, policies: &Policies) -> bool {
    let by = sender.control.map(|control| control.by);
    matches!(by, Some(Controlled::Bbr(_) | Controlled::Told(_))) && !policies.may_wait()
}

impl World<'_> {
    /// Credits lose nothing for want of room, and stop nobody.
    pub(super) fn judge_credits(&self) -> Result<(), String> {
        let full = self.receiver.reception().discards.of(Discard::BufferFull);
        // Each channel has what goes before the first report, ten packets of 1,460 bytes, in its half.
        let first = 2 * 10 * u64::from(self.case.receiver.charge.of(1_460));
        let users = self.case.quanta.len() as u64 + 1;
        let roomy = self.case.receiver.buffer_bytes_max >= users * first;
        if self.case.sender.credits.is_some() && roomy && full > 0 {
            return Err(format!("{full} packets found no room, credits or not"));
        }
        // A window may close for a while, to find out the least round trip.
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

    /// What was promised in time.
    pub(super) fn judge_uptake(&mut self) -> Result<(), String> {
        let until_ns = self.case.heal_ns + WITHIN_NS;
        let is_late = self.uptake.resumed_ns.is_none_or(|at_ns| at_ns > until_ns);
        if self.case.is_uptake_asked && is_late {
            let resumed_us = self.uptake.resumed_ns.map(|at_ns| at_ns / 1_000);
            return Err(format!(
                "packets are taken again from {resumed_us:?} us on, and are to be from {} us on",
                until_ns / 1_000
            ));
        }
        if self.case.is_uptake_asked {
            let resumed_ns = self.uptake.resumed_ns.unwrap_or(until_ns);
            self.totals.uptake_ns_max = resumed_ns.saturating_sub(self.case.heal_ns);
        }
        Ok(())
    }
}
