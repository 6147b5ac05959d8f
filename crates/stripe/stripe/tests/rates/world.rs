//! Both ends over emulated channels in virtual time, and a source.

use std::time::Duration;

use gingham_fairq::SurplusRoundRobin;
use gingham_kernel::{EventQueue, Rate, Span, Time};
use gingham_linkemu::{Channel, Loss, Parameters, Probability};
use gingham_stripe::{
    BbrPlan, Charge, Class, ControlPlan, Controlled, Epoch, Guarantee, Instant, Order, Receiver,
    ReceiverOptions, RepairPlan, RepairRequests, ReportPlan, RetransmissionBuffer, Sender,
    SenderOptions, SharePlan, Tag,
};

type Scheduler = SurplusRoundRobin<16>;

pub(crate) const LONGEST_BYTES: u32 = 1_500;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) mbit: u64,
    pub(crate) delay_ms: u64,
    pub(crate) jitter_ms: u64,
    pub(crate) loss_per_mille: u32,
    pub(crate) queue_bytes: u64,
    /// Rate of the reverse direction.
    pub(crate) back_mbit: u64,
}

impl Line {
    pub(crate) const fn new(mbit: u64, delay_ms: u64) -> Self {
        Self {
            mbit,
            delay_ms,
            jitter_ms: 0,
            loss_per_mille: 0,
            queue_bytes: 256_000,
            back_mbit: mbit,
        }
    }

    fn channel(&self, mbit: u64, seed: u64, name: &str) -> Channel {
        let milliseconds = |count: u64| Span::from_ns(count * 1_000_000);
        let clean = Parameters::clean(rate(mbit), self.queue_bytes, milliseconds(self.delay_ms));
        let loss = loss(self.loss_per_mille);
        let parameters = Parameters { jitter: milliseconds(self.jitter_ms), loss, ..clean };
        Channel::new(parameters, seed, name).expect("a channel")
    }
}

fn loss(per_mille: u32) -> Loss {
    let loss = Probability::new(f64::from(per_mille) / 1_000.0).expect("a probability");
    if loss.is_possible() { Loss::Independent(loss) } else { Loss::None }
}

fn rate(mbit: u64) -> Rate {
    Rate::from_bytes_per_second(mbit * 125_000)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    Backlogged,
    /// Bytes per millisecond.
    Paced(u64),
    /// Bytes in a burst, every 20 ms.
    Bursts(u64),
    Silent,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Packet {
        channel: usize,
        tag: Option<Tag>,
        packet: Packet,
    },
    ToReceiver {
        channel: usize,
        bytes: Vec<u8>,
    },
    ToSender {
        channel: usize,
        bytes: Vec<u8>,
    },
    Source(Source),
    Tick,
    Rate {
        channel: usize,
        mbit: u64,
    },
    Loss {
        channel: usize,
        per_mille: u32,
    },
    /// From now on frames of this length or longer are lost on a channel; at length 0, in the
    /// reverse direction too.
    Block {
        channel: usize,
        from_bytes: usize,
    },
}

/// Length above that of any frame.
pub(crate) const NOTHING: usize = usize::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Packet {
    number: u64,
    length_bytes: u32,
    sent_ns: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    pub(crate) at_ns: u64,
    pub(crate) number: u64,
    length_bytes: u32,
    pub(crate) delay_ns: u64,
}

pub(crate) struct World {
    now_ns: u64,
    /// Those of one time occur in the order of scheduling.
    events: EventQueue<(u64, Event)>,
    scheduled: u64,
    pub(crate) sender: Sender<Scheduler>,
    pub(crate) receiver: Receiver<Scheduler, Packet>,
    tagged: bool,
    pub(crate) there: Vec<Channel>,
    back: Vec<Channel>,
    /// Length from which each channel loses all frames.
    blocked_from: Vec<usize>,
    /// Packets kept for repair.
    kept: Option<RetransmissionBuffer<Packet>>,
    source: Source,
    allowed_bytes: u64,
    lengths: fn(u64) -> u32,
    /// Class of a packet by its number.
    pub(crate) classes: fn(u64) -> Class,
    /// Whether the source limits packets to the length that all channels pass.
    pub(crate) follows_size: bool,
    number: u64,
    pub(crate) deliveries: Vec<Delivery>,
}

/// Quanta follow rates, and packets have no overhead.
pub(crate) fn strict() -> (SenderOptions, ReceiverOptions) {
    let sender = SenderOptions {
        credits: Some(Charge::default()),
        control: Some(ControlPlan::default()),
        shares: Some(SharePlan::default()),
        ..SenderOptions::default()
    };
    let receiver =
        ReceiverOptions { reports: Some(ReportPlan::default()), ..ReceiverOptions::default() };
    (sender, receiver)
}

pub(crate) fn free(seed: u64) -> (SenderOptions, ReceiverOptions) {
    free_with(|bbr| bbr.seed = 100 * seed)
}

pub(crate) fn free_with(change: impl FnOnce(&mut BbrPlan)) -> (SenderOptions, ReceiverOptions) {
    let mut control = ControlPlan::default();
    if let Controlled::Bbr(bbr) = &mut control.by {
        change(bbr);
    }
    let sender =
        SenderOptions { order: Order::Free, control: Some(control), ..SenderOptions::default() };
    let receiver = ReceiverOptions {
        order: Order::Free,
        guaranteed: Some(Guarantee::default()),
        reports: Some(ReportPlan::default()),
        ..ReceiverOptions::default()
    };
    (sender, receiver)
}

pub(crate) fn repairing(seed: u64) -> (SenderOptions, ReceiverOptions) {
    let (sender, receiver) = free(seed);
    let repair = Some(RepairRequests::default());
    let sender = SenderOptions { repair: Some(RepairPlan::default()), ..sender };
    (sender, ReceiverOptions { guaranteed: Some(Guarantee { repair }), ..receiver })
}

/// For channels that die with much data in flight: the waits cover the detection, and the
/// retransmission over the slowest channel alone.
pub(crate) fn lasting(seed: u64) -> (SenderOptions, ReceiverOptions) {
    let (sender, receiver) = repairing(seed);
    let wait = Duration::from_millis(1_500);
    let repair = Some(RepairRequests { wait, ..RepairRequests::default() });
    let guaranteed = Some(Guarantee { repair });
    (sender, ReceiverOptions { guaranteed, wait: Duration::from_millis(800), ..receiver })
}

impl World {
    pub(crate) fn new(lines: &[Line]) -> Self {
        Self::with(lines, free(1), 1)
    }

    pub(crate) fn with(
        lines: &[Line],
        (sender, receiver): (SenderOptions, ReceiverOptions),
        seed: u64,
    ) -> Self {
        let quanta = vec![LONGEST_BYTES; lines.len()];
        let scheduler = Scheduler::new(LONGEST_BYTES, &quanta).expect("quanta");
        let channels = |way: &str, mbit: fn(&Line) -> u64| {
            let make = |(number, line): (usize, &Line)| {
                line.channel(mbit(line), seed, &format!("{way} {number}"))
            };
            lines.iter().enumerate().map(make).collect()
        };
        let epoch = Epoch::new(1);
        Self {
            now_ns: 0,
            events: EventQueue::new(),
            scheduled: 0,
            tagged: receiver.guaranteed.is_some(),
            sender: Sender::synchronised(scheduler.clone(), sender, epoch, Instant::ORIGIN)
                .expect("options"),
            receiver: Receiver::synchronised(scheduler, receiver, epoch).expect("options"),
            there: channels("there", |line| line.mbit),
            back: channels("back", |line| line.back_mbit),
            blocked_from: vec![NOTHING; lines.len()],
            kept: sender.repair.map(|plan| RetransmissionBuffer::new(plan.packets * lines.len())),
            source: Source::Backlogged,
            allowed_bytes: 0,
            lengths: |_| LONGEST_BYTES,
            classes: |_| Class::Spread,
            follows_size: false,
            number: 0,
            deliveries: Vec::new(),
        }
    }

    pub(crate) fn with_lengths(mut self, lengths: fn(u64) -> u32) -> Self {
        self.lengths = lengths;
        self
    }

    fn schedule(&mut self, at_ns: u64, event: Event) {
        self.scheduled += 1;
        self.events.schedule(Time::from_ps(at_ns * 1_000), (self.scheduled, event));
    }

    pub(crate) fn set_source(&mut self, at_ms: u64, source: Source) {
        self.schedule(at_ms * 1_000_000, Event::Source(source));
    }

    pub(crate) fn set_rate(&mut self, at_ms: u64, channel: usize, mbit: u64) {
        self.schedule(at_ms * 1_000_000, Event::Rate { channel, mbit });
    }

    /// In both directions.
    pub(crate) fn set_loss(&mut self, at_ms: u64, channel: usize, per_mille: u32) {
        self.schedule(at_ms * 1_000_000, Event::Loss { channel, per_mille });
    }

    /// Loses all frames of this length or longer.
    pub(crate) fn block(&mut self, at_ms: u64, channel: usize, from_bytes: usize) {
        let event = Event::Block { channel, from_bytes };
        if at_ms == 0 { self.handle(event) } else { self.schedule(at_ms * 1_000_000, event) }
    }

    const fn now(&self) -> Instant {
        Instant::from_nanoseconds(self.now_ns)
    }

    pub(crate) fn run_to(&mut self, milliseconds: u64) {
        let end_ns = milliseconds * 1_000_000;
        loop {
            self.pump();
            let event = self.events.next_time().map(|time| time.as_ps() / 1_000);
            let sender = Some(self.sender.poll_timeout().nanoseconds());
            let receiver = self.receiver.poll_timeout().map(Instant::nanoseconds);
            let next = [event, sender, receiver].into_iter().flatten().min().unwrap_or(end_ns);
            if next > end_ns {
                self.now_ns = end_ns;
                return;
            }
            self.now_ns = self.now_ns.max(next);
            if event == Some(next) {
                let (_, (_, event)) = self.events.pop().expect("looked at");
                self.handle(event);
            }
        }
    }

    fn handle(&mut self, event: Event) {
        let now = self.now();
        // The end counts refusals.
        match event {
            Event::Packet { tag: Some(tag), packet, .. } => {
                let length_bytes = packet.length_bytes;
                let _ = self.receiver.handle_tagged(now, tag, length_bytes, packet);
            }
            Event::Packet { channel, tag: None, packet } => {
                let _ = self.receiver.handle_packet(now, channel, packet.length_bytes, packet);
            }
            Event::ToReceiver { channel, bytes } => {
                let _ = self.receiver.handle_bytes(now, channel, &bytes);
            }
            Event::ToSender { channel, bytes } => {
                let _ = self.sender.handle_bytes(now, channel, &bytes);
            }
            Event::Source(source) => {
                self.source = source;
                self.allowed_bytes = 0;
                self.schedule(self.now_ns, Event::Tick);
            }
            Event::Tick => {
                let (bytes, after_ms) = match self.source {
                    Source::Paced(bytes) => (bytes, 1),
                    Source::Bursts(bytes) => (bytes, 20),
                    Source::Backlogged | Source::Silent => return,
                };
                self.allowed_bytes += bytes;
                self.schedule(self.now_ns + after_ms * 1_000_000, Event::Tick);
            }
            Event::Loss { channel, per_mille } => {
                self.there[channel].set_loss(loss(per_mille));
                self.back[channel].set_loss(loss(per_mille));
            }
            Event::Block { channel, from_bytes } => self.blocked_from[channel] = from_bytes,
            Event::Rate { channel, mbit } => {
                self.there[channel].set_rate(Time::from_ps(self.now_ns * 1_000), rate(mbit));
            }
        }
    }

    fn pump(&mut self) {
        while let Some(packet) = self.receiver.poll_packet(self.now()) {
            self.deliveries.push(Delivery {
                at_ns: self.now_ns,
                number: packet.number,
                length_bytes: packet.length_bytes,
                delay_ns: self.now_ns - packet.sent_ns,
            });
        }
        while let Some((channel, message)) = self.receiver.poll_message(self.now()) {
            let bytes = message.to_bytes().to_vec();
            if self.blocked_from[channel] > 0 {
                for at_ns in offer(&mut self.back[channel], self.now_ns, bytes.len()) {
                    self.schedule(at_ns, Event::ToSender { channel, bytes: bytes.clone() });
                }
            }
        }
        loop {
            while let Some((channel, message)) = self.sender.poll_message(self.now()) {
                let mut bytes = message.to_bytes().to_vec();
                bytes.resize(bytes.len().max(self.sender.padded_bytes(channel)), 0);
                for at_ns in self.offer(channel, bytes.len()) {
                    self.schedule(at_ns, Event::ToReceiver { channel, bytes: bytes.clone() });
                }
            }
            self.send_copies();
            if !self.send() {
                break;
            }
        }
    }

    /// Returns whether a packet was sent.
    fn send(&mut self) -> bool {
        let longest_bytes =
            if self.follows_size { self.sender.longest_bytes() } else { LONGEST_BYTES };
        let length_bytes = (self.lengths)(self.number).min(longest_bytes);
        let enough = match self.source {
            Source::Backlogged => true,
            Source::Paced(_) | Source::Bursts(_) => self.allowed_bytes >= u64::from(length_bytes),
            Source::Silent => false,
        };
        if !enough {
            return false;
        }
        let taken = if self.tagged {
            self.sender
                .handle_tagged_as(self.now(), length_bytes, (self.classes)(self.number))
                .map(|(channel, tag)| (channel, Some(tag)))
        } else {
            self.sender.handle_packet(self.now(), length_bytes).map(|channel| (channel, None))
        };
        let Ok((channel, tag)) = taken else { return false };
        self.allowed_bytes = self.allowed_bytes.saturating_sub(u64::from(length_bytes));
        let packet = Packet { number: self.number, length_bytes, sent_ns: self.now_ns };
        self.number += 1;
        let header_bytes = tag.map_or(0, |tag| tag.length());
        let length = usize::try_from(length_bytes).expect("a length") + header_bytes;
        if let (Some(kept), Some(tag)) = (&mut self.kept, tag) {
            kept.keep(tag.sequence, packet);
        }
        for at_ns in self.offer(channel, length) {
            self.schedule(at_ns, Event::Packet { channel, tag, packet });
        }
        true
    }

    fn send_copies(&mut self) {
        while let Some(repair) = self.sender.poll_repair(self.now()) {
            let kept = self.kept.as_ref().and_then(|kept| kept.get(repair.tag.sequence));
            let Some(&packet) = kept else { continue };
            let (channel, tag) = (repair.channel, Some(repair.tag));
            let length = usize::try_from(packet.length_bytes).expect("a length");
            let length = length + repair.tag.length();
            for at_ns in self.offer(channel, length) {
                self.schedule(at_ns, Event::Packet { channel, tag, packet });
            }
        }
    }

    /// Returns the arrival of a frame, if it arrives.
    fn offer(&mut self, channel: usize, length: usize) -> Vec<u64> {
        let arrivals = offer(&mut self.there[channel], self.now_ns, length);
        if length >= self.blocked_from[channel] { Vec::new() } else { arrivals }
    }

    fn between(&self, from_ms: u64, until_ms: u64) -> impl Iterator<Item = &Delivery> {
        let span = from_ms * 1_000_000..until_ms * 1_000_000;
        self.deliveries.iter().filter(move |delivery| span.contains(&delivery.at_ns))
    }

    pub(crate) fn delivered_bytes(&self, from_ms: u64, until_ms: u64) -> u64 {
        self.between(from_ms, until_ms).map(|delivery| u64::from(delivery.length_bytes)).sum()
    }

    pub(crate) fn delay_ns(&self, from_ms: u64, until_ms: u64, percent: usize) -> u64 {
        let mut delays: Vec<u64> =
            self.between(from_ms, until_ms).map(|delivery| delivery.delay_ns).collect();
        delays.sort_unstable();
        delays[(delays.len() - 1) * percent / 100]
    }

    /// Packets delivered after one with a higher number.
    pub(crate) fn out_of_order(&self) -> usize {
        let mut most = 0;
        self.deliveries
            .iter()
            .filter(|delivery| {
                let late = delivery.number < most;
                most = most.max(delivery.number);
                late
            })
            .count()
    }
}

/// Returns the arrival of a frame, if it arrives.
fn offer(channel: &mut Channel, now_ns: u64, length: usize) -> Vec<u64> {
    let length_bytes = u32::try_from(length).expect("a length");
    let fate = channel.offer(Time::from_ps(now_ns * 1_000), length_bytes);
    fate.arrivals().map(|arrival| arrival.at.as_ps().div_ceil(1_000)).collect()
}
