//! Both ends under arbitrary sequences of operations: by users, by channels, and by attackers.
//!
//! ```text
//!   options, then operations, each a byte and its arguments, until the bytes are used up:
//!   send, arrive, lose, repeat, overtake, poll, pass time, change quanta, reset, restart, forged
//!   bytes, and channels that are added, removed and moved
//! ```
//!
//! Invariants asserted: nothing panics; polling ends; memory stays within its cap; as long as
//! channels only lose, no packet is delivered twice, and in guaranteed order numbers rise. Once
//! channels have been fault-free for a while, all packets sent arrive, in order.

use crate::wire::sealed;
use gingham_fairq::SurplusRoundRobin;
use gingham_stripe::{
    Charge, ControlPlan, Controlled, Epoch, Guarantee, Instant, Order, Receiver, ReceiverOptions,
    RepairPlan, RepairRequests, ReportPlan, Sender, SenderOptions, SharePlan, TAG_BYTES_MAX, Tag,
};
use std::collections::VecDeque;
use std::time::Duration;

const LONGEST_BYTES: u32 = 1_500;
const CHANNELS_MAX: usize = 5;
/// 16 of the longest packets for each channel and for copies.
const BUFFER_BYTES: u64 = 16 * 1_612 * (CHANNELS_MAX as u64 + 1);
/// Further frames are lost.
const FRAMES_MAX: usize = 64;
/// Bound on the messages at one instant.
const POLLS_MAX: usize = 10_000;

/// Time step without faults, the steps of the recovery, and those of the check.
const STEP: Duration = Duration::from_millis(10);
const RECOVERY_STEPS: u32 = 200;
const KIND_STEPS: u32 = 30;

type Scheduler = SurplusRoundRobin<CHANNELS_MAX>;

#[derive(Clone, Debug)]
enum Frame {
    Packet { number: u32, length_bytes: u32, tag: Option<Tag> },
    Message(Vec<u8>),
}

/// Bytes that determine the operations; zeros follow.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit
    }

    fn word(&mut self) -> u32 {
        u32::from_be_bytes([0; 4].map(|_: u8| self.byte()))
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken.to_vec()
    }
}

struct World {
    scheduler: Scheduler,
    sender_options: SenderOptions,
    receiver_options: ReceiverOptions,
    sender: Sender<Scheduler>,
    receiver: Receiver<Scheduler, u32>,
    there: Vec<VecDeque<Frame>>,
    back: Vec<VecDeque<Vec<u8>>>,
    now: Instant,
    sent: u32,
    /// Sequence numbers start anew in the present epoch.
    before: u32,
    /// Whether channels have only lost frames, and neither end has restarted.
    honest: bool,
    given: Vec<u32>,
}

pub(crate) fn run(data: &[u8]) {
    let mut script = Script(data);
    let mut world = World::new(&mut script);
    while !script.0.is_empty() {
        world.step(&mut script);
        world.check();
    }
    world.poll_all();
    world.check();
    world.recovers();
}

/// A fixed rate is at least a megabyte per second.
fn controlled(drawn: u8) -> Controlled {
    match drawn % 4 {
        0 | 1 => Controlled::default(),
        2 => Controlled::Cubic,
        _ => Controlled::FixedRate(1_000_000 << (drawn / 4)),
    }
}

impl World {
    fn new(script: &mut Script<'_>) -> Self {
        let (options, channels) = (script.byte(), 1 + script.below(CHANNELS_MAX));
        let is = |bit: u8| options & (1 << bit) != 0;
        let quanta: Vec<u32> =
            (0..channels).map(|_| LONGEST_BYTES + 10 * u32::from(script.byte())).collect();
        let scheduler =
            Scheduler::new(LONGEST_BYTES, &quanta).expect("quanta that are long enough");
        let drawn = if is(0) && is(6) { script.byte() } else { 1 };
        let by = controlled(drawn / 2);
        let control = is(0).then(|| ControlPlan { by, ..ControlPlan::default() });
        let order = if drawn.is_multiple_of(2) { Order::Free } else { Order::Strict };
        let sender_options = SenderOptions {
            credits: is(1).then(Charge::default),
            order,
            shares: control.and(is(2).then(SharePlan::default)),
            repair: is(3).then(RepairPlan::default),
            control,
            ..SenderOptions::default()
        };
        let repair = is(4).then(RepairRequests::default);
        let receiver_options = ReceiverOptions {
            buffer_bytes_max: BUFFER_BYTES,
            reports: is(5).then(ReportPlan::default),
            order,
            guaranteed: is(6).then_some(Guarantee { repair }),
            ..ReceiverOptions::default()
        };
        let (epoch, now) = (Epoch::new(u32::from(is(7)) * (u32::MAX - 1)), Instant::ORIGIN);
        let sender = Sender::new(scheduler.clone(), sender_options, epoch, now);
        Self {
            sender: sender.expect("options that make sense"),
            receiver: Receiver::new(scheduler.clone(), receiver_options)
                .expect("options that make sense"),
            there: vec![VecDeque::new(); channels],
            back: vec![VecDeque::new(); channels],
            scheduler,
            sender_options,
            receiver_options,
            now,
            sent: 0,
            before: 0,
            honest: true,
            given: Vec::new(),
        }
    }

    fn step(&mut self, script: &mut Script<'_>) {
        let operation = script.byte();
        let channel = script.below(self.there.len());
        match operation % 32 {
            _ if operation >= 0xf0 => self.change_slots(script, channel),
            0..=7 => self.send(1 + script.word() % LONGEST_BYTES),
            8..=13 => self.arrive(channel),
            14 => drop(self.there[channel].pop_front()),
            15 => drop(self.back[channel].pop_front()),
            16..=18 => self.poll_all(),
            19 | 20 => self.come_back(channel),
            21 => self.pass(Duration::from_micros(script.word().into())),
            22 => self.pass(Duration::from_millis(script.byte().into())),
            23 => self.everything_arrives(),
            24 => self.change_quanta(script),
            25 => self.sender.reset(self.now),
            26 => self.start_anew(script),
            27 => self.message_from_nowhere(script, channel),
            28 => self.packet_from_nowhere(script, channel),
            29 => self.repeat(channel),
            30 => self.overtake(channel),
            _ => self.damage(script, channel),
        }
    }

    fn send(&mut self, length_bytes: u32) {
        let sent = if self.receiver_options.guaranteed.is_some() {
            self.sender.handle_tagged(self.now, length_bytes).map(|(to, tag)| (to, Some(tag)))
        } else {
            self.sender.handle_packet(self.now, length_bytes).map(|to| (to, None))
        };
        let Ok((channel, tag)) = sent else { return };
        self.before = tag.map_or(0, |tag| self.sent - tag.sequence);
        self.put(channel, Frame::Packet { number: self.sent, length_bytes, tag });
        self.sent += 1;
    }

    fn put(&mut self, channel: usize, frame: Frame) {
        if self.there[channel].len() < FRAMES_MAX {
            self.there[channel].push_back(frame);
        }
    }

    fn arrive(&mut self, channel: usize) {
        let Some(frame) = self.there[channel].pop_front() else { return };
        // The receiver counts refusals.
        let _ = match frame {
            Frame::Message(bytes) => self.receiver.handle_bytes(self.now, channel, &bytes),
            Frame::Packet { number, length_bytes, tag: Some(tag) } => {
                self.receiver.handle_tagged(self.now, tag, length_bytes, number)
            }
            Frame::Packet { number, length_bytes, tag: None } => {
                self.receiver.handle_packet(self.now, channel, length_bytes, number)
            }
        };
    }

    fn come_back(&mut self, channel: usize) {
        let Some(bytes) = self.back[channel].pop_front() else { return };
        let _ = self.sender.handle_bytes(self.now, channel, &bytes);
    }

    fn everything_arrives(&mut self) {
        for channel in 0..self.there.len() {
            while !self.there[channel].is_empty() {
                self.arrive(channel);
            }
            while !self.back[channel].is_empty() {
                self.come_back(channel);
            }
        }
        self.poll_all();
    }

    /// Afterwards nothing is due.
    fn poll_all(&mut self) {
        let mut polls = 0;
        let mut count = || {
            polls += 1;
            assert!(polls < POLLS_MAX, "polling comes to an end");
        };
        while let Some((channel, message)) = self.sender.poll_message(self.now) {
            count();
            let frame = Frame::Message(message.to_bytes().to_vec());
            if self.there[channel].len() < FRAMES_MAX {
                self.there[channel].push_back(frame);
            }
        }
        while let Some(repair) = self.sender.poll_repair(self.now) {
            count();
            let (length_bytes, tag) = (repair.length_bytes, Some(repair.tag));
            let number = self.before + repair.tag.sequence;
            if self.there[repair.channel].len() < FRAMES_MAX {
                self.there[repair.channel].push_back(Frame::Packet { number, length_bytes, tag });
            }
        }
        while let Some(number) = self.receiver.poll_packet(self.now) {
            count();
            self.given.push(number);
        }
        while let Some((channel, message)) = self.receiver.poll_message(self.now) {
            count();
            if self.back[channel].len() < FRAMES_MAX {
                self.back[channel].push_back(message.to_bytes().to_vec());
            }
        }
        assert!(self.sender.poll_timeout() > self.now, "the sender is polled for nothing");
        let due = self.receiver.poll_timeout().is_some_and(|at| at <= self.now);
        assert!(!due, "the receiver is polled for nothing");
    }

    fn pass(&mut self, span: Duration) {
        self.now = self.now.after(span);
    }

    fn change_quanta(&mut self, script: &mut Script<'_>) {
        let channels = 0..self.there.len();
        let quanta: Vec<u32> = channels
            .map(|_| match script.byte() {
                0..=31 => 0,
                32..=39 => script.word(),
                size => LONGEST_BYTES + 10 * u32::from(size),
            })
            .collect();
        // Impossible quanta are refused, and change nothing.
        let _ = self.sender.change_quanta(&quanta);
    }

    /// Impossible operations are refused.
    fn change_slots(&mut self, script: &mut Script<'_>, channel: usize) {
        let id = if script.byte() == 0xff { self.there.len() + channel } else { channel };
        let is_there = self.sender.is_there(id);
        let (taken, right) = match script.byte() % 3 {
            0 => (self.sender.add_channel(self.now, id), !is_there && id == channel),
            1 => (self.sender.remove_channel(self.now, id), is_there),
            _ => (self.sender.move_channel(self.now, id), is_there),
        };
        assert!(taken.is_err() || right, "channel {id}");
        let some_is_there = (0..self.there.len()).any(|id| self.sender.is_there(id));
        assert!(some_is_there, "the last was removed");
    }

    fn start_anew(&mut self, script: &mut Script<'_>) {
        self.honest = false;
        let checked = "options that were taken before";
        if script.byte() & 1 == 0 {
            let epoch = Epoch::new(self.sender.epoch().get().wrapping_add(script.word() % 3));
            let sender = Sender::new(self.scheduler.clone(), self.sender_options, epoch, self.now);
            self.sender = sender.expect(checked);
        } else {
            let receiver = Receiver::new(self.scheduler.clone(), self.receiver_options);
            self.receiver = receiver.expect(checked);
        }
    }

    /// Half of the time with a valid checksum.
    fn message_from_nowhere(&mut self, script: &mut Script<'_>, channel: usize) {
        self.honest = false;
        let how = script.byte();
        let mut bytes = script.bytes(64);
        if bytes.len() >= 12 {
            // A message that is nearly valid is a stronger test.
            bytes[4] = u8::try_from(channel).expect("at most 5");
            bytes[5] = u8::try_from(self.there.len()).expect("at most 5");
            if how & 2 != 0 {
                bytes[8..12].copy_from_slice(&self.sender.epoch().get().to_be_bytes());
            }
        }
        let body_bytes =
            [4, 52, 4, 0, 0, 16, 16, 60, 12][usize::from(bytes.get(3).map_or(0, |kind| kind % 9))];
        if let Some(sealed) = sealed(&bytes, body_bytes).filter(|_| how & 4 != 0) {
            bytes = sealed;
        }
        let _ = match how & 1 {
            0 => self.receiver.handle_bytes(self.now, channel, &bytes),
            _ => self.sender.handle_bytes(self.now, channel, &bytes),
        };
    }

    fn packet_from_nowhere(&mut self, script: &mut Script<'_>, channel: usize) {
        self.honest = false;
        let (length_bytes, number) = (script.word() % 2_000, u32::MAX);
        let mut bytes = script.bytes(TAG_BYTES_MAX);
        if let [first, named, ..] = &mut bytes[..] {
            // A tag that is nearly valid is a stronger test.
            (*first, *named) = (0x40 | *first & 1, u8::try_from(channel).expect("at most 5"));
        }
        let _ = match Tag::parse(&bytes) {
            Ok((tag, _)) if length_bytes % 2 == 0 => {
                self.receiver.handle_tagged(self.now, tag, length_bytes, number)
            }
            _ => self.receiver.handle_packet(
                self.now,
                channel + length_bytes as usize % 2,
                length_bytes,
                number,
            ),
        };
    }

    fn repeat(&mut self, channel: usize) {
        if let Some(frame) = self.there[channel].front().cloned() {
            self.honest = false;
            self.put(channel, frame);
        }
    }

    fn overtake(&mut self, channel: usize) {
        if let Some(frame) = self.there[channel].pop_front() {
            self.honest = false;
            self.there[channel].push_back(frame);
        }
    }

    fn damage(&mut self, script: &mut Script<'_>, channel: usize) {
        if let Some(Frame::Message(bytes)) = self.there[channel].front_mut() {
            let at = script.below(bytes.len());
            bytes[at] ^= script.byte();
        }
    }

    /// After a while order is exact, and no packet is missing.
    fn recovers(&mut self) {
        self.there.iter_mut().for_each(VecDeque::clear);
        self.back.iter_mut().for_each(VecDeque::clear);
        for _ in 0..RECOVERY_STEPS {
            self.kind_step(4);
        }
        self.given.clear();
        let first = self.sent;
        for _ in 0..KIND_STEPS {
            self.kind_step(4);
        }
        let last = self.sent;
        for _ in 0..KIND_STEPS {
            self.kind_step(0);
        }
        assert!(last - first >= KIND_STEPS, "packets are taken: {first} to {last}");
        let due: Vec<u32> = (first..last).collect();
        assert!(self.given == due, "all of {first}..{last}, in order: {:?}", self.given);
    }

    fn kind_step(&mut self, packets: u32) {
        self.pass(STEP);
        self.poll_all();
        for packet in 0..packets {
            self.send(1 + (self.sent * 389 + packet) % LONGEST_BYTES);
        }
        self.everything_arrives();
        self.everything_arrives();
    }

    fn check(&self) {
        assert!(self.receiver.held_bytes() <= BUFFER_BYTES, "the bound holds");
        if !self.honest {
            return;
        }
        if self.receiver_options.guaranteed.is_some() {
            assert!(self.given.is_sorted_by(|a, b| a < b), "later ones only: {:?}", self.given);
        } else {
            let mut given = self.given.clone();
            given.sort_unstable();
            assert!(given.is_sorted_by(|a, b| a < b), "nothing twice: {:?}", self.given);
        }
    }
}
