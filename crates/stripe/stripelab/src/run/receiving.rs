//! Receiving end: the protocol, or a simpler method for comparison.

use super::memory::Memory;
use super::resequencer::Resequencer;
use super::scheduler::Scheduler;
use super::sending::{EPOCH, instant, time};
use crate::plan::{Plan, Reception};
use crate::traffic::Packet;
use gingham_fairq::Number;
use gingham_kernel::Time;
use gingham_stripe::{ChannelOrder, Instant, Message, Ordered, Receiver, TAG_BYTES};
use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) enum ReceivingEnd {
    Logical(Box<Logical>),
    AsItComes { packets: VecDeque<Packet>, memory: Memory },
    Numbered(Resequencer),
}

#[derive(Debug)]
pub(crate) struct Logical {
    receiver: Receiver<Scheduler, Packet>,
    tagged: bool,
    orders: Vec<ChannelOrder<Packet>>,
}

impl Logical {
    fn new(plan: &Plan) -> Self {
        let checked = "options are checked where scenarios are compiled";
        let scheduler = Scheduler::of_receiver(plan).expect("logical reception has rounds");
        let receiver = Receiver::synchronised(scheduler, plan.receiver, EPOCH).expect(checked);
        let order = |options| ChannelOrder::synchronised(options, EPOCH).expect(checked);
        let orders = plan
            .restore
            .map_or_else(Vec::new, |options| plan.links.iter().map(|_| order(options)).collect());
        Self { receiver, tagged: plan.tagged, orders }
    }

    fn take_packet(&mut self, now: Instant, channel: usize, packet: Packet) -> bool {
        let bytes = packet.bytes;
        let Some(tag) = packet.tag else {
            return self.receiver.handle_packet(now, channel, bytes, packet).is_ok();
        };
        let Some(order) = self.orders.get_mut(channel) else {
            return self.receiver.handle_tagged(now, tag, bytes, packet).is_ok();
        };
        let taken = order.handle_packet(now, tag, bytes, packet).is_ok();
        self.pass_on(now, channel);
        taken
    }

    fn take_message(&mut self, now: Instant, channel: usize, bytes: &[u8]) {
        let Some(order) = self.orders.get_mut(channel) else {
            let _ = self.receiver.handle_bytes(now, channel, bytes);
            return;
        };
        if let Ok(message) = Message::parse(bytes) {
            let _ = order.handle_message(now, message);
        }
        self.pass_on(now, channel);
    }

    fn pass_on(&mut self, now: Instant, channel: usize) {
        while let Some(order) = self.orders.get_mut(channel)
            && let Some(next) = order.poll(now)
        {
            let _ = match next {
                Ordered::Packet(tag, bytes, packet) => {
                    self.receiver.handle_tagged(now, tag, bytes, packet)
                }
                Ordered::Message(message) => self.receiver.handle_message(now, channel, message),
            };
        }
    }

    fn poll_packet(&mut self, now: Instant) -> Option<(Packet, Option<Number>)> {
        for channel in 0..self.orders.len() {
            self.pass_on(now, channel);
        }
        let packet = self.receiver.poll_packet(now)?;
        Some((packet, Some(self.receiver.scheduler().charged())))
    }

    fn timeout(&self) -> Option<Time> {
        let orders = self.orders.iter().filter_map(ChannelOrder::poll_timeout);
        orders.chain(self.receiver.poll_timeout()).min().and_then(time)
    }

    fn buffered_packets(&self, channel: usize) -> usize {
        let held = self.orders.get(channel).map_or(0, ChannelOrder::held);
        held + self.receiver.buffered_packets(channel)
    }
}

impl ReceivingEnd {
    pub(crate) fn new(plan: &Plan) -> Self {
        let channels = plan.links.len();
        match plan.reception {
            Reception::Logical | Reception::Unmarked => Self::Logical(Box::new(Logical::new(plan))),
            Reception::None => {
                Self::AsItComes { packets: VecDeque::new(), memory: Memory::new(&plan.receiver) }
            }
            Reception::SequenceNumbers => {
                Self::Numbered(Resequencer::new(channels, &plan.receiver))
            }
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "twelve")]
    const TAG_BYTES: u32 = TAG_BYTES as u32;

    pub(crate) const fn header_bytes(&self) -> u32 {
        match self {
            Self::Logical(logical) if logical.tagged => Self::TAG_BYTES,
            Self::Logical(_) | Self::AsItComes { .. } => 0,
            Self::Numbered(_) => Resequencer::HEADER_BYTES,
        }
    }

    pub(crate) fn take_packet(&mut self, now: Time, channel: usize, packet: Packet) -> bool {
        match self {
            Self::Logical(logical) => logical.take_packet(instant(now), channel, packet),
            Self::AsItComes { packets, memory } => {
                let room = memory.take(packet.bytes);
                if room {
                    packets.push_back(packet);
                }
                room
            }
            Self::Numbered(resequencer) => resequencer.take(now, channel, packet),
        }
    }

    pub(crate) fn take_message(&mut self, now: Time, channel: usize, bytes: &[u8]) {
        if let Self::Logical(logical) = self {
            logical.take_message(instant(now), channel, bytes);
        }
    }

    pub(crate) fn poll_packet(&mut self, now: Time) -> Option<(Packet, Option<Number>)> {
        match self {
            Self::Logical(logical) => logical.poll_packet(instant(now)),
            Self::AsItComes { packets, memory } => {
                let packet = packets.pop_front()?;
                memory.give(packet.bytes);
                Some((packet, None))
            }
            Self::Numbered(resequencer) => Some((resequencer.poll(now)?, None)),
        }
    }

    pub(crate) fn poll_message(&mut self, now: Time) -> Option<(usize, Message)> {
        match self {
            Self::Logical(logical) => logical.receiver.poll_message(instant(now)),
            _ => None,
        }
    }

    pub(crate) fn timeout(&self) -> Option<Time> {
        match self {
            Self::Logical(logical) => logical.timeout(),
            Self::AsItComes { .. } => None,
            Self::Numbered(resequencer) => resequencer.timeout(),
        }
    }

    pub(crate) fn buffered_packets(&self, channel: usize) -> usize {
        match self {
            Self::Logical(logical) => logical.buffered_packets(channel),
            Self::AsItComes { packets, .. } => {
                packets.iter().filter(|packet| usize::from(packet.channel) == channel).count()
            }
            Self::Numbered(resequencer) => resequencer.buffered_packets(channel),
        }
    }

    pub(crate) fn protocol(&self) -> Option<&Receiver<Scheduler, Packet>> {
        match self {
            Self::Logical(logical) => Some(&logical.receiver),
            _ => None,
        }
    }
}
