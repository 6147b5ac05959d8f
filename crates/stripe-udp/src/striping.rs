//! Both ends of the protocol as this end of the pipe has them: all that touches the core.
//!
//! ```text
//!              packets ──► Sender ──► data, markers ──►            Receiver of the other end
//!                            ▲ reports                                  │
//!                            └──────────────────────────────────────────┘
//!   and the same the other way, over the same channels
//! ```
//!
//! Invariant: the time that the core is told never goes back.

use std::time::Duration;

use gingham_fairq::Causal;
use gingham_stripe::{
    ControlPlan, Discard, Epoch, Flight, Guarantee, Instant, Message, Numbered, Order, Receiver,
    ReceiverOptions, Reception, Repair, RepairPlan, RepairRequests, ReportPlan,
    RetransmissionBuffer, SendError, Sender, SenderOptions, Sending, SharePlan, Tag, Transmit,
};

use crate::error::OpenError;
use crate::framing::Frame;
use crate::scheduler::Scheduler;

/// A packet that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The packet.
    pub bytes: Vec<u8>,
    /// When the kernel had it.
    pub came_at: Instant,
}

/// What both ends of the protocol are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripingPlan {
    /// The longest packet, in bytes.
    pub longest_bytes: u32,
    /// The sender of this end.
    pub sender: SenderOptions,
    /// Its receiver.
    pub receiver: ReceiverOptions,
}

impl StripingPlan {
    /// The free order, under BBR, for packets of at most this length.
    pub fn free(longest_bytes: u32) -> Self {
        let sender = SenderOptions {
            order: Order::Free,
            control: Some(ControlPlan::default()),
            ..SenderOptions::default()
        };
        let receiver = ReceiverOptions {
            order: Order::Free,
            guaranteed: Some(Guarantee::default()),
            // 50 ms at 10 Gbit/s and 1,000 bytes a packet; 1.5 MB of places a channel.
            buffer_packets_max: 65_536,
            reports: Some(ReportPlan::default()),
            ..ReceiverOptions::default()
        };
        Self { longest_bytes, sender, receiver }
    }

    /// The strict order, with quanta that follow the rates that BBR finds.
    pub fn strict(longest_bytes: u32) -> Self {
        let mut plan = Self::free(longest_bytes);
        (plan.sender.order, plan.receiver.order) = (Order::Strict, Order::Strict);
        plan.sender.shares = Some(SharePlan::default());
        plan
    }

    /// The order of the paper, by markers alone: packets are untouched, quanta are told, and credits
    /// go on markers (Adiseshu et al. 1996, sections 5 and 6.3). Markers go at the beginning of every
    /// sixteenth round.
    pub fn quasi_fifo(longest_bytes: u32) -> Self {
        let mut sender = SenderOptions { credits: true, ..SenderOptions::default() };
        // Four rounds, as there are otherwise, are six packets and two markers of 80 bytes each on
        // the way: two in a hundred of two links of 10 and 20 Mbit/s.
        sender.markers.every_rounds = 16;
        let receiver =
            ReceiverOptions { reports: Some(ReportPlan::default()), ..ReceiverOptions::default() };
        Self { longest_bytes, sender, receiver }
    }

    /// Whether a tag is before each packet.
    pub(crate) const fn has_tags(&self) -> bool {
        self.receiver.guaranteed.is_some()
    }

    /// Lost packets are sent again.
    #[must_use]
    pub fn repaired(mut self) -> Self {
        self.sender.repair = Some(RepairPlan::default());
        if let Some(guarantee) = &mut self.receiver.guaranteed {
            guarantee.repair = Some(RepairRequests::default());
        }
        self
    }
}

/// A message that is to go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub(crate) channel: usize,
    pub(crate) message: Message,
    pub(crate) is_to_receiver: bool,
    /// It is padded to this length.
    pub(crate) bytes_min: usize,
}

/// Both ends of the protocol.
#[derive(Debug)]
pub(crate) struct Striping {
    sender: Sender<Scheduler>,
    receiver: Receiver<Scheduler, Packet>,
    /// What copies are made of, where lost packets are sent again.
    kept: Option<RetransmissionBuffer<Vec<u8>>>,
    /// Buffers of packets that have been given out.
    spare: Vec<Vec<u8>>,
    /// The longest packet as a source has it.
    longest_bytes: usize,
    has_tags: bool,
    now: Instant,
}

impl Striping {
    /// Both ends, which begin with this scheduler; so many bytes may stand before a packet that are
    /// not charged.
    pub(crate) fn new(
        plan: &StripingPlan,
        scheduler: Scheduler,
        prefix_bytes: usize,
        epoch: Epoch,
        now: Instant,
    ) -> Result<Self, OpenError> {
        let channels = scheduler.channels();
        let kept =
            plan.sender.repair.map(|repair| RetransmissionBuffer::new(repair.packets * channels));
        Ok(Self {
            sender: Sender::new(scheduler.clone(), plan.sender, epoch, now)?,
            receiver: Receiver::new(scheduler, plan.receiver)?,
            kept,
            spare: Vec::new(),
            longest_bytes: prefix_bytes + plan.longest_bytes as usize,
            has_tags: plan.has_tags(),
            now,
        })
    }

    /// The time that was told last.
    pub(crate) const fn now(&self) -> Instant {
        self.now
    }

    /// It is so late at least.
    pub(crate) fn advance(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.now
    }

    /// A frame has come.
    pub(crate) fn take(&mut self, at: Instant, channel: usize, frame: Frame<'_>) {
        let now = self.advance(at);
        // What an end does not use it counts.
        let _: Result<(), Discard> = match frame {
            Frame::Data(tag, bytes) => {
                let length_bytes = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                // What is too long is refused by its length; no buffer grows for it.
                let within = &bytes[..bytes.len().min(self.longest_bytes)];
                let packet = Packet { bytes: self.copy(within), came_at: at };
                self.receiver.handle_tagged(now, tag, length_bytes, packet)
            }
            Frame::Packet { length_bytes, packet } => {
                let length_bytes = u32::try_from(length_bytes).unwrap_or(u32::MAX);
                let within = &packet[..packet.len().min(self.longest_bytes)];
                let packet = Packet { bytes: self.copy(within), came_at: at };
                self.receiver.handle_packet(now, channel, length_bytes, packet)
            }
            Frame::ToReceiver(bytes) => self.receiver.handle_bytes(now, channel, bytes),
            Frame::ToSender(bytes) => self.sender.handle_bytes(now, channel, bytes),
        };
    }

    fn copy(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut copy = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(self.longest_bytes));
        copy.clear();
        copy.extend_from_slice(bytes);
        copy
    }

    /// A buffer is free again.
    pub(crate) fn recycle(&mut self, bytes: Vec<u8>) {
        self.spare.push(bytes);
    }

    /// The next packet in the order of the other end.
    pub(crate) fn next_packet(&mut self) -> Option<Packet> {
        self.receiver.poll_packet(self.now)
    }

    /// The next message of either end.
    pub(crate) fn next_message(&mut self) -> Option<Said> {
        if let Some((channel, message)) = self.receiver.poll_message(self.now) {
            return Some(Said { channel, message, is_to_receiver: false, bytes_min: 0 });
        }
        let (channel, message) = self.sender.poll_message(self.now)?;
        let bytes_min = self.sender.padded_bytes(channel);
        Some(Said { channel, message, is_to_receiver: true, bytes_min })
    }

    /// The next copy of a lost packet, and the packet.
    pub(crate) fn next_copy(&mut self) -> Option<(Repair, &[u8])> {
        let kept = self.kept.as_ref()?;
        loop {
            let repair = self.sender.poll_repair(self.now)?;
            if let Some(bytes) = kept.get(repair.tag.sequence) {
                return Some((repair, bytes));
            }
        }
    }

    /// Where packets may go next, and how many. Where it is nowhere, there may be a message that is
    /// to go first.
    pub(crate) fn next_run(&mut self) -> Option<Transmit> {
        self.sender.poll_transmit(self.now)
    }

    /// A packet goes: on which channel, and with which tag, where there are any.
    pub(crate) fn send(&mut self, length: usize) -> Result<(usize, Tag), SendError> {
        let length_bytes = u32::try_from(length).unwrap_or(u32::MAX);
        if self.has_tags {
            return self.sender.handle_tagged(self.now, length_bytes);
        }
        let channel = self.sender.handle_packet(self.now, length_bytes)?;
        Ok((channel, Tag::default()))
    }

    /// It is kept, in case that it is lost.
    pub(crate) fn keep(&mut self, tag: Tag, bytes: &[u8]) {
        if self.kept.is_some() {
            let copy = self.copy(bytes);
            let old = self.kept.as_mut().and_then(|kept| kept.keep(tag.sequence, copy));
            self.spare.extend(old);
        }
    }

    /// When something is to be done though nothing comes.
    pub(crate) fn poll_timeout(&self) -> Instant {
        let sender = self.sender.poll_timeout();
        self.receiver.poll_timeout().map_or(sender, |receiver| receiver.min(sender))
    }

    /// A channel has no socket any more: whether it is out.
    pub(crate) fn lose(&mut self, channel: usize) -> bool {
        self.sender.lose_channel(self.now, channel)
    }

    pub(crate) fn sending(&self) -> &Sending {
        self.sender.sending()
    }

    pub(crate) fn reception(&self) -> &Reception {
        self.receiver.reception()
    }

    pub(crate) fn is_open(&self) -> bool {
        self.sender.is_open()
    }

    /// Whether a channel takes packets of this end.
    pub(crate) fn is_in(&self, channel: usize) -> bool {
        self.sender.scheduler().standing(channel).is_in()
    }

    pub(crate) fn round_trip_least(&self) -> Option<Duration> {
        self.sender.round_trip_least()
    }

    pub(crate) fn flight(&self, channel: usize) -> Option<Flight> {
        self.sender.flight(channel)
    }
}
