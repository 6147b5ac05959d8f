//! Round trips of a flow, from the sender's own record of starts.
//!
//! ```text
//!   starts        s1   s2   s3            s4
//!   ACK of two                   a = s2       round trip a - s2, of the last packet that it covers
//! ```
//!
//! Packets carry no numbers, and an acknowledgement ends the oldest ones under way. If packets of a
//! flow overtake each other, round trips are exchanged between them.

use gingham_kernel::{Span, Time};
use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RoundTrip {
    /// Time from the start of a packet on its link to the complete arrival of its acknowledgement;
    /// of several acknowledged packets, that of the last.
    pub(crate) span: Span,
    /// Packets acknowledged, at least 1.
    pub(crate) packets: u32,
}

/// Starts of a flow's packets that are under way, in their order.
#[derive(Clone, Default, Debug)]
pub(crate) struct RoundTrips {
    started: VecDeque<Time>,
}

impl RoundTrips {
    pub(crate) fn start(&mut self, now: Time) {
        self.started.push_back(now);
    }

    /// Ends the round trips of the oldest packets, at least one.
    pub(crate) fn end(&mut self, packets: u32, now: Time) -> RoundTrip {
        let last = self.started.drain(..packets as usize).next_back();
        RoundTrip { span: now.since(last.expect("an ACK covers a packet")), packets }
    }
}
