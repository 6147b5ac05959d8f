//! Flow control of a flow: a window of packets in flight, and a rate limit.
//!
//! ```text
//!   source        p1 p2 p3 |                p4 |        window of 3 packets: p4 waits for the first ACK
//!                  \  \  \ |               /  \|
//!   destination     a1 a2 a3 ──────────────          each packet is acknowledged after its complete arrival
//! ```
//!
//! Source: Santos et al. 2002, section I and table I (acknowledgements of 20 bytes, one per
//! packet); windows are textbook material.
//!
//! Invariant: the number of a flow's unacknowledged packets, in flight or arrived, never exceeds
//! its window.

use crate::{ClassId, Priority, REFILL_BYTES, Response, StreamId};
use gingham_kernel::{Span, Time};
use gingham_topology::EndpointId;
use gingham_topology::routing::VcClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Identity of a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FlowKey {
    /// Class of the packets.
    pub class: ClassId,
    /// Source endpoint.
    pub source: EndpointId,
    /// Destination endpoint.
    pub destination: EndpointId,
    /// Stream, if the sources are streams.
    pub stream: Option<StreamId>,
}

/// Window of a flow.
#[derive(Clone, PartialEq, Debug)]
pub struct WindowPlan {
    /// Maximum number of unacknowledged packets, at least 1; unlimited if not all packets are
    /// acknowledged.
    pub packets: u32,
    /// Packets that are acknowledged.
    pub acknowledged: Acknowledged,
    /// Packet that carries the acknowledgement.
    pub ack: AckPlan,
    /// Reaction to congestion marks in acknowledgements.
    pub response: Response,
}

/// Packets that a destination acknowledges.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Acknowledged {
    /// Each packet individually.
    #[default]
    All,
    /// One acknowledgement for each group of this number of packets in a flow, marked if at least
    /// one packet of the group was marked.
    Every(
        /// Number of packets per acknowledgement, from 1 to 1,000,000.
        u32,
    ),
    /// Only marked packets, with a minimum interval between the acknowledgements of a flow:
    /// congestion notification packets.
    Marked(
        /// Minimum time between acknowledgements of a flow.
        Span,
    ),
}

impl Acknowledged {
    /// Returns whether every packet is acknowledged, individually or with others.
    pub const fn is_of_all(self) -> bool {
        !matches!(self, Self::Marked(_))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Receipt {
    packets: u32,
    marked: u32,
    last_ack: Option<Time>,
}

impl Receipt {
    /// Counts a packet. Returns the numbers of packets and of marked packets to acknowledge now, if
    /// any.
    pub(crate) fn arrive(
        &mut self,
        acknowledged: Acknowledged,
        marked: bool,
        now: Time,
    ) -> Option<(u32, u32)> {
        let marked = u32::from(marked);
        match acknowledged {
            Acknowledged::All => Some((1, marked)),
            Acknowledged::Every(packets) => {
                (self.packets, self.marked) = (self.packets + 1, self.marked + marked);
                let due = (self.packets >= packets).then_some((self.packets, self.marked));
                if due.is_some() {
                    (self.packets, self.marked) = (0, 0);
                }
                due
            }
            Acknowledged::Marked(apart) => {
                let is_due = self.last_ack.is_none_or(|before| now >= before + apart);
                let due = (marked > 0 && is_due).then_some((1, 1));
                if due.is_some() {
                    self.last_ack = Some(now);
                }
                due
            }
        }
    }
}

/// Packet that carries an acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckPlan {
    /// Payload in bytes, at least 1.
    pub payload_bytes: u32,
    /// Priority level.
    pub priority: Priority,
    /// VC class; `None` uses the VC class of the endpoint pair.
    pub vc_class: Option<VcClass>,
}

/// Reason for holding back a flow that has something to send.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Hold {
    /// The window is full: the flow waits for an acknowledgement.
    Window,
    /// The previous packet started too recently for the rate limit.
    RateLimit,
    /// Policing: the flow waits for tokens.
    Tokens,
}

/// Rate limits of a class's flows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RateLimitPlan {
    /// For each endpoint: minimum time per [`REFILL_BYTES`] bytes of a flow's payload.
    pub refill: Box<[Span]>,
}

/// Rate limit of a flow: minimum time between packet starts, proportional to the payload of the
/// earlier packet and rounded up to 1 ps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateLimit {
    refill: Span,
}

impl RateLimit {
    /// Creates a limit with this minimum time per [`REFILL_BYTES`] bytes of payload.
    pub const fn new(refill: Span) -> Self {
        Self { refill }
    }

    /// Returns the minimum time per [`REFILL_BYTES`] bytes of payload.
    pub const fn refill(self) -> Span {
        self.refill
    }

    /// Returns the earliest start of the next packet after a packet with this payload starts `now`.
    pub fn next_start(self, now: Time, payload_bytes: u32) -> Time {
        let parts = u128::from(self.refill.as_ps()) * u128::from(payload_bytes);
        let span = parts.div_ceil(u128::from(REFILL_BYTES));
        now + Span::from_ps(u64::try_from(span).expect("a packet starts within a run"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the acknowledgement (packets, marked packets) after each of several packets that
    /// arrive 1 us apart.
    fn acks(acknowledged: Acknowledged, marked: &[bool]) -> Vec<Option<(u32, u32)>> {
        let mut receipt = Receipt::default();
        let arrive = |(index, marked): (usize, &bool)| {
            let now = Time::from_ps(1_000_000 * (index as u64 + 1));
            receipt.arrive(acknowledged, *marked, now)
        };
        marked.iter().enumerate().map(arrive).collect()
    }

    #[test]
    fn acks_cover_single_every_nth_or_marked_packets() {
        let marked = [false, true, true, true, false, true];
        let each = acks(Acknowledged::All, &marked);
        assert_eq!(each[..2], [Some((1, 0)), Some((1, 1))]);
        assert!(each.iter().all(Option::is_some));
        let pairs = acks(Acknowledged::Every(2), &marked);
        assert_eq!(pairs, [None, Some((2, 1)), None, Some((2, 2)), None, Some((2, 1))]);
        // After the acknowledgement at 2 us, the next may follow at 4 us, and then at 6 us.
        let apart = acks(Acknowledged::Marked(Span::from_ps(2_000_000)), &marked);
        assert_eq!(apart, [None, Some((1, 1)), None, Some((1, 1)), None, Some((1, 1))]);
        let apart = acks(Acknowledged::Marked(Span::from_ps(2_000_001)), &marked);
        assert_eq!(apart, [None, Some((1, 1)), None, None, None, Some((1, 1))]);
    }
}
