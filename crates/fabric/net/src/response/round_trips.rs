//! Round trips of a flow, from the sender's own record of start times.
//!
//! ```text
//!   starts        s1   s2   s3            s4
//!   ACK of two                   a            round trip a - s2, of the last packet that the ACK covers
//! ```
//!
//! Packets carry no numbers; an acknowledgement ends the round trips of the oldest packets. If
//! packets of a flow overtake each other, their round trips are swapped.

use gingham_kernel::{Span, Time};
use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RoundTrip {
    /// Time from the start of the last acknowledged packet on its link to the complete arrival of
    /// the acknowledgement.
    pub(crate) span: Span,
    /// Number of acknowledged packets, at least 1.
    pub(crate) packets: u32,
}

#[derive(Clone, Default, Debug)]
pub(crate) struct RoundTrips {
    started: VecDeque<Time>,
}

impl RoundTrips {
    pub(crate) fn start(&mut self, now: Time) {
        self.started.push_back(now);
    }

    /// Ends the round trips of the oldest `packets` packets, at least 1.
    pub(crate) fn end(&mut self, packets: u32, now: Time) -> RoundTrip {
        let last = self.started.drain(..packets as usize).next_back();
        RoundTrip { span: now.since(last.expect("an ACK covers a packet")), packets }
    }
}
