//! Both ends in virtual time, over channels that keep order, delay and lose.

use std::collections::VecDeque;
use std::time::Duration;

use gingham_fairq::{CHANNELS_MAX, SurplusRoundRobin};
use gingham_stripe::{
    Epoch, Instant, Message, Receiver, ReceiverOptions, RetransmissionBuffer, Sender,
    SenderOptions, Tag,
};

pub(crate) type Scheduler = SurplusRoundRobin<CHANNELS_MAX>;

pub(crate) const LONGEST_BYTES: u32 = 1_500;

#[derive(Clone, Debug)]
enum Frame {
    Packet { number: u32, length_bytes: u32, tag: Option<Tag> },
    Message(Vec<u8>),
}

/// Frames with their arrival times.
#[derive(Clone, Debug, Default)]
struct Link {
    delay: Duration,
    frames: VecDeque<(Instant, Frame)>,
}

impl Link {
    /// A frame arrives after the delay, and after those ahead of it.
    fn push(&mut self, now: Instant, frame: Frame) {
        let last = self.frames.back().map_or(Instant::ORIGIN, |(at, _)| *at);
        self.frames.push_back((now.after(self.delay).max(last), frame));
    }

    fn pop(&mut self, now: Instant) -> Option<Frame> {
        let due = self.frames.front().is_some_and(|(at, _)| *at <= now);
        due.then(|| self.frames.pop_front().expect("looked at").1)
    }
}

/// SplitMix64, identical everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Words(pub(crate) u64);

impl Words {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        u32::try_from(self.next() % u64::from(limit)).expect("less than the limit")
    }

    pub(crate) fn length_bytes(&mut self) -> u32 {
        1 + self.below(LONGEST_BYTES)
    }
}

/// Packets are numbered from 1.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) now: Instant,
    pub(crate) sender: Sender<Scheduler>,
    pub(crate) receiver: Receiver<Scheduler, u32>,
    there: Vec<Link>,
    back: Vec<Link>,
    /// Port of each channel at the receiver.
    pub(crate) wires: Vec<usize>,
    words: Words,
    /// Packets kept in guaranteed order.
    kept: Option<RetransmissionBuffer<u32>>,
    /// Loss of packets and messages.
    pub(crate) loss_percent: u32,
    /// In addition to `loss_percent`.
    pub(crate) back_loss_percent: u32,
    /// Channels that lose everything, in both directions.
    pub(crate) dead: u64,
    pub(crate) reads: bool,
    pub(crate) sent: u32,
    pub(crate) delivered: Vec<u32>,
    pub(crate) held_max: u64,
}

pub(crate) fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(crate) fn at(milliseconds: u64) -> Instant {
    Instant::from_nanoseconds(milliseconds * 1_000_000)
}

impl Pair {
    /// Both ends start in epoch 1 without a reset.
    pub(crate) fn new(
        scheduler: &Scheduler,
        delays: &[Duration],
        receiver: ReceiverOptions,
    ) -> Self {
        Self::with(scheduler, delays, SenderOptions::default(), receiver)
    }

    #[allow(clippy::large_types_passed_by_value, reason = "options are given once a test")]
    pub(crate) fn with(
        scheduler: &Scheduler,
        delays: &[Duration],
        sender: SenderOptions,
        receiver: ReceiverOptions,
    ) -> Self {
        let (epoch, now) = (Epoch::new(1), Instant::ORIGIN);
        let link = |&delay: &Duration| Link { delay, ..Link::default() };
        Self {
            now,
            sender: Sender::synchronised(scheduler.clone(), sender, epoch, now)
                .expect("options of a test"),
            receiver: Receiver::synchronised(scheduler.clone(), receiver, epoch)
                .expect("options of a test"),
            there: delays.iter().map(link).collect(),
            back: delays.iter().map(link).collect(),
            wires: (0..delays.len()).collect(),
            words: Words(7),
            kept: receiver.guaranteed.map(|_| RetransmissionBuffer::new(8_192)),
            loss_percent: 0,
            back_loss_percent: 0,
            dead: 0,
            reads: true,
            sent: 0,
            delivered: Vec::new(),
            held_max: 0,
        }
    }

    pub(crate) fn seeded(mut self, seed: u64) -> Self {
        self.words = Words(seed);
        self
    }

    fn is_lost(&mut self, channel: usize) -> bool {
        self.words.below(100) < self.loss_percent || self.dead & (1 << channel) != 0
    }

    pub(crate) fn next_channel(&mut self) -> Option<usize> {
        self.sender.poll_transmit(self.now).map(|run| run.channel)
    }

    /// Lost with the configured probability.
    pub(crate) fn send(&mut self, length_bytes: u32) {
        let channel = self.next_channel();
        let lost = channel.is_some_and(|channel| self.is_lost(channel));
        self.send_or_lose(length_bytes, lost);
    }

    pub(crate) fn send_or_lose(&mut self, length_bytes: u32, lost: bool) {
        self.poll_sender();
        if let Some((channel, tag)) = self.take(length_bytes) {
            self.sent += 1;
            assert!(self.sender.is_there(channel), "a packet on channel {channel}");
            if let (Some(kept), Some(tag)) = (&mut self.kept, tag) {
                kept.keep(tag.sequence, self.sent);
            }
            if !lost {
                let frame = Frame::Packet { number: self.sent, length_bytes, tag };
                self.there[channel].push(self.now, frame);
            }
        }
        self.poll_sender();
    }

    fn take(&mut self, length_bytes: u32) -> Option<(usize, Option<Tag>)> {
        if self.kept.is_some() {
            let (channel, tag) = self.sender.handle_tagged(self.now, length_bytes).ok()?;
            return Some((channel, Some(tag)));
        }
        Some((self.sender.handle_packet(self.now, length_bytes).ok()?, None))
    }

    fn repair(&mut self) {
        while let Some(repair) = self.sender.poll_repair(self.now) {
            let kept = self.kept.as_ref().and_then(|kept| kept.get(repair.tag.sequence));
            let Some(&number) = kept else { continue };
            assert!(self.sender.is_there(repair.channel), "{repair:?}");
            let (length_bytes, tag) = (repair.length_bytes, Some(repair.tag));
            let frame = Frame::Packet { number, length_bytes, tag };
            self.there[repair.channel].push(self.now, frame);
        }
    }

    /// Loses all frames in flight, in both directions.
    pub(crate) fn cut(&mut self, channel: usize) {
        self.there[channel].frames.clear();
        self.back[channel].frames.clear();
    }

    /// As if from the sender.
    pub(crate) fn inject(&mut self, channel: usize, message: Message) {
        self.there[channel].push(self.now, Frame::Message(message.to_bytes().to_vec()));
    }

    fn poll_sender(&mut self) {
        while let Some((channel, message)) = self.sender.poll_message(self.now) {
            assert!(self.sender.is_there(channel), "{message:?} on channel {channel}");
            if !self.is_lost(channel) {
                self.inject(channel, message);
            }
        }
        self.repair();
    }

    pub(crate) fn run_to(&mut self, end: Instant) {
        let mut steps_at_once = 0;
        loop {
            self.step();
            let links = self.there.iter().chain(&self.back);
            let arrivals = links.filter_map(|link| Some(link.frames.front()?.0));
            // A paused reader ignores the receiver's timeout.
            let receiver = self.receiver.poll_timeout().filter(|_| self.reads);
            let timers = [Some(self.sender.poll_timeout()), receiver];
            let next = arrivals.chain(timers.into_iter().flatten()).min();
            match next {
                Some(next) if next <= end => {
                    // Without delay, a step may lead to another at the same time, but not
                    // indefinitely.
                    steps_at_once = if next <= self.now { steps_at_once + 1 } else { 0 };
                    assert!(steps_at_once < 10, "something is left undone at {next:?}");
                    self.now = next.max(self.now);
                }
                _ => break,
            }
        }
        self.now = end;
        self.step();
    }

    pub(crate) fn run_for(&mut self, span: Duration) {
        self.run_to(self.now.after(span));
    }

    fn step(&mut self) {
        self.poll_sender();
        for channel in 0..self.there.len() {
            while let Some(frame) = self.there[channel].pop(self.now) {
                self.receive(channel, frame);
            }
        }
        while self.reads
            && let Some(packet) = self.receiver.poll_packet(self.now)
        {
            self.delivered.push(packet);
        }
        while let Some((wire, message)) = self.receiver.poll_message(self.now) {
            let channel = self.wires.iter().position(|other| *other == wire).expect("a wire");
            let lost_back = self.words.below(100) < self.back_loss_percent;
            if !self.is_lost(channel) && !lost_back {
                let frame = Frame::Message(message.to_bytes().to_vec());
                self.back[channel].push(self.now, frame);
            }
        }
        for channel in 0..self.back.len() {
            while let Some(Frame::Message(bytes)) = self.back[channel].pop(self.now) {
                // The end counts refusals; tests check the counts.
                let _ = self.sender.handle_bytes(self.now, channel, &bytes);
            }
        }
        self.poll_sender();
    }

    fn receive(&mut self, channel: usize, frame: Frame) {
        let wire = self.wires[channel];
        let _ = match frame {
            Frame::Packet { number, length_bytes, tag: None } => {
                self.receiver.handle_packet(self.now, wire, length_bytes, number)
            }
            Frame::Packet { number, length_bytes, tag: Some(tag) } => {
                self.receiver.handle_tagged(self.now, tag, length_bytes, number)
            }
            Frame::Message(bytes) => self.receiver.handle_bytes(self.now, wire, &bytes),
        };
        self.held_max = self.held_max.max(self.receiver.held_bytes());
    }

    /// In the order of delivery.
    pub(crate) fn delivered_after(&self, number: u32) -> Vec<u32> {
        self.delivered.iter().copied().filter(|packet| *packet > number).collect()
    }

    pub(crate) fn is_without_repetition(&self) -> bool {
        let mut seen = vec![false; self.sent as usize + 1];
        self.delivered.iter().all(|packet| !std::mem::replace(&mut seen[*packet as usize], true))
    }
}
