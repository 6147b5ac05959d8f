//! What holds back a flow: a window of packets under way, and a pace.
//!
//! ```text
//!   source        p1 p2 p3 |                p4 |        window of 3 packets: p4 waits for the first answer
//!                  \\  \\  \\|               / \\|
//!   destination     a1 a2 a3 ──────────────          each packet that has arrived whole is answered
//! ```
//!
//! Or one answer is to several packets, or only those that were marked are answered, which no window
//! can wait for.
//!
//! Source: windows of unacknowledged packets, textbook; answers of 20 bytes, one a packet, Santos
//! et al. 2002, section I and table I.
//!
//! Invariant: no more packets of a flow are under way, or have arrived and are not answered, than
//! its window says.

use crate::{ClassId, Priority, REFILL_BYTES, Response, StreamId};
use gingham_kernel::{Span, Time};
use gingham_topology::EndpointId;
use gingham_topology::routing::VcClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What makes packets one flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FlowKey {
    /// The class as which they are sent.
    pub class: ClassId,
    /// Where they begin.
    pub source: EndpointId,
    /// Where they end.
    pub destination: EndpointId,
    /// The stream that they are of, where sources are streams.
    pub stream: Option<StreamId>,
}

/// How many packets of a flow may be under way.
#[derive(Clone, PartialEq, Debug)]
pub struct WindowPlan {
    /// Packets that were sent and are not answered, at the most; at least 1, and no limit where not
    /// all are answered.
    pub packets: u32,
    /// Which of them are answered.
    pub answered: Answered,
    /// How.
    pub answer: AnswerPlan,
    /// What the flow makes of marks that come back.
    pub response: Response,
}

/// Which packets a destination answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answered {
    /// Each by itself.
    #[default]
    All,
    /// So many of a flow at once: the answer says whether any of them was marked.
    Every(
        /// From 1 to 1,000,000.
        u32,
    ),
    /// Only such as were marked, and those of a flow at least so long one after the other: congestion
    /// notification packets.
    Marked(
        /// Least time between answers of a flow.
        Span,
    ),
}

impl Answered {
    /// Whether every packet is, by itself or with others.
    pub const fn is_of_all(self) -> bool {
        !matches!(self, Self::Marked(_))
    }
}

/// What the destination of a flow has received and not answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Receipt {
    packets: u32,
    marked: u32,
    /// When it answered last.
    answered: Option<Time>,
}

impl Receipt {
    /// A packet has arrived. Returns what is to be answered now: how many packets, and how many of
    /// these were marked.
    pub(crate) fn arrive(
        &mut self,
        answered: Answered,
        marked: bool,
        now: Time,
    ) -> Option<(u32, u32)> {
        let marked = u32::from(marked);
        match answered {
            Answered::All => Some((1, marked)),
            Answered::Every(packets) => {
                (self.packets, self.marked) = (self.packets + 1, self.marked + marked);
                let due = (self.packets >= packets).then_some((self.packets, self.marked));
                if due.is_some() {
                    (self.packets, self.marked) = (0, 0);
                }
                due
            }
            Answered::Marked(apart) => {
                let is_due = self.answered.is_none_or(|before| now >= before + apart);
                let due = (marked > 0 && is_due).then_some((1, 1));
                if due.is_some() {
                    self.answered = Some(now);
                }
                due
            }
        }
    }
}

/// The packet with which a destination answers one that it received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AnswerPlan {
    /// Its payload, at least 1 B.
    pub payload_bytes: u32,
    /// Its level.
    pub priority: Priority,
    /// Its VC class; that which the lanes say of the pair if not given.
    pub vc_class: Option<VcClass>,
}

/// Why a flow that has something to send is held back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Hold {
    /// As many of its packets are under way as its window says: it waits for an answer.
    Window,
    /// Its pace: the packet before has started not long enough ago.
    Pace,
    /// Its class waits for tokens.
    Tokens,
}

/// How fast flows of a class may send.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PacePlan {
    /// By endpoint: the time in which [`REFILL_BYTES`] bytes of payload of a flow may
    /// start.
    pub refill: Box<[Span]>,
}

/// The pace of a flow: a packet starts no sooner than the one before it did, and the time of that
/// at this rate, rounded up to a picosecond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    refill: Span,
}

impl Pace {
    /// That of the flows of a source.
    pub const fn new(refill: Span) -> Self {
        Self { refill }
    }

    /// The time in which [`REFILL_BYTES`] bytes of payload may start.
    pub const fn refill(self) -> Span {
        self.refill
    }

    /// From when on the next packet may start, if one with so much payload starts `now`.
    pub fn next_start(self, now: Time, payload_bytes: u32) -> Time {
        let parts = u128::from(self.refill.as_ps()) * u128::from(payload_bytes);
        let span = parts.div_ceil(u128::from(REFILL_BYTES));
        now + Span::from_ps(u64::try_from(span).expect("a packet starts within a run"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By packet, of which some are marked, one a microsecond: what is answered.
    fn answers(answered: Answered, marked: &[bool]) -> Vec<Option<(u32, u32)>> {
        let mut receipt = Receipt::default();
        let arrive = |(index, marked): (usize, &bool)| {
            let now = Time::from_ps(1_000_000 * (index as u64 + 1));
            receipt.arrive(answered, *marked, now)
        };
        marked.iter().enumerate().map(arrive).collect()
    }

    #[test]
    fn one_answer_is_to_one_packet_or_to_several_or_to_such_as_are_marked() {
        let marked = [false, true, true, true, false, true];
        let each = answers(Answered::All, &marked);
        assert_eq!(each[..2], [Some((1, 0)), Some((1, 1))]);
        assert!(each.iter().all(Option::is_some));
        let pairs = answers(Answered::Every(2), &marked);
        assert_eq!(pairs, [None, Some((2, 1)), None, Some((2, 2)), None, Some((2, 1))]);
        // At 2 us, no sooner than at 4, and then no sooner than at 6.
        let apart = answers(Answered::Marked(Span::from_ps(2_000_000)), &marked);
        assert_eq!(apart, [None, Some((1, 1)), None, Some((1, 1)), None, Some((1, 1))]);
        let apart = answers(Answered::Marked(Span::from_ps(2_000_001)), &marked);
        assert_eq!(apart, [None, Some((1, 1)), None, None, None, Some((1, 1))]);
    }
}
