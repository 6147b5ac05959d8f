//! The receiving end: the protocol, or something simpler beside it that others are compared with.

use super::resequencer::Resequencer;
use super::scheduler::Scheduler;
use super::sending::{EPOCH, instant, time};
use crate::plan::{Plan, Reception};
use crate::traffic::Packet;
use gingham_fairq::Number;
use gingham_kernel::Time;
use gingham_stripe::{Message, Receiver, TAG_BYTES};
use std::collections::VecDeque;

/// The receiving end.
#[derive(Debug)]
pub(crate) enum ReceivingEnd {
    Logical { receiver: Box<Receiver<Scheduler, Packet>>, tagged: bool },
    AsItComes { packets: VecDeque<Packet>, packets_max: usize },
    Numbered(Resequencer),
}

impl ReceivingEnd {
    pub(crate) fn new(plan: &Plan) -> Self {
        let channels = plan.links.len();
        match plan.reception {
            Reception::Logical | Reception::Unmarked => {
                let scheduler = Scheduler::of(plan).expect("logical reception has rounds");
                let receiver = Receiver::synchronised(scheduler, plan.receiver, EPOCH);
                let checked = "options are checked where scenarios are compiled";
                let receiver = Box::new(receiver.expect(checked));
                Self::Logical { receiver, tagged: plan.tagged }
            }
            Reception::None => Self::AsItComes {
                packets: VecDeque::new(),
                packets_max: channels * plan.receiver.buffer_packets_max,
            },
            Reception::SequenceNumbers => {
                Self::Numbered(Resequencer::new(channels, &plan.receiver))
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "twelve")]
    const TAG_BYTES: u32 = TAG_BYTES as u32;

    /// Bytes that a packet has on a channel beside its own.
    pub(crate) const fn header_bytes(&self) -> u32 {
        match self {
            Self::Logical { tagged: true, .. } => Self::TAG_BYTES,
            Self::Logical { .. } | Self::AsItComes { .. } => 0,
            Self::Numbered(_) => Resequencer::HEADER_BYTES,
        }
    }

    /// A packet has come; tells whether it is kept.
    pub(crate) fn take_packet(&mut self, now: Time, channel: usize, packet: Packet) -> bool {
        match self {
            Self::Logical { receiver, .. } => {
                let (now, bytes) = (instant(now), packet.bytes);
                let taken = match packet.tag {
                    Some(tag) => receiver.handle_tagged(now, channel, tag, bytes, packet),
                    None => receiver.handle_packet(now, channel, bytes, packet),
                };
                taken.is_ok()
            }
            Self::AsItComes { packets, packets_max } => {
                let room = packets.len() < *packets_max;
                if room {
                    packets.push_back(packet);
                }
                room
            }
            Self::Numbered(resequencer) => resequencer.take(now, channel, packet),
        }
    }

    /// A message has come; what is no message any more is discarded and counted there.
    pub(crate) fn take_message(&mut self, now: Time, channel: usize, bytes: &[u8]) {
        if let Self::Logical { receiver, .. } = self {
            // What is refused is counted by the receiver.
            let _ = receiver.handle_bytes(instant(now), channel, bytes);
        }
    }

    /// The next packet in the order found, and its number by the receiver's scheduler.
    pub(crate) fn poll_packet(&mut self, now: Time) -> Option<(Packet, Option<Number>)> {
        match self {
            Self::Logical { receiver, .. } => {
                let packet = receiver.poll_packet(instant(now))?;
                Some((packet, Some(receiver.scheduler().charged())))
            }
            Self::AsItComes { packets, .. } => Some((packets.pop_front()?, None)),
            Self::Numbered(resequencer) => Some((resequencer.poll(now)?, None)),
        }
    }

    /// The next message to the sender, and the channel on whose way back it goes.
    pub(crate) fn poll_message(&mut self, now: Time) -> Option<(usize, Message)> {
        match self {
            Self::Logical { receiver, .. } => receiver.poll_message(instant(now)),
            _ => None,
        }
    }

    /// When there will be a packet though nothing comes.
    pub(crate) fn timeout(&self) -> Option<Time> {
        match self {
            Self::Logical { receiver, .. } => receiver.poll_timeout().and_then(time),
            Self::AsItComes { .. } => None,
            Self::Numbered(resequencer) => resequencer.timeout(),
        }
    }

    /// Packets of a channel that wait.
    pub(crate) fn buffered_packets(&self, channel: usize) -> usize {
        match self {
            Self::Logical { receiver, .. } => receiver.buffered_packets(channel),
            Self::AsItComes { packets, .. } => {
                packets.iter().filter(|packet| usize::from(packet.channel) == channel).count()
            }
            Self::Numbered(resequencer) => resequencer.buffered_packets(channel),
        }
    }

    /// The protocol's receiver, if there is one.
    pub(crate) fn protocol(&self) -> Option<&Receiver<Scheduler, Packet>> {
        match self {
            Self::Logical { receiver, .. } => Some(receiver),
            _ => None,
        }
    }
}
