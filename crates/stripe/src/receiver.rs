//! The receiving end: logical reception, markers, waiting, epochs.
//!
//! The scheduler says which channel the next packet comes on. If its buffer is empty, the receiver
//! waits, while others fill, until one of these proves that there is nothing to wait for:
//!
//! ```text
//!   a packet on the channel        it is the next
//!   a marker ahead of the round    the channel has lost packets: skipped until the round is there
//!   a packet elsewhere has been    passed over, and at once from then on while it stays silent
//!   first for longer than the wait
//! ```
//!
//! A marker is read when it comes to the head of its buffer. One for a turn that is over cannot come
//! of loss: it is taken, the channel served until it has caught up, the round never goes back; after
//! a few in a row on a channel the receiver asks for a reset. One too far off is not taken, and asks
//! at once.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 4 and 5. The wait, what is done with late
//! and far markers, and epochs are ours: the paper waits for ever and leaves resets open.
//!
//! Invariants: packets of a channel are given out in the order in which they came, each once; no
//! buffer holds more than its bound; a packet is first in its buffer for at most the wait, as long
//! as other channels do not overtake it, and they do for at most `far_rounds_max` rounds.

mod buffer;
mod epochs;

use core::time::Duration;

use gingham_fairq::{Number, Round};

use crate::{
    ChannelSet, Discard, Discards, Epoch, Instant, Kind, Message, Numbered, OptionsError,
    first_channels,
};
use buffer::Buffer;
use epochs::Epochs;

/// What the receiving end is told at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverOptions {
    /// The packets that the buffer of a channel holds.
    pub buffer_packets_max: usize,
    /// How long a packet waits for the channels before it: more than their skew and than the
    /// sender's marker interval.
    pub wait: Duration,
    /// After so many late markers in a row on one channel a reset is asked for.
    pub late_in_a_row_max: u32,
    /// A marker further from the round asks for a reset and is not taken.
    pub far_rounds_max: u32,
}

impl ReceiverOptions {
    /// The most rounds that a marker may be off: half of what serial numbers can tell.
    pub const FAR_ROUNDS_LIMIT: u32 = 1 << 30;

    fn check(&self) -> Result<(), OptionsError> {
        let zero = |option| Err(OptionsError::Zero { option });
        let (rounds, rounds_max) = (self.far_rounds_max, Self::FAR_ROUNDS_LIMIT);
        if self.buffer_packets_max == 0 {
            zero("buffer_packets_max")
        } else if self.wait.is_zero() {
            zero("wait")
        } else if self.late_in_a_row_max == 0 {
            zero("late_in_a_row_max")
        } else if rounds == 0 {
            zero("far_rounds_max")
        } else if rounds > rounds_max {
            Err(OptionsError::FarRounds { rounds, rounds_max })
        } else {
            Ok(())
        }
    }
}

impl Default for ReceiverOptions {
    /// 1,024 packets a channel, 200 ms, resets after 8 late markers or one 1,000,000 rounds off.
    fn default() -> Self {
        Self {
            buffer_packets_max: 1_024,
            wait: Duration::from_millis(200),
            late_in_a_row_max: 8,
            far_rounds_max: 1_000_000,
        }
    }
}

/// What the receiving end has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reception {
    /// Packets given out.
    pub packets: u64,
    /// Markers read.
    pub markers: u64,
    /// Markers that were ahead of what was expected: each proves a loss.
    pub ahead: u64,
    /// Markers of a turn that is over, which loss alone cannot make.
    pub late: u64,
    /// Turns of a channel passed over because it was silent for too long.
    pub passed: u64,
    /// Times that a channel was found silent for too long.
    pub silences: u64,
    /// Resets asked for.
    pub requests: u64,
    /// Epochs entered, the first included.
    pub epochs: u64,
    /// What came and was not used.
    pub discards: Discards,
}

/// The receiving end, of packets of any kind.
///
/// ```
/// use gingham_fairq::SurplusRoundRobin;
/// use gingham_stripe::{Epoch, Instant, Receiver, ReceiverOptions};
///
/// let now = Instant::ORIGIN;
/// let scheduler = SurplusRoundRobin::<2>::new(1_500, &[1_500, 1_500])?;
/// let mut receiver =
///     Receiver::synchronised(scheduler, ReceiverOptions::default(), Epoch::new(1))?;
/// receiver.handle_packet(now, 1, 1_500, "second")?;
/// assert_eq!(receiver.poll_packet(now), None);
/// receiver.handle_packet(now, 0, 1_500, "first")?;
/// assert_eq!(receiver.poll_packet(now), Some("first"));
/// assert_eq!(receiver.poll_packet(now), Some("second"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Receiver<S, P> {
    initial: S,
    scheduler: S,
    options: ReceiverOptions,
    buffers: Vec<Buffer<P>>,
    /// Channels that are passed over at once.
    silent: ChannelSet,
    /// For each channel.
    late_in_a_row: Vec<u32>,
    epochs: Epochs,
    reception: Reception,
}

impl<S: Numbered, P> Receiver<S, P> {
    /// An end that knows no epoch: it takes nothing before a reset.
    pub fn new(scheduler: S, options: ReceiverOptions) -> Result<Self, OptionsError> {
        options.check()?;
        let channels = scheduler.channels();
        let buffer = |_| Buffer::new(options.buffer_packets_max);
        Ok(Self {
            buffers: (0..channels).map(buffer).collect(),
            initial: scheduler.clone(),
            scheduler,
            options,
            silent: 0,
            late_in_a_row: vec![0; channels],
            epochs: Epochs::default(),
            reception: Reception::default(),
        })
    }

    /// An end that takes packets at once, of a sender that is known to have started in this epoch.
    pub fn synchronised(
        scheduler: S,
        options: ReceiverOptions,
        epoch: Epoch,
    ) -> Result<Self, OptionsError> {
        let mut receiver = Self::new(scheduler, options)?;
        receiver.epochs.enter(epoch, first_channels(receiver.buffers.len()));
        receiver.reception.epochs = 1;
        Ok(receiver)
    }

    /// The present epoch, if there has been a reset.
    pub const fn epoch(&self) -> Option<Epoch> {
        self.epochs.current()
    }

    /// The scheduler, to look at.
    pub const fn scheduler(&self) -> &S {
        &self.scheduler
    }

    /// Packets in the buffer of a channel.
    pub fn buffered_packets(&self, channel: usize) -> usize {
        self.buffers[channel].packets()
    }

    /// What has been counted.
    pub const fn reception(&self) -> &Reception {
        &self.reception
    }

    /// A packet has come on a channel.
    pub fn handle_packet(
        &mut self,
        now: Instant,
        channel: usize,
        length_bytes: u32,
        packet: P,
    ) -> Result<(), Discard> {
        let refused = self.refuse_packet(channel, length_bytes);
        self.reception.discards.count(refused)?;
        self.buffers[channel].push_packet(now, length_bytes, packet);
        self.heard(channel);
        Ok(())
    }

    /// A message of the sender has come on a channel.
    pub fn handle_message(&mut self, channel: usize, message: Message) -> Result<(), Discard> {
        let taken = message
            .check(channel, self.buffers.len())
            .and_then(|()| self.take_message(channel, message));
        self.reception.discards.count(taken)
    }

    /// The same from bytes.
    pub fn handle_bytes(&mut self, channel: usize, bytes: &[u8]) -> Result<(), Discard> {
        match Message::parse(bytes) {
            Ok(message) => self.handle_message(channel, message),
            Err(error) => self.reception.discards.count(Err(Discard::Malformed(error))),
        }
    }

    /// The next packet in the order of the sender.
    pub fn poll_packet(&mut self, now: Instant) -> Option<P> {
        loop {
            let channel = self.scheduler.current();
            let Some((length_bytes, packet, marker)) = self.buffers[channel].pop(now) else {
                self.pass_over(channel, now)?;
                continue;
            };
            self.scheduler.charge(length_bytes);
            self.reception.packets += 1;
            if let Some(number) = marker {
                self.read_marker(channel, number);
            }
            return Some(packet);
        }
    }

    /// When there will be a packet though nothing comes.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let since = self.buffers.iter().filter_map(Buffer::waiting_since).min()?;
        Some(since.after(self.options.wait))
    }

    /// The next message to the sender, and the channel on whose way back it goes.
    pub fn poll_message(&mut self) -> Option<(usize, Message)> {
        let (channel, epoch, kind) = self.epochs.poll()?;
        self.reception.requests += u64::from(kind == Kind::ResetRequested);
        Some((channel, Message::about(channel, self.buffers.len(), epoch, kind)))
    }

    fn refuse_packet(&self, channel: usize, length_bytes: u32) -> Result<(), Discard> {
        let buffer = self.buffers.get(channel).ok_or(Discard::NoSuchChannel)?;
        if length_bytes == 0 || length_bytes > self.scheduler.longest_bytes() {
            Err(Discard::BadLength)
        } else if !self.epochs.is_synchronised(channel) {
            Err(Discard::Unsynchronised)
        } else if buffer.packets() == self.options.buffer_packets_max {
            Err(Discard::BufferFull)
        } else {
            Ok(())
        }
    }

    fn take_message(&mut self, channel: usize, message: Message) -> Result<(), Discard> {
        let new = match message.kind {
            Kind::Marker(_) => self.epochs.see_marker(channel, message.epoch)?,
            Kind::Reset => self.epochs.see_reset(channel, message.epoch)?,
            Kind::Acknowledged | Kind::ResetRequested => return Err(Discard::OtherEnd),
        };
        if new {
            self.start_anew();
        }
        if let Kind::Marker(number) = message.kind {
            self.heard(channel);
            if self.buffers[channel].packets() == 0 {
                self.read_marker(channel, number);
            } else {
                self.buffers[channel].push_marker(number);
            }
        }
        Ok(())
    }

    fn heard(&mut self, channel: usize) {
        self.epochs.hear(channel);
        self.silent &= !(1 << channel);
    }

    /// A new epoch: all that waits is of an old one.
    fn start_anew(&mut self) {
        let waiting: usize = self.buffers.iter().map(Buffer::packets).sum();
        self.reception.discards.add(Discard::Reset, waiting as u64);
        self.reception.epochs += 1;
        self.buffers.iter_mut().for_each(Buffer::clear);
        self.scheduler = self.initial.clone();
        self.silent = 0;
        self.late_in_a_row.fill(0);
    }

    /// A marker has come to the head of a buffer.
    fn read_marker(&mut self, channel: usize, number: Number) {
        let ahead = number.round.ahead_of(self.scheduler.round());
        if ahead.unsigned_abs() > self.options.far_rounds_max {
            self.reception.discards.add(Discard::FarMarker, 1);
            self.epochs.request(channel);
            return;
        }
        let (expected, turn) = (self.scheduler.number(channel), self.scheduler.current());
        if self.scheduler.set_number(channel, number).is_err() {
            self.reception.discards.add(Discard::BadNumber, 1);
            return;
        }
        self.reception.markers += 1;
        let turn_is_over = ahead == 0 && channel < turn;
        if ahead < 0 || turn_is_over {
            self.count_late(channel);
        } else {
            self.late_in_a_row[channel] = 0;
            self.reception.ahead += u64::from(is_before(expected, number));
        }
    }

    fn count_late(&mut self, channel: usize) {
        self.reception.late += 1;
        self.late_in_a_row[channel] += 1;
        if self.late_in_a_row[channel] == self.options.late_in_a_row_max {
            self.late_in_a_row[channel] = 0;
            self.epochs.request(channel);
        }
    }

    /// Goes on from an empty buffer, if somebody has waited for it too long.
    fn pass_over(&mut self, channel: usize, now: Instant) -> Option<()> {
        let nearest = self.nearest_rounds()?;
        let bit = 1 << channel;
        if self.silent & bit == 0 {
            self.poll_timeout().filter(|timeout| *timeout <= now)?;
            self.silent |= bit;
            self.reception.silences += 1;
        }
        self.reception.passed += 1;
        let round = self.scheduler.round().plus(nearest);
        self.skip_to(channel, round);
        Some(())
    }

    /// How many rounds on, at least one, the first packet that waits is.
    fn nearest_rounds(&self) -> Option<u32> {
        let round = self.scheduler.round();
        let waits = |(_, buffer): &(usize, &Buffer<P>)| buffer.packets() > 0;
        let ahead = |(channel, _)| self.scheduler.number(channel).round.ahead_of(round).max(1);
        let nearest = self.buffers.iter().enumerate().filter(waits).map(ahead).min()?;
        Some(nearest.unsigned_abs())
    }

    /// The channel is taken to have lost what it had before that round, and no more: if that is so,
    /// what it is believed to have sent stays at most what it has sent, as under loss alone.
    fn skip_to(&mut self, channel: usize, round: Round) {
        let mut skip = |deficit_bytes| {
            let least = Number { round, deficit_bytes };
            self.scheduler.set_number(channel, least).expect("between 1 and the quantum");
            self.scheduler.quantum(channel)
        };
        let quantum = skip(1);
        skip(quantum);
    }
}

/// Of two numbers of a channel, whether the first comes before the second.
fn is_before(first: Number, second: Number) -> bool {
    second.round.is_after(first.round)
        || (first.round == second.round && first.deficit_bytes > second.deficit_bytes)
}
