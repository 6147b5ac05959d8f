//! Copies of packets that are not known to be lost: of those that are to go on two channels at once.
//!
//! ```text
//!   packet n of the pipe --> channel 0, as number 7 there
//!                        \-> copy of (0, 7) --> any channel but 0, as a copy of a lost packet goes
//! ```
//!
//! To the receiver there is no difference: what of the two comes first is given out in its turn, and
//! the other is one too many. A copy waits for room on another channel, behind those of lost packets,
//! for as long as no report accounts for its packet: then that has come, or it is asked for.
//!
//! Source: ours.

use super::{Place, Repairs, Sender};
use crate::tag::ahead;
use crate::{Instant, Numbered, Repair};

impl Repairs {
    /// A packet that went as this number of a channel is to go on another one as well.
    pub(super) fn copy(&mut self, place: Place) {
        if self.redundant.len() < self.plan.packets {
            self.redundant.push_back(place);
        }
    }

    /// The next packet to be copied, and how long it is, if it is remembered.
    fn next_redundant(&mut self) -> Option<(Place, Option<u32>)> {
        let place = *self.redundant.front()?;
        let sent = self.at(place).filter(|sent| !sent.is_copy && sent.tries == 0);
        Some((place, sent.map(|sent| sent.length_bytes)))
    }
}

impl<S: Numbered> Sender<S> {
    /// The next copy of a packet that is to go on two channels.
    pub(super) fn poll_redundant(&mut self, now: Instant) -> Option<Repair> {
        while let Some((place, length_bytes)) = self.repairs.as_mut()?.next_redundant() {
            let first = usize::from(place.0);
            let useful = length_bytes.filter(|bytes| self.is_of_use(place, *bytes));
            if let Some(length_bytes) = useful {
                let channel = self.fastest_but(now, first, length_bytes)?;
                self.repairs.as_mut()?.redundant.pop_front();
                self.sending.redundant += 1;
                return self.send_copy(now, channel, place);
            }
            self.repairs.as_mut()?.redundant.pop_front();
            self.sending.redundant_late += 1;
        }
        None
    }

    /// Whether nobody has accounted for a packet, and another channel takes one of its length.
    fn is_of_use(&self, (channel, number): Place, length_bytes: u32) -> bool {
        let channel = usize::from(channel);
        let reported = self.reported.on(channel);
        let accounted = reported.map_or(0, |reported| reported.report.accounted_packets);
        let takes = |other: usize| {
            other != channel && self.carries(other) && self.sizes.fits(other, length_bytes)
        };
        ahead(number, accounted) >= 0 && (0..self.scheduler.channels()).any(takes)
    }
}
