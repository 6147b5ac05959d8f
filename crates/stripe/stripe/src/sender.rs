//! Sending end: chooses a channel for each packet and emits markers.
//!
//! A channel's id is its slot in the scheduler. When a channel is removed, Left messages on all
//! other channels announce the removal, and packets in flight are retransmitted. A new channel in
//! the slot continues its sequence numbers, so that late packets of the former channel are
//! detected. If the last active channel is removed, it stays in the scheduler, without packets,
//! until another channel becomes active.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 3.3 (load sharing), 5 and 6.3 (markers,
//! best at the start or end of a round). A channel with a new address forgets its measurements, as
//! in RFC 9000, section 9.4.
//!
//! Invariants: a marker carries the number of its channel's next packet; no packet is accepted
//! before a reset is acknowledged; at least one channel exists and one is active; no message or
//! packet is emitted for an absent channel; a deactivated channel returns after the round named by
//! Left; an audit changes no valid state.

mod class;
mod control;
mod copies;
mod counts;
mod inspection;
mod markers;
mod options;
mod paths;
mod presence;
mod quarantine;
mod repairs;
mod resets;
mod retransmission_buffer;
mod schedule;
mod shares;
mod sizes;
#[cfg(test)]
mod tests;
mod units;
mod wait;

use crate::message::small;
use crate::{
    ChannelError, ChannelSet, Departure, Discard, Epoch, Instant, Kind, Marker, Message, Numbered,
    OptionsError, QuantaError, RateCap, Report, SendError, SizeError, Tag, channels_of,
    channels_where, first_channels,
};
pub use class::Class;
pub use control::{BbrPlan, ControlPlan, Controlled, Flight, Order, SharePlan};
use core::time::Duration;
use counts::Counts;
pub use counts::{Reported, Sent};
use markers::Markers;
pub use options::{MarkerPlan, SenderOptions, Sending};
use paths::Paths;
use presence::{Life, Presence, nanoseconds};
use quarantine::Quarantine;
use repairs::Repairs;
pub use repairs::{Repair, RepairPlan};
use resets::{Due, Resets};
pub use retransmission_buffer::RetransmissionBuffer;
use schedule::{Circumstances, Schedule};
use sizes::Sizes;
pub use sizes::{Size, SizePlan, SizeState};
pub use wait::Wait;

/// Sending end of a pipe.
///
/// ```
/// use gingham_fairq::SurplusRoundRobin;
/// use gingham_stripe::{Epoch, Instant, Sender, SenderOptions};
///
/// let now = Instant::ORIGIN;
/// let scheduler = SurplusRoundRobin::<2>::new(1_500, &[1_500, 3_000])?;
/// let mut sender = Sender::synchronised(scheduler, SenderOptions::default(), Epoch::new(1), now)?;
/// while let Some((_channel, _marker)) = sender.poll_message(now) { /* send it on the channel */ }
/// assert_eq!(sender.handle_packet(now, 1_500)?, 0);
/// assert_eq!(sender.handle_packet(now, 1_500)?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sender<S> {
    options: SenderOptions,
    now: Instant,
    resets: Resets,
    schedule: Schedule<S>,
    presence: Presence,
    markers: Markers,
    sizes: Sizes,
    paths: Option<Paths>,
    quarantine: Quarantine,
    repairs: Option<Repairs>,
    counts: Counts,
    blocked: ChannelSet,
    waiting: Class,
    sending: Sending,
}

/// Permission to send a run of packets on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Channel for the next packets.
    pub channel: usize,
    /// Number of bytes after which to choose a channel again. The packet that reaches this limit is
    /// the last.
    pub bytes: u64,
    /// Maximum packet length for this permission; longer packets may need another channel.
    pub longest_bytes: u32,
}

impl<S: Numbered> Sender<S> {
    /// Creates a sender that starts with a reset to `epoch`, which must be later than all former
    /// epochs.
    pub fn new(
        scheduler: S,
        options: SenderOptions,
        epoch: Epoch,
        now: Instant,
    ) -> Result<Self, OptionsError> {
        let mut sender = Self::synchronised(scheduler, options, epoch, now)?;
        sender.start_reset(epoch, now);
        Ok(sender)
    }

    /// Creates a sender for a receiver that is known to have started in `epoch`.
    pub fn synchronised(
        scheduler: S,
        options: SenderOptions,
        epoch: Epoch,
        now: Instant,
    ) -> Result<Self, OptionsError> {
        let channels = scheduler.channels();
        options.check(channels)?;
        let mut sender = Self {
            now,
            resets: Resets::new(&options, epoch),
            presence: Presence::new(&options, channels),
            markers: Markers::new(options.markers, scheduler.round(), now),
            sizes: Sizes::new(&options, channels),
            paths: options.paths(&scheduler)?,
            quarantine: Quarantine::new(channels),
            repairs: options.repair.map(|plan| Repairs::new(plan, channels)),
            counts: Counts::new(options.credits, scheduler.longest_bytes(), channels),
            blocked: 0,
            waiting: Class::Spread,
            sending: Sending::default(),
            schedule: Schedule::new(scheduler, options.order),
            options,
        };
        sender.open(now);
        Ok(sender)
    }

    fn carries(&self, channel: usize) -> bool {
        self.schedule.carries(&self.presence, channel)
    }

    fn carrying(&self) -> ChannelSet {
        channels_where(self.schedule.channels(), |channel| self.carries(channel))
    }

    const fn is_blocked(&self, channel: usize) -> bool {
        self.blocked & 1 << channel != 0
    }

    fn next_channel(&self, now: Instant, length_bytes: u32, class: Class) -> Option<usize> {
        if !self.is_open() {
            return None;
        }
        if let (Order::Free, Some(paths)) = (self.options.order, &self.paths) {
            return paths.choose(now, class, |channel| {
                self.sizes.fits(channel, length_bytes) && self.takes(channel, length_bytes)
            });
        }
        let channel = self.schedule.current();
        let is_full = self.paths.as_ref().is_some_and(|paths| !paths.admits(channel, now));
        let takes = self.takes(channel, length_bytes) && self.sizes.fits(channel, length_bytes);
        (takes && !is_full).then_some(channel)
    }

    /// Returns whether a channel accepts a packet; a length of 0 requires credit for the maximum
    /// length.
    fn takes(&self, channel: usize, length_bytes: u32) -> bool {
        self.carries(channel)
            && !self.is_blocked(channel)
            && self.counts.has_credit(channel, length_bytes)
            && !(self.quarantine.has(channel) && self.is_left_out(channel, length_bytes))
    }

    /// Returns whether a packet must avoid this quarantined channel, because the packet fits
    /// another channel of the same priority, even a busy one.
    #[inline(never)]
    fn is_left_out(&self, channel: usize, length_bytes: u32) -> bool {
        let Some(paths) = &self.paths else { return false };
        let fits = |other: usize| match length_bytes {
            0 => self.sizes.fits_waiting(other),
            _ => self.sizes.fits(other, length_bytes),
        };
        let equals = paths.equals(channel, self.carrying());
        channels_of(equals).any(|other| !self.quarantine.has(other) && fits(other))
    }

    #[cold]
    fn held_back(&mut self, length_bytes: u32, class: Class) -> SendError {
        self.wait_with(length_bytes, class);
        let channel = self.schedule.current();
        if !self.is_open() {
            SendError::Resetting
        } else if !self.fits_somewhere(length_bytes) {
            SendError::TooLong { longest_bytes: self.longest_bytes() }
        } else if self.options.order == Order::Strict
            && !self.counts.has_credit(channel, length_bytes)
        {
            SendError::NoCredit { channel }
        } else {
            SendError::FlightFull { channel }
        }
    }

    const fn wait_with(&mut self, length_bytes: u32, class: Class) {
        self.sizes.wait_with(length_bytes);
        self.waiting = class;
    }

    /// Sends a packet on the returned channel. Messages from `poll_message` must be sent before it.
    pub fn handle_packet(&mut self, now: Instant, length_bytes: u32) -> Result<usize, SendError> {
        self.send(now, length_bytes, Class::Spread)
    }

    /// Sends a packet in guaranteed order: on the returned channel, preceded by the returned tag.
    pub fn handle_tagged(
        &mut self,
        now: Instant,
        length_bytes: u32,
    ) -> Result<(usize, Tag), SendError> {
        self.handle_tagged_as(now, length_bytes, Class::Spread)
    }

    /// Sends a packet of the given class in guaranteed order.
    pub fn handle_tagged_as(
        &mut self,
        now: Instant,
        length_bytes: u32,
        class: Class,
    ) -> Result<(usize, Tag), SendError> {
        let (sequence, session) = (self.counts.next_sequence(), self.epoch().low());
        self.sizes.set_tagged();
        let channel = self.send(now, length_bytes, class)?;
        let channel_sequence = self.counts.sent(channel).packets.wrapping_sub(1);
        let place = (small(channel), channel_sequence);
        if let Some(repairs) = &mut self.repairs {
            repairs.handle_packet(channel, place, (sequence, length_bytes), class);
            if !self.quarantine.is_empty() {
                self.choose_copied(now, place);
            }
        }
        let tag =
            Tag { sequence, channel: small(channel), channel_sequence, session, repair_of: None };
        Ok((channel, tag))
    }

    fn send(&mut self, now: Instant, length_bytes: u32, class: Class) -> Result<usize, SendError> {
        self.wake(now);
        let Some(channel) = self.next_channel(now, length_bytes, class) else {
            return Err(self.held_back(length_bytes, class));
        };
        let longest_bytes = self.scheduler().longest_bytes();
        if length_bytes == 0 || length_bytes > longest_bytes {
            return Err(SendError::BadLength { length_bytes, longest_bytes });
        }
        if self.options.order == Order::Strict {
            self.schedule.charge(length_bytes);
        }
        self.counts.add(channel, length_bytes);
        self.sizes.sent(now, channel, length_bytes);
        if let Some(paths) = &mut self.paths {
            paths.sent(channel, now, length_bytes);
        }
        self.sending.packets += 1;
        self.sending.bytes += u64::from(length_bytes);
        if self.schedule.is_changing() {
            let (schedule, mut at) = self.schedule_at(now);
            schedule.follow_changes(channel, &mut at);
        }
        self.mark_by_round(now);
        self.see_turn(now);
        Ok(channel)
    }

    const fn schedule_at(&mut self, now: Instant) -> (&mut Schedule<S>, Circumstances<'_>) {
        let at = Circumstances {
            now,
            polled_at: self.now,
            presence: &mut self.presence,
            markers: &mut self.markers,
            sending: &mut self.sending,
        };
        (&mut self.schedule, at)
    }

    fn see_turn(&mut self, now: Instant) {
        if self.options.order == Order::Strict
            && let Some(paths) = &mut self.paths
        {
            paths.see_turn(now, self.schedule.current());
        }
    }

    /// Returns a channel and the number of bytes that may be sent on it now, limited by the turn,
    /// the congestion window, and the pacing rate. `handle_packet` or `handle_tagged` then returns
    /// the same channel for each packet.
    ///
    /// Returns `None` while no packet may be sent: call again after the next message from the
    /// receiver, and after `poll_message`, which deactivates dead channels. Call only with a packet
    /// to send, because the call ends a rest: markers are then due first.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.poll_transmit_of(now, 0, Class::Spread)
    }

    /// Works like `poll_transmit`, for a packet of this length and class.
    pub fn poll_transmit_of(
        &mut self,
        now: Instant,
        length_bytes: u32,
        class: Class,
    ) -> Option<Transmit> {
        if self.wake(now) {
            return None;
        }
        let Some(channel) = self.next_channel(now, length_bytes, class) else {
            self.wait_with(length_bytes, class);
            return None;
        };
        let turn_bytes = match (self.options.order, &self.paths) {
            (Order::Free, Some(paths)) => paths.run_bytes(channel, now),
            _ => u64::from(self.schedule.standing(channel).next.deficit_bytes),
        };
        let ready_bytes =
            self.paths.as_ref().map_or(u64::MAX, |paths| paths.ready_bytes(channel, now));
        let longest_bytes = self.size(channel).longest_bytes;
        Some(Transmit { channel, bytes: turn_bytes.min(ready_bytes), longest_bytes })
    }

    /// Returns the next message and its channel. The message must be sent before any later packet.
    pub fn poll_message(&mut self, now: Instant) -> Option<(usize, Message)> {
        self.now = now;
        self.advance(now);
        self.sizes.pad_nothing();
        let left = self.presence.next_announced().map(|(on, left)| (on, Kind::Left(left)));
        let due = left.or_else(|| self.poll_due(now));
        let (channel, kind) = due.or_else(|| self.poll_probe(now))?;
        Some((channel, Message::about(channel, self.schedule.channels(), self.epoch(), kind)))
    }

    fn poll_due(&mut self, now: Instant) -> Option<(usize, Kind)> {
        let channel = self.markers.take_due(self.schedule.channels())?;
        if self.is_open() {
            Some((channel, Kind::Marker(self.marker(channel, now))))
        } else {
            Some((channel, Kind::Reset { quantum: self.target_quantum(channel) }))
        }
    }

    fn poll_probe(&mut self, now: Instant) -> Option<(usize, Kind)> {
        let (channel, bytes) = self.sizes.take_due()?;
        let marker = Marker { sent_at: Sizes::probe_at(now), ..self.marker(channel, now) };
        let until = now.after(self.presence.probe_takes(channel));
        self.sizes.probe(now, channel, bytes, until);
        Some((channel, Kind::Marker(marker)))
    }

    fn marker(&mut self, channel: usize, now: Instant) -> Marker {
        self.presence.mark(channel, now);
        self.sizes.mark(now, channel, self.presence.is(channel, Life::Dead));
        self.sending.markers += 1;
        if let Some(repairs) = &mut self.repairs {
            repairs.make_room(channel);
        }
        let sent = self.counts.sent(channel);
        Marker {
            standing: self.schedule.marker_standing(now, channel),
            sent_packets: sent.packets,
            sent_bytes: sent.bytes,
            next_sequence: self.counts.next_sequence(),
            sent_at: now,
            round_trip_ns: self.presence.round_trip_ns(channel),
            out_after_ns: nanoseconds(self.presence.out_after(channel, &self.sizes)),
            lowered: self.counts.reported(channel).is_some_and(|reported| reported.report.lowered),
        }
    }

    /// Returns when to call `poll_message` again if nothing else happens.
    pub fn poll_timeout(&self) -> Instant {
        if let Some(at) = self.resets.poll_timeout() {
            return at;
        }
        if self.markers.are_due() || self.sizes.are_due() {
            return self.now;
        }
        let at = self.markers.marker_at().min(self.presence.check_at());
        self.paced_until().into_iter().chain(self.sizes.next_at()).fold(at, Instant::min)
    }

    fn paced_until(&self) -> Option<Instant> {
        let paths = self.paths.as_ref()?;
        let paced = match self.options.order {
            Order::Free => paths.next_at(self.now, self.waiting, |channel| {
                self.sizes.fits_waiting(channel) && self.takes(channel, 0)
            }),
            Order::Strict => {
                paths.next_at(self.now, Class::Spread, |one| one == self.schedule.current())
            }
        };
        paced.into_iter().chain(paths.poll_timeout()).min()
    }

    /// Handles a message that the receiver sent in the reverse direction of a channel.
    pub fn handle_message(
        &mut self,
        now: Instant,
        channel: usize,
        message: Message,
    ) -> Result<(), Discard> {
        let checked = match message.check(channel, self.schedule.channels()) {
            // Before the first reset, the receiver may number the channels differently.
            Err(Discard::OtherChannel) if message.kind == Kind::ResetRequested => Ok(()),
            checked => checked,
        };
        let taken = checked.and_then(|()| self.take_message(now, channel, message));
        self.sending.discards.count(taken)
    }

    /// Parses and handles a message from the receiver.
    pub fn handle_bytes(
        &mut self,
        now: Instant,
        channel: usize,
        bytes: &[u8],
    ) -> Result<(), Discard> {
        match Message::parse(bytes) {
            Ok(message) => self.handle_message(now, channel, message),
            Err(error) => self.sending.discards.count(Err(Discard::Malformed(error))),
        }
    }

    fn take_message(
        &mut self,
        now: Instant,
        channel: usize,
        message: Message,
    ) -> Result<(), Discard> {
        match message.kind {
            Kind::Marker(_) | Kind::Reset { .. } | Kind::Left(_) => Err(Discard::OtherEnd),
            Kind::Acknowledged if message.epoch != self.epoch() => Err(Discard::StaleEpoch),
            Kind::Acknowledged => {
                // Acknowledgements may still arrive after the wait for them has ended.
                if self.is_open() && self.presence.revive(channel) {
                    self.revived(now, channel);
                } else if self.resets.acknowledge(channel) {
                    self.open(now);
                }
                Ok(())
            }
            Kind::ResetRequested => {
                let epoch = self.resets.heed_request(message.epoch, now)?;
                self.start_reset(epoch, now);
                Ok(())
            }
            Kind::Report(_) | Kind::Nack(_) | Kind::LeftAcknowledged(_)
                if !self.is_open() || message.epoch != self.epoch() =>
            {
                Err(Discard::StaleEpoch)
            }
            Kind::Report(report) => self.take_report(now, channel, report),
            Kind::Nack(nack) => self.retransmit(now, channel, nack),
            Kind::LeftAcknowledged(departure) => self.presence.acknowledge_left(departure),
        }
    }

    fn take_report(&mut self, now: Instant, channel: usize, report: Report) -> Result<(), Discard> {
        let reported = Reported { at: now, report };
        self.counts.handle_report(channel, reported);
        self.sizes.handle_report(now, channel, &report);
        if self.presence.handle_report(channel, &reported) {
            self.revived(now, channel);
        }
        let (schedule, mut at) = self.schedule_at(now);
        schedule.agree(channel, report.coming_from, &mut at);
        self.let_go(now);
        let can_be = self.follow_rates(now, channel, &report);
        self.weigh_losses(now, channel, &report);
        if can_be { Ok(()) } else { Err(Discard::BadCounts) }
    }

    /// Passes the measurements in a report to congestion control; returns whether its counts are
    /// possible.
    fn follow_rates(&mut self, now: Instant, channel: usize, report: &Report) -> bool {
        if report.echo < self.presence.since(channel) {
            return true;
        }
        let Some(paths) = &mut self.paths else { return true };
        let quantum = |one| self.schedule.standing(one).quantum_bytes;
        let can_be = paths.handle_report(now, channel, self.counts.sent(channel), report, quantum);
        self.see_turn(now);
        if let Some(paths) = &mut self.paths
            && self.schedule.follow_shares(now, paths)
        {
            self.announce_targets();
        }
        can_be
    }

    fn weigh_losses(&mut self, now: Instant, channel: usize, report: &Report) {
        if !self.has_quarantine() || report.echo < self.presence.since(channel) {
            return;
        }
        let (carrying, round_trip) = (self.carrying(), self.presence.round_trip(channel));
        if let Some(paths) = &self.paths {
            let channels = (paths, carrying);
            let enters = self.quarantine.handle_report(now, channel, report, round_trip, channels);
            self.sending.quarantines += u64::from(enters);
        }
    }

    fn has_quarantine(&self) -> bool {
        self.options.order == Order::Free && self.repairs.is_some()
    }

    fn advance(&mut self, now: Instant) {
        if let Some(paths) = &mut self.paths {
            paths.handle_timeouts(now);
        }
        match self.resets.poll(now) {
            Some(Due::Open) => self.open(now),
            Some(Due::Resets(acknowledged)) => {
                // Dead channels also get a reset: a channel cannot die before its time for the
                // acknowledgement is over, so an earlier mark is corrupt.
                self.markers.ask_only(self.presence.present() & !acknowledged);
            }
            None if self.is_open() => self.advance_open(now),
            None => {}
        }
    }

    fn advance_open(&mut self, now: Instant) {
        let check_at = self.presence.check_at();
        if check_at <= now || check_at > now.after(self.options.markers.pause_max()) {
            self.look(now);
        }
        if self.sizes.next_at().is_some_and(|at| at <= now) {
            self.check_sizes(now);
        }
        if self.markers.marker_at() <= now {
            self.mark_by_time(now);
        }
    }

    fn look(&mut self, now: Instant) {
        self.presence.begin_check(now, self.check_pause());
        self.check(now);
        if !self.is_open() {
            return;
        }
        self.schedule.check_rounds(now);
        self.wake_if_unanswered(now);
        self.let_go(now);
        for channel in 0..self.schedule.channels() {
            if self.schedule.is_in(channel) || self.schedule.is_pending(channel) {
                if self.presence.is_silent(channel, now) {
                    self.lose(channel, now);
                } else if !self.sizes.may_shrink()
                    && self.presence.is_losing(channel, now, &self.sizes)
                {
                    self.lose_long(channel, now);
                }
            } else if self.is_there(channel) && self.presence.take_probe(channel, now) {
                self.markers.ask(1 << channel);
            }
            if self.presence.has_left(channel) {
                self.presence.announce_departure(channel, self.carrying());
            }
        }
        self.check_sizes(now);
        self.announce_targets();
    }

    fn check_pause(&self) -> Duration {
        let pause = self.markers.pause();
        if !self.markers.are_due() && !self.presence.is_asking() {
            return pause;
        }
        let answered = self.presence.longest_answer().saturating_add(self.options.markers.interval);
        pause.min(answered)
    }

    /// Ends a rest if a marker remains unanswered, so that a channel does not count as silent after
    /// a single lost marker.
    fn wake_if_unanswered(&mut self, now: Instant) {
        let is_overdue =
            |channel: usize| self.schedule.is_in(channel) && self.presence.is_overdue(channel, now);
        if (0..self.schedule.channels()).any(is_overdue) {
            self.wake(now);
        }
    }

    #[inline]
    fn wake(&mut self, now: Instant) -> bool {
        let rests = self.is_open() && self.markers.are_slow();
        if rests {
            self.end_rest(now);
        }
        rests
    }

    #[cold]
    #[inline(never)]
    fn end_rest(&mut self, now: Instant) {
        self.markers.end_rest(now);
        self.markers.mark(now, self.marked());
        self.presence.check_by(now.after(self.markers.pause()));
    }

    fn marked(&self) -> ChannelSet {
        self.carrying() | self.schedule.pending()
    }

    fn mark_by_round(&mut self, now: Instant) {
        if self.markers.take_round(self.schedule.round(), self.schedule.current()) {
            self.markers.mark(now, self.marked());
        }
    }

    fn mark_by_time(&mut self, now: Instant) {
        let (gone, is_settled) = (self.sending.gone(), self.has_settled());
        let marked = self.marked();
        let marked_at = |channel| self.presence.marked_at(channel);
        let was_marked = |since| {
            channels_of(marked).all(|channel| marked_at(channel).is_some_and(|at| at >= since))
        };
        if self.markers.count_quiet(now, gone, is_settled, was_marked) {
            self.repairs.iter_mut().for_each(Repairs::rest);
            self.paths.iter_mut().for_each(Paths::rest);
        }
        let is_due = |channel| {
            let gap = self.presence.marker_gap(channel, &self.sizes);
            gap.is_zero() || marked_at(channel).is_none_or(|at| at.after(gap) <= now)
        };
        self.markers.mark(now, marked & channels_where(self.schedule.channels(), is_due));
        self.presence.check_by(now.after(self.check_pause()));
    }

    fn has_settled(&self) -> bool {
        let is_accounted_for = |channel: usize| {
            let reported = self.counts.reported(channel);
            let accounted = reported.map(|reported| reported.report.accounted_packets);
            !self.schedule.is_in(channel)
                || (accounted == Some(self.sent(channel).packets)
                    && self.counts.has_credit(channel, 0))
        };
        !self.schedule.is_changing()
            && !self.presence.is_announcing()
            && (0..self.schedule.channels()).all(is_accounted_for)
    }

    /// Audits the state. Counts need no audit, because the receiver adopts them from markers.
    fn check(&mut self, now: Instant) {
        let (channels, markers) = (self.schedule.channels(), &self.options.markers);
        let all = first_channels(channels);
        self.presence.repair_state(now, markers.pause_max());
        let span_max = self.options.silence.unwrap_or(markers.interval).saturating_mul(16);
        self.sizes.repair_state(now, self.schedule.scheduler().longest_bytes(), span_max);
        self.quarantine.repair_state(now, if self.has_quarantine() { all } else { 0 });
        self.markers.repair_state(now, channels, self.schedule.round());
        if let Some(paths) = &mut self.paths {
            for channel in 0..channels {
                paths.repair_state(channel, self.counts.sent(channel));
            }
        }
        if !self.schedule.check(self.presence.present()) {
            self.sending.corrupt += 1;
            self.reset(now);
        }
    }

    /// Adds a channel, which becomes active once the receiver acknowledges it.
    pub fn add_channel(&mut self, now: Instant, id: usize) -> Result<(), ChannelError> {
        self.presence.check_id(id, false)?;
        self.begin(now, id, Life::Alive);
        self.announce_targets();
        Ok(())
    }

    /// Removes a channel.
    pub fn remove_channel(&mut self, now: Instant, id: usize) -> Result<(), ChannelError> {
        self.presence.check_id(id, true)?;
        let is_to_be_in = |other: usize| other != id && self.target_quantum(other) != 0;
        if !channels_of(self.presence.present()).any(is_to_be_in) {
            return Err(ChannelError::Last { id });
        }
        self.presence.remove(id);
        self.markers.withdraw(id);
        if self.is_open() {
            self.lose(id, now);
            self.see_turn(now);
        } else if self.resets.await_no_more(id) {
            self.open(now);
        }
        Ok(())
    }

    /// Handles a new address of a channel; forgets the channel's measurements.
    pub fn move_channel(&mut self, now: Instant, id: usize) -> Result<(), ChannelError> {
        self.presence.check_id(id, true)?;
        let life = if self.is_dead(id) { Life::Dead } else { Life::Alive };
        self.begin(now, id, life);
        self.presence.probe(id, now);
        if self.is_open() {
            self.markers.ask(1 << id);
        }
        Ok(())
    }

    fn begin(&mut self, now: Instant, id: usize, life: Life) {
        self.presence.begin(id, now, life);
        self.sizes.begin(id);
        self.quarantine.forget(id);
        if let Some(paths) = &mut self.paths {
            paths.begin(id);
        }
    }

    /// Deactivates a channel known to be lost, for instance with its interface, unless it is the
    /// last active channel. The channel returns once a probe is answered. Returns whether the
    /// channel is inactive.
    pub fn lose_channel(&mut self, now: Instant, channel: usize) -> bool {
        let is_there = self.is_open() && self.is_there(channel);
        is_there && (self.is_dead(channel) || self.lose(channel, now))
    }

    fn lose(&mut self, channel: usize, now: Instant) -> bool {
        let Some(since) = self.schedule.take_out(channel) else { return false };
        self.sizes.leave(channel);
        if let Some(repairs) = &mut self.repairs {
            repairs.leave(channel, self.counts.accounted_packets(channel));
        }
        self.markers.withdraw(channel);
        let departure = Departure {
            channel: small(channel),
            since,
            sent_packets: self.counts.sent(channel).packets,
            next_sequence: self.counts.next_sequence(),
        };
        let died = self.presence.leave(now, departure, self.carrying());
        self.sending.deaths += u64::from(died);
        true
    }

    fn let_go(&mut self, now: Instant) {
        for channel in channels_of(self.presence.all(Life::Absent)) {
            if self.schedule.is_in(channel) {
                self.lose(channel, now);
            }
        }
    }

    fn revived(&mut self, now: Instant, channel: usize) {
        self.sizes.revive(now, channel);
        if let Some(paths) = &mut self.paths {
            paths.revive(channel);
        }
        self.announce_targets();
    }

    /// Sets the target quanta. Each quantum applies once the receiver acknowledges it. A quantum of
    /// 0 deactivates the channel, unless no other channel would remain active.
    pub fn change_quanta(&mut self, quanta: &[u32]) -> Result<(), QuantaError> {
        self.schedule.set_targets(quanta, self.presence.present())?;
        self.announce_targets();
        Ok(())
    }

    fn announce_targets(&mut self) {
        if self.is_open() {
            let (schedule, mut at) = self.schedule_at(self.now);
            schedule.announce_targets(&mut at);
        }
    }

    /// Sets the channels whose links accept no packets at present; bit `i` stands for channel `i`.
    /// Messages are still emitted. A wrong hint causes only delay.
    pub const fn set_blocked(&mut self, channels: u64) {
        self.blocked = channels;
    }

    /// Requests a marker on a channel with a new link, or a reset message during a reset.
    pub fn ask_channel(&mut self, channel: usize) {
        if self.is_there(channel) {
            self.markers.ask(1 << channel);
        }
    }

    /// Sets a fixed, known rate for pacing a channel.
    pub fn set_rate(&mut self, channel: usize, bytes_per_second: u64) {
        if let Some(paths) = &mut self.paths {
            paths.set_rate(channel, bytes_per_second);
        }
    }

    /// Limits a channel's data rate on the wire; control messages are exempt.
    pub fn cap_rate(&mut self, channel: usize, cap: Option<RateCap>) {
        if let Some(paths) = &mut self.paths {
            paths.set_cap(channel, cap);
        }
    }

    /// Sets the priority of a channel in free order; 0 comes first. Packets use a channel only if
    /// all channels of earlier priorities have been busy for a long time.
    pub fn set_priority(&mut self, channel: usize, priority: u8) {
        if let Some(paths) = &mut self.paths {
            paths.set_priority(channel, priority);
        }
    }

    /// Handles the loss of all long packets: deactivates the channel until it passes long packets,
    /// or probes the base size if no other channel is active.
    fn lose_long(&mut self, channel: usize, now: Instant) {
        let lost_bytes = self.sizes.lost_bytes(channel);
        if self.lose(channel, now) {
            self.sizes.lose(channel, lost_bytes);
        } else {
            self.sizes.confirm_base(channel);
        }
    }

    fn check_sizes(&mut self, now: Instant) {
        if !self.sizes.begin_check(now) {
            return;
        }
        for channel in 0..self.schedule.channels() {
            let is_used = self.is_open() && self.carries(channel);
            let probe_takes = is_used.then(|| self.presence.probe_takes(channel));
            let look = self.sizes.check_channel(now, channel, probe_takes);
            if look.asks {
                self.markers.ask(1 << channel);
            }
            if look.fails {
                self.lose(channel, now);
            }
        }
    }

    /// Handles a notification from the network that frames longer than `frame_bytes` do not pass a
    /// channel.
    pub fn handle_too_big(
        &mut self,
        now: Instant,
        channel: usize,
        frame_bytes: u32,
    ) -> Result<(), SizeError> {
        let is_in_doubt = self.sizes.handle_too_big(now, channel, frame_bytes)?;
        if is_in_doubt && !self.shrink_out(now, channel) {
            self.sizes.shrink(channel, frame_bytes);
        }
        Ok(())
    }

    /// Handles a frame that a channel's socket refused as too long (`EMSGSIZE`). The size search
    /// continues below that length, starting from the base size if frames of this length passed
    /// before.
    pub fn handle_refused(
        &mut self,
        now: Instant,
        channel: usize,
        frame_bytes: u32,
    ) -> Result<(), SizeError> {
        let has_passed = self.sizes.handle_refused(now, channel, frame_bytes)?;
        if !has_passed || !self.shrink_out(now, channel) {
            self.sizes.refuse(now, channel, frame_bytes);
        }
        Ok(())
    }

    fn shrink_out(&mut self, now: Instant, channel: usize) -> bool {
        let is_out = self.options.order == Order::Strict && self.lose(channel, now);
        if is_out {
            self.sizes.lose(channel, self.sizes.frame_bytes(channel));
        }
        is_out
    }

    /// Sets whether a channel passes frames of any length, as TCP does.
    pub fn set_passes_all(&mut self, channel: usize, passes_all: bool) {
        self.sizes.set_passes_all(channel, passes_all);
    }

    /// Starts a new epoch at both ends.
    pub fn reset(&mut self, now: Instant) {
        self.start_reset(self.epoch().next(), now);
    }

    fn start_reset(&mut self, epoch: Epoch, now: Instant) {
        self.schedule.restart(self.presence.present());
        self.resets.start(epoch, now, self.presence.all(Life::Alive));
        self.markers.ask_only(0);
        self.presence.restart(now);
        self.sizes.restart();
        self.counts.restart();
        self.quarantine.restart();
        if let Some(paths) = &mut self.paths {
            paths.restart();
        }
        if let Some(repairs) = &mut self.repairs {
            repairs.restart();
        }
        self.sending.resets += 1;
        self.advance(now);
    }

    fn open(&mut self, now: Instant) {
        let silent = match self.resets.open() {
            Some(acknowledged) => first_channels(self.schedule.channels()) & !acknowledged,
            None => self.presence.all(Life::Absent),
        };
        self.markers.ask_only(0);
        for channel in channels_of(silent) {
            self.lose(channel, now);
        }
        self.look(now);
        self.markers.restart(self.schedule.round(), now);
        self.mark_by_round(now);
        self.announce_targets();
    }
}

#[cfg(test)]
impl<const CAPACITY: usize> Sender<gingham_fairq::SurplusRoundRobin<CAPACITY>> {
    pub(crate) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        use crate::corruption::{Corrupt, corrupt_some};
        let parts: &mut [&mut dyn Corrupt] =
            &mut [&mut self.schedule, &mut self.presence, &mut self.sizes, &mut self.counts];
        corrupt_some(parts, words);
        for part in [&mut self.quarantine as &mut dyn Corrupt, &mut self.markers, &mut self.resets]
        {
            part.corrupt(words);
        }
        self.paths.iter_mut().for_each(|paths| paths.corrupt(words));
        self.repairs.iter_mut().for_each(|repairs| repairs.corrupt(words));
    }
}
