//! The receiving end: logical reception, markers, waiting, epochs.
//!
//! If the buffer of the next packet's channel is empty, the receiver waits for one of these events:
//!
//! ```text
//!   a packet on the channel      the packet is delivered next
//!   a marker ahead of the round  the channel has lost packets and is skipped until that round
//!   a packet on another channel  the channel is skipped, and from then on without a wait
//!   has waited for `wait`        while it stays silent
//! ```
//!
//! A marker is processed once it reaches the head of its buffer. A late marker, for a turn that is
//! over, cannot be caused by loss alone. It is still applied: the channel is served until it has
//! caught up, and the round never decreases. The receiver requests a reset after several late
//! markers in a row on a channel, or after a marker too far from the round, which is ignored.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 4 and 5. The bounded wait, the handling
//! of late and far markers, and epochs are ours.
//!
//! Invariants: packets of a channel are delivered in the order of arrival, each once. A packet at
//! the head of its buffer waits for at most `wait`, plus `far_rounds_max` rounds while packets of
//! other channels overtake it.

mod buffer;
mod confirmed;
mod copies;
mod epochs;
mod evidence;
mod gaps;
mod numbering;
mod options;
mod pool;
mod presence;
mod replaced;
mod reports;

#[cfg(test)]
use crate::corruption::{Corrupt, corrupt_some, is_hit};
use crate::{
    ChannelSet, Discard, Epoch, Instant, Kind, Marker, Message, Numbered, OptionsError, WireError,
    first_channels,
};
use buffer::Buffer;
use epochs::{Age, Epochs};
use evidence::Confirmed;
pub use evidence::Guarantee;
pub use gaps::RepairRequests;
use gingham_fairq::{Number, Standing};
use numbering::Numbering;
pub use options::{ReceiverOptions, Reception};
use pool::Pool;
use presence::Presence;
pub(crate) use reports::REPORT_PAUSE;
pub use reports::ReportPlan;
use reports::Reports;
use std::collections::VecDeque;

/// Receiving end of a pipe, generic over the packet type.
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
    flushed: VecDeque<P>,
    pool: Pool,
    silent: ChannelSet,
    late_in_a_row: Vec<u32>,
    audit_at: Instant,
    epochs: Epochs,
    presence: Presence,
    reports: Reports,
    confirmed: Option<Confirmed<P>>,
    reception: Reception,
}

impl<S: Numbered, P> Receiver<S, P> {
    /// Creates a receiver that accepts no packets before a reset.
    pub fn new(scheduler: S, options: ReceiverOptions) -> Result<Self, OptionsError> {
        let channels = scheduler.channels();
        options.check(channels, scheduler.longest_bytes())?;
        let charge = options.charge;
        Ok(Self {
            numbering: Numbering::new(channels),
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

    /// Creates a receiver for a sender that is known to have started in `epoch`.
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

    /// Returns the present epoch; `None` before the first.
    pub const fn epoch(&self) -> Option<Epoch> {
        self.epochs.current()
    }

    /// Returns the scheduler, which mirrors the sender's.
    pub const fn scheduler(&self) -> &S {
        &self.scheduler
    }

    /// Returns the number of packets buffered for a channel.
    pub fn buffered_packets(&self, channel: usize) -> usize {
        self.buffers[channel].packets()
    }

    /// Returns the reception counters.
    pub const fn reception(&self) -> &Reception {
        &self.reception
    }

    /// Handles a packet without a tag.
    pub fn handle_packet(
        &mut self,
        now: Instant,
        channel: usize,
        length_bytes: u32,
        packet: P,
    ) -> Result<(), Discard> {
        if let Ok(channel) = self.numbering.channel_of(channel) {
            self.reports.pass(channel, length_bytes);
        }
        let taken = self.refuse_packet(channel, length_bytes);
        let channel = self.reception.discards.count(taken)?;
        self.reports.count(now, channel, length_bytes);
        self.buffers[channel].push_packet(now, length_bytes, packet);
        self.note_received(channel);
        Ok(())
    }

    /// Handles a message from the sender.
    pub fn handle_message(
        &mut self,
        now: Instant,
        channel: usize,
        message: Message,
    ) -> Result<(), Discard> {
        self.audit(now, channel);
        let taken = match self.numbering.adopt(channel, &message, &mut self.epochs) {
            Ok(Some(channel)) => self.take_message(now, channel, message),
            Ok(None) => {
                self.start_over(channel);
                Err(Discard::OtherChannel)
            }
            Err(reason) => Err(reason),
        };
        self.reception.discards.count(taken)
    }

    /// Parses and handles a message from the sender.
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

    /// Counts a datagram that could not be parsed as a message.
    pub fn handle_malformed(&mut self, error: WireError) -> Result<(), Discard> {
        self.reception.discards.count(Err(Discard::Malformed(error)))
    }

    /// Returns the next packet in sending order.
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

    /// Returns when to poll for packets and messages if nothing else arrives.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let order = match self.confirmed {
            Some(_) => self.confirmed_timeout(),
            None => self.wait_is_over_at(),
        };
        let report = self.epochs.current().and_then(|_| self.reports.poll_timeout());
        order.into_iter().chain(report).min()
    }

    /// Makes a pending report due early if enough packets have arrived, so that it can share a
    /// datagram with another message.
    pub fn hasten_report(&mut self, now: Instant, port: usize) {
        if let Ok(channel) = self.numbering.channel_of(port) {
            self.reports.hasten(now, channel);
        }
    }

    /// Returns the next message to the sender, and the channel whose reverse direction carries it.
    pub fn poll_message(&mut self, now: Instant) -> Option<(usize, Message)> {
        let next = self.epochs.poll().or_else(|| self.poll_left()).or_else(|| self.poll_nack(now));
        let (channel, epoch, kind) = next.or_else(|| self.poll_report(now))?;
        self.reception.requests += u64::from(kind == Kind::ResetRequested);
        let channel = channel.min(self.buffers.len() - 1);
        let message = Message::about(channel, self.buffers.len(), epoch, kind);
        Some((self.numbering.port_of(channel), message))
    }

    fn poll_left(&mut self) -> Option<(usize, Epoch, Kind)> {
        let epoch = self.epochs.current()?;
        self.presence.next_acknowledged().map(|(channel, kind)| (channel, epoch, kind))
    }

    fn poll_report(&mut self, now: Instant) -> Option<(usize, Epoch, Kind)> {
        let epoch = self.epochs.current()?;
        let channel = self.reports.next_due(now)?;
        let limit = self.limit(now, channel);
        Some((channel, epoch, Kind::Report(self.reports.report(channel, limit, now))))
    }

    fn refuse_packet(&self, port: usize, length_bytes: u32) -> Result<usize, Discard> {
        let channel = self.numbering.channel_of(port)?;
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
            Kind::Marker(marker) => {
                self.see_begun(channel, marker.sent_packets)?;
                self.take_marker(now, channel, &marker)
            }
            Kind::Left(departure) => {
                self.see_begun(channel, 1)?;
                self.take_left(now, channel, departure)
            }
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
        self.note_received(channel);
        self.reports.see_marker(channel, now, marker);
        self.pool.see_marker(channel, marker.lowered);
        self.show_marker(now, channel, marker);
        self.see_presence(now, channel, &marker.standing)?;
        self.put_marker(channel, marker.standing);
        Ok(())
    }

    fn note_received(&mut self, channel: usize) {
        self.epochs.record_received(channel);
        self.silent &= !(1 << channel);
    }

    fn start_anew(&mut self) {
        self.reception.epochs += 1;
        self.restart();
    }

    fn restart(&mut self) {
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

// Processing of markers at the head of a buffer.
//
// ```text
//   marker                                      assumed state until the next marker
//   active, quantum will grow in round r        quantum grown from round r on
//   active, quantum will shrink or become 0     unchanged: a marker of that round will report it
//   inactive, will become active in round r     active from round r on; inactive if r was missed
//   inactive                                    inactive
// ```
//
// The receiver never overestimates the progress of a channel: an increase takes effect only after
// its acknowledgement, a missed decrease costs at most one wait, and a postponed change has no
// effect.
//
// Source: Adiseshu, Parulkar and Varghese 1996, section 5; quantum changes, late and far markers
// are ours.

impl<S: Numbered, P> Receiver<S, P> {
    fn read_marker(&mut self, channel: usize, reported: Standing) {
        let standing = self.believed(channel, reported);
        let ahead = standing.next.round.ahead_of(self.scheduler.round());
        if standing.is_in() && ahead.unsigned_abs() > self.options.far_rounds_max {
            self.reception.discards.add(Discard::FarMarker, 1);
            self.epochs.request(channel);
            return;
        }
        let (expected, turn) = (self.scheduler.standing(channel), self.scheduler.current());
        if self.scheduler.set_standing(channel, standing).is_err() {
            self.reception.discards.add(Discard::BadNumber, 1);
            return;
        }
        self.reception.markers += 1;
        let turn_is_over = ahead == 0 && channel < turn;
        if standing.is_in() && (ahead < 0 || turn_is_over) {
            self.count_late(channel);
        } else {
            self.late_in_a_row[channel] = 0;
            let both_in = standing.is_in() && expected.is_in();
            let is_ahead = both_in && is_before(&expected, &standing);
            self.reception.ahead += u64::from(is_ahead);
        }
    }

    fn believed(&self, channel: usize, reported: Standing) -> Standing {
        let reported_now = Standing { coming: None, ..reported };
        match reported.coming {
            Some(change) if !reported.is_in() && change.quantum_bytes != 0 => {
                let comes_in = Standing::beginning(change.from, change.quantum_bytes);
                // The sender has already postponed a change announced for the present or a past
                // round.
                let is_missed = !change.from.is_after(self.scheduler.round());
                let is_known = self.scheduler.standing(channel) == comes_in;
                if is_missed && !is_known { reported_now } else { comes_in }
            }
            Some(change) if change.quantum_bytes > reported.quantum_bytes => reported,
            _ => reported_now,
        }
    }

    fn count_late(&mut self, channel: usize) {
        self.reception.late += 1;
        let late_in_a_row = &mut self.late_in_a_row[channel];
        *late_in_a_row = late_in_a_row.saturating_add(1);
        // In guaranteed order, sequence numbers decide; the scheduler only guesses.
        if self.confirmed.is_none() && self.late_in_a_row[channel] >= self.options.late_in_a_row_max
        {
            self.late_in_a_row[channel] = 0;
            self.epochs.request(channel);
        }
    }
}

/// Returns whether `first` is an earlier state than `second`. Deficits of the same round are
/// comparable only if the quanta are equal.
fn is_before(first: &Standing, second: &Standing) -> bool {
    let (Number { round, deficit_bytes }, next) = (first.next, second.next);
    let same_turn = round == next.round && first.quantum_bytes == second.quantum_bytes;
    next.round.is_after(round) || (same_turn && deficit_bytes > next.deficit_bytes)
}

// End of an epoch: buffered packets are delivered, missing ones skipped.
//
// ```text
//   channel 0   |  5 7 |    scheduler: 0, 1, 0, 1      delivers 5, 6, 7, 8, then packets
//   channel 1   |  _ 6 8 |  4 is missing: skipped      of the new epoch
// ```
//
// Invariant: the buffers are empty afterwards.

impl<S: Numbered, P> Receiver<S, P> {
    /// Delivers the buffered packets of an epoch, or discards them if the epoch has not started on
    /// every active channel. Discarded packets were in flight when this receiver restarted.
    fn flush(&mut self, now: Instant) {
        self.silent = ChannelSet::MAX;
        let longest_bytes = self.scheduler.longest_bytes();
        self.buffers.iter_mut().for_each(|buffer| buffer.repair_state(now, longest_bytes));
        let held = self.held_bytes();
        if self.epochs.are_synchronised(self.in_channels()) {
            self.give_all_out(now);
        }
        let left: usize = self.buffers.iter().map(Buffer::packets).fold(0, usize::saturating_add);
        self.reception.discards.add(Discard::Reset, left as u64);
        self.buffers.iter_mut().for_each(Buffer::clear);
        self.pool.see_flush(if self.flushed.is_empty() { 0 } else { held });
    }

    #[cold]
    fn next_flushed(&mut self) -> Option<P> {
        let packet = self.flushed.pop_front();
        if self.flushed.is_empty() {
            self.pool.see_flush(0);
        }
        packet
    }

    fn give_all_out(&mut self, now: Instant) {
        loop {
            if let Some(packet) = self.next_packet(now) {
                self.flushed.push_back(packet);
            } else if !self.skip_missing() {
                return;
            }
        }
    }
}

// Bounded wait for missing packets; in the paper, the wait is unbounded (section 5).

impl<S: Numbered, P> Receiver<S, P> {
    /// Skips a silent channel. The channel is assumed to have lost only packets before the next
    /// round with a buffered packet, so that the estimate of its progress is never too high.
    fn pass_over(&mut self, channel: usize, now: Instant) -> Option<()> {
        if self.take_in(now) {
            return Some(());
        }
        let nearest = self.nearest_rounds()?;
        let bit = 1 << channel;
        if self.silent & bit == 0 {
            self.wait_is_over_at().filter(|timeout| *timeout <= now)?;
            self.silent |= bit;
            self.reception.silences += 1;
        }
        self.reception.passed += 1;
        let round = self.scheduler.round().plus(nearest);
        if self.scheduler.skip_to(channel, round).is_err() {
            self.start_over(channel);
        }
        Some(())
    }

    /// Activates a channel believed to be inactive if a packet on it has waited too long for a
    /// marker. The channel becomes active in the next round, with the smallest quantum.
    fn take_in(&mut self, now: Instant) -> bool {
        let waited = |channel: &usize| {
            let since = self.buffers[*channel].waiting_since();
            since.is_some_and(|since| since.after(self.options.wait) <= now)
                && !self.scheduler.standing(*channel).is_in()
        };
        let Some(channel) = (0..self.buffers.len()).find(waited) else { return false };
        let next = self.scheduler.round().next();
        let standing = Standing::beginning(next, self.scheduler.quantum_min());
        self.scheduler.set_standing(channel, standing).is_ok()
    }

    fn wait_is_over_at(&self) -> Option<Instant> {
        let since = self.buffers.iter().filter_map(Buffer::waiting_since).min()?;
        Some(since.after(self.options.wait))
    }

    fn nearest_rounds(&self) -> Option<u32> {
        let round = self.scheduler.round();
        let waits = |(channel, buffer): &(usize, &Buffer<P>)| {
            buffer.packets() > 0 && self.scheduler.standing(*channel).is_in()
        };
        let ahead =
            |(channel, _)| self.scheduler.standing(channel).next.round.ahead_of(round).max(1);
        let nearest = self.buffers.iter().enumerate().filter(waits).map(ahead).min()?;
        Some(nearest.unsigned_abs())
    }
}

// Self-checks (audits), which detect states that no valid sequence of events can produce.
//
// Markers correct packet numbers, quanta and counts. Audits, late markers, or the sender's
// detection of an unknown epoch reveal other faults, which cause a reset.
//
// Source: Varghese, "Self-stabilization by local checking and global reset", 1994. The options and
// the program are assumed to be intact.

/// Number of audits per `wait` period.
const AUDITS: u32 = 16;

impl<S: Numbered, P> Receiver<S, P> {
    fn audit(&mut self, now: Instant, port: usize) {
        if self.audit_at > now && self.audit_at <= now.after(self.options.wait) {
            return;
        }
        self.audit_at = now.after(self.options.wait / AUDITS);
        let rounds_max = self.options.far_rounds_max.saturating_mul(2);
        let sound = self.numbering.is_sound() && self.scheduler.is_sound(rounds_max);
        if !sound {
            self.start_over(port);
        }
        let longest_bytes = self.scheduler.longest_bytes();
        self.buffers.iter_mut().for_each(|buffer| buffer.repair_state(now, longest_bytes));
        self.reports.repair_state(now);
        if let Some(confirmed) = &mut self.confirmed {
            confirmed.repair_state(now);
        }
        self.repair_pool();
    }

    fn start_over(&mut self, port: usize) {
        self.reception.corrupt += 1;
        self.numbering = Numbering::new(self.buffers.len());
        self.scheduler = self.initial.clone();
        self.epochs.doubt(first_channels(self.buffers.len()));
        self.epochs.request(port);
    }
}

#[cfg(test)]
impl<const CAPACITY: usize, P> Receiver<gingham_fairq::SurplusRoundRobin<CAPACITY>, P> {
    pub(crate) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        if is_hit(words) {
            self.scheduler.corrupt(words);
        }
        corrupt_some(
            &mut [&mut self.numbering, &mut self.epochs, &mut self.presence, &mut self.reports],
            words,
        );
        self.pool.corrupt(words);
        self.confirmed.iter_mut().for_each(|confirmed| confirmed.corrupt(words));
        self.buffers.corrupt(words);
        self.silent.corrupt(words);
        self.audit_at.corrupt(words);
        self.late_in_a_row.corrupt(words);
    }
}
