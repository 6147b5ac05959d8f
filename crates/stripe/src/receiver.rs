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
//! A marker is read when it comes to the head of its buffer. One for a turn that is over cannot
//! come of loss: it is taken, the channel served until it has caught up, the round never goes back;
//! after a few in a row on a channel the receiver asks for a reset. One too far off is not taken,
//! and asks at once.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 4 and 5. The wait, what is done with late
//! and far markers, and epochs are ours: the paper waits for ever and leaves resets open.
//!
//! Invariants: packets of a channel are given out in the order in which they came, each once; all that
//! is held is at most its cap; a packet is first in its buffer for at most the wait, as long
//! as other channels do not overtake it, and they do for at most `far_rounds_max` rounds.

mod buffer;
mod check;
mod confirmed;
mod copies;
mod epochs;
mod evidence;
mod flush;
mod gaps;
mod numbering;
mod options;
mod pool;
mod presence;
mod reading;
mod replaced;
mod reports;
mod waiting;

use std::collections::VecDeque;

use crate::{
    ChannelSet, Discard, Epoch, Instant, Kind, Marker, Message, Numbered, OptionsError, WireError,
    first_channels,
};
pub use evidence::Guarantee;
pub use gaps::RepairRequests;
pub use options::{ReceiverOptions, Reception};
pub(crate) use reports::REPORT_PAUSE;
pub use reports::ReportPlan;

use buffer::Buffer;
use epochs::{Age, Epochs};
use evidence::Confirmed;
use numbering::Numbering;
use pool::Pool;
use presence::Presence;
use reports::Reports;

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
    numbering: Numbering,
    buffers: Vec<Buffer<P>>,
    /// What waited when an epoch ended.
    flushed: VecDeque<P>,
    /// How much of what came may wait.
    pool: Pool,
    /// Channels that are passed over at once.
    silent: ChannelSet,
    /// For each channel.
    late_in_a_row: Vec<u32>,
    /// When the next audit is.
    audit_at: Instant,
    epochs: Epochs,
    presence: Presence,
    reports: Reports,
    /// In guaranteed order, what is known of sequence numbers.
    confirmed: Option<Confirmed<P>>,
    reception: Reception,
}

impl<S: Numbered, P> Receiver<S, P> {
    /// An end that knows no epoch: it takes nothing before a reset.
    pub fn new(scheduler: S, options: ReceiverOptions) -> Result<Self, OptionsError> {
        let channels = scheduler.channels();
        options.check(channels, scheduler.longest_bytes())?;
        let charge = options.charge;
        Ok(Self {
            numbering: Numbering::new(),
            buffers: (0..channels).map(|_| Buffer::new()).collect(),
            flushed: VecDeque::new(),
            pool: Pool::new(&options, scheduler.longest_bytes(), channels),
            initial: scheduler.clone(),
            scheduler,
            options,
            silent: 0,
            late_in_a_row: vec![0; channels],
            audit_at: Instant::ORIGIN,
            epochs: Epochs::default(),
            reports: Reports::new(channels, options.reports),
            presence: Presence::new(channels),
            confirmed: options
                .guaranteed
                .map(|guarantee| Confirmed::new(guarantee, charge, channels)),
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
        (0..receiver.buffers.len()).for_each(|channel| receiver.begin(channel));
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
        if let Ok(channel) = self.channel_of(channel) {
            self.reports.pass(channel, length_bytes);
        }
        let taken = self.refuse_packet(channel, length_bytes);
        let channel = self.reception.discards.count(taken)?;
        self.reports.count(now, channel, length_bytes);
        self.buffers[channel].push_packet(now, length_bytes, packet);
        self.heard(channel);
        Ok(())
    }

    /// A message of the sender has come on a channel.
    pub fn handle_message(
        &mut self,
        now: Instant,
        channel: usize,
        message: Message,
    ) -> Result<(), Discard> {
        self.audit(now, channel);
        let taken = self
            .adopt(channel, &message)
            .and_then(|channel| self.take_message(now, channel, message));
        self.reception.discards.count(taken)
    }

    /// The same from bytes.
    pub fn handle_bytes(
        &mut self,
        now: Instant,
        channel: usize,
        bytes: &[u8],
    ) -> Result<(), Discard> {
        match Message::parse(bytes) {
            Ok(message) => self.handle_message(now, channel, message),
            Err(error) => self.handle_malformed(error),
        }
    }

    /// Bytes have come that are no message.
    pub fn handle_malformed(&mut self, error: WireError) -> Result<(), Discard> {
        self.reception.discards.count(Err(Discard::Malformed(error)))
    }

    /// The next packet in the order of the sender.
    pub fn poll_packet(&mut self, now: Instant) -> Option<P> {
        if !self.flushed.is_empty() {
            return self.next_flushed();
        }
        let packet = self.next_packet(now);
        if packet.is_none() {
            self.pool.see_read(self.reception.packets);
        }
        packet
    }

    fn next_packet(&mut self, now: Instant) -> Option<P> {
        if self.confirmed.is_some() {
            return self.poll_confirmed(now);
        }
        loop {
            let channel = self.scheduler.current();
            let Some((length_bytes, packet, marker)) = self.buffers[channel].pop(now) else {
                self.pass_over(channel, now)?;
                continue;
            };
            self.scheduler.charge(length_bytes);
            self.reports.change(now, channel);
            self.reception.packets += 1;
            if let Some(standing) = marker {
                self.read_marker(channel, standing);
            }
            return Some(packet);
        }
    }

    /// When there will be a packet or a message though nothing comes.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let order = match self.confirmed {
            Some(_) => self.confirmed_timeout(),
            None => self.wait_is_over_at(),
        };
        // Without an epoch nothing is reported, whatever is due: nobody is to wait for it.
        let report = self.epochs.current().and_then(|_| self.reports.poll_timeout());
        order.into_iter().chain(report).min()
    }

    /// A report of a channel would go along with another's: it is due now where half of what makes
    /// it due is there.
    pub fn hasten_report(&mut self, now: Instant, port: usize) {
        if let Ok(channel) = self.channel_of(port) {
            self.reports.hasten(now, channel);
        }
    }

    /// The next message to the sender, and the channel on whose way back it goes.
    pub fn poll_message(&mut self, now: Instant) -> Option<(usize, Message)> {
        let said = self.epochs.poll().or_else(|| self.poll_left()).or_else(|| self.poll_nack(now));
        let (channel, epoch, kind) = said.or_else(|| self.poll_report(now))?;
        self.reception.requests += u64::from(kind == Kind::ResetRequested);
        let channel = channel.min(self.buffers.len() - 1);
        let message = Message::about(channel, self.buffers.len(), epoch, kind);
        Some((self.port_of(channel), message))
    }

    /// The next departure to acknowledge.
    fn poll_left(&mut self) -> Option<(usize, Epoch, Kind)> {
        let epoch = self.epochs.current()?;
        self.presence.next_acknowledged().map(|(channel, kind)| (channel, epoch, kind))
    }

    /// The next report that is due.
    fn poll_report(&mut self, now: Instant) -> Option<(usize, Epoch, Kind)> {
        let epoch = self.epochs.current()?;
        let channel = self.reports.next_due(now)?;
        let limit = self.limit(now, channel);
        Some((channel, epoch, Kind::Report(self.reports.report(channel, limit, now))))
    }

    /// The channel that a packet is taken on.
    fn refuse_packet(&self, port: usize, length_bytes: u32) -> Result<usize, Discard> {
        let channel = self.channel_of(port)?;
        if self.confirmed.is_some() {
            Err(Discard::OtherMode)
        } else if length_bytes == 0 || length_bytes > self.scheduler.longest_bytes() {
            Err(Discard::BadLength)
        } else if !self.epochs.is_synchronised(channel) {
            Err(Discard::Unsynchronised)
        } else if self.presence.is_out(channel) {
            Err(Discard::ChannelOut)
        } else if !self.pool.has_place(&self.buffers[channel])
            && !self.finds_room(channel, length_bytes, self.pool.charge().of(length_bytes))
        {
            Err(Discard::BufferFull)
        } else {
            Ok(channel)
        }
    }

    fn take_message(
        &mut self,
        now: Instant,
        channel: usize,
        message: Message,
    ) -> Result<(), Discard> {
        let known = self.epochs.is_synchronised(channel);
        if self.epochs.age(message.epoch) == Age::Later && message.kind.is_from_sender() {
            self.flush(now);
        }
        let new = match message.kind {
            Kind::Marker(_) | Kind::Left(_) => self.epochs.see_marker(channel, message.epoch)?,
            Kind::Reset { .. } => self.epochs.see_reset(channel, message.epoch)?,
            _ => return Err(Discard::OtherEnd),
        };
        if new {
            self.start_anew();
        }
        match message.kind {
            Kind::Marker(marker) => self.take_marker(now, channel, &marker),
            Kind::Left(departure) => self.take_left(now, channel, departure),
            Kind::Reset { quantum } => {
                if new || !known {
                    self.take_quantum(channel, quantum);
                }
                self.begin(channel);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn take_marker(
        &mut self,
        now: Instant,
        channel: usize,
        marker: &Marker,
    ) -> Result<(), Discard> {
        self.heard(channel);
        self.reports.see_marker(channel, now, marker);
        self.pool.see_marker(channel, marker.lowered);
        self.show_marker(now, channel, marker);
        self.see_presence(now, channel, &marker.standing)?;
        self.put_marker(channel, marker.standing);
        Ok(())
    }

    fn heard(&mut self, channel: usize) {
        self.epochs.hear(channel);
        self.silent &= !(1 << channel);
    }

    /// A new epoch.
    fn start_anew(&mut self) {
        self.reception.epochs += 1;
        self.scheduler = self.initial.clone();
        self.presence.restart();
        self.reports.restart();
        self.pool.restart();
        if let Some(confirmed) = &mut self.confirmed {
            confirmed.restart();
        }
        self.silent = 0;
        self.late_in_a_row.fill(0);
    }
}
