//! The sending end: which channel a packet goes on, and when markers go.
//!
//! ```text
//!                 +-- every channel acknowledged; or one, and reset_wait is over --+
//!                 |                                                                v
//!   start --> Resetting: Reset on every channel                         Open: packets and markers
//!                 ^      that has not acknowledged, again and again                |
//!                 +-- reset(), or a request of the receiver: the next epoch -------+
//! ```
//!
//! Markers go on all channels when the turn of `before_channel` begins, every so many rounds from
//! the first on, and whenever `interval` has passed without, so that a receiver that waits for lost
//! packets learns of them when nothing follows. The paper (section 6.3) finds the beginning and the
//! end of a round best. Where packets have tags, those that go by time are at most four in a round
//! trip: nothing else holds back what is said, and it fills no way that several senders share.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 3.3 (load sharing), 5 and 6.3 (markers).
//!
//! Invariants: a marker carries the number that the next packet of its channel has at the moment
//! when the marker is given out; no packet is taken before a reset is acknowledged.

mod changes;
mod check;
mod class;
mod control;
mod credit;
mod idle;
mod links;
mod markers;
mod options;
mod paths;
mod presence;
mod rates;
mod repairs;
mod reported;
mod resets;
mod retransmission_buffer;
mod seen;
mod sent;
mod shares;
mod sizes;
mod slots;
mod transmit;
mod units;
mod waits;

use core::time::Duration;

use gingham_fairq::Round;

use crate::{
    ChannelSet, Discard, Epoch, Instant, Kind, Message, Numbered, OptionsError, SendError,
    first_channels, take_lowest,
};
pub use class::Class;
pub use control::{BbrPlan, ControlPlan, Controlled, Flight, Order, SharePlan};
pub use options::{MarkerPlan, SenderOptions, Sending};
pub use repairs::{Repair, RepairPlan};
pub use reported::Reported;
pub use retransmission_buffer::RetransmissionBuffer;
pub use sent::Sent;
pub use sizes::{Size, SizePlan, SizeState};
pub use transmit::Transmit;
pub use waits::Wait;

use changes::Changes;
use idle::Idle;
use paths::Paths;
use presence::{Life, Presence};
use repairs::Repairs;
use reported::ReportedByChannel;
use sent::SentByChannel;
use sizes::Sizes;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Resetting {
        acknowledged: ChannelSet,
        /// Those that were not dead before.
        awaited: ChannelSet,
        again_at: Instant,
        open_at: Instant,
    },
}

/// The sending end.
///
/// ```
/// use gingham_fairq::SurplusRoundRobin;
/// use gingham_stripe::{Epoch, Instant, Sender, SenderOptions};
///
/// let now = Instant::ORIGIN;
/// let scheduler = SurplusRoundRobin::<2>::new(1_500, &[1_500, 3_000])?;
/// let mut sender = Sender::synchronised(scheduler, SenderOptions::default(), Epoch::new(1), now)?;
/// while let Some((_channel, _marker)) = sender.poll_message(now) { /* goes on the channel */ }
/// assert_eq!(sender.handle_packet(now, 1_500)?, 0);
/// assert_eq!(sender.handle_packet(now, 1_500)?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sender<S> {
    initial: S,
    scheduler: S,
    options: SenderOptions,
    epoch: Epoch,
    state: State,
    /// When it was asked last.
    now: Instant,
    /// Channels on which a marker, or while resetting a reset, is to go.
    due: ChannelSet,
    /// Channels whose links take nothing just now.
    blocked: ChannelSet,
    /// Markers go when this round comes to their channel.
    marker_round: Round,
    /// Markers go at this time at the latest.
    marker_at: Instant,
    idle: Idle,
    changes: Changes,
    presence: Presence,
    sizes: Sizes,
    sent: SentByChannel,
    reported: ReportedByChannel,
    /// What may be in flight on each channel, if that is controlled; it chooses where the choice is
    /// free.
    paths: Option<Paths>,
    /// What can be sent again, if anything is.
    repairs: Option<Repairs>,
    /// When a request for a reset was last heeded, and for how long none is after that.
    heeded: Option<(Instant, Duration)>,
    sending: Sending,
    /// The class of the packet that waits.
    waiting: Class,
}

impl<S: Numbered> Sender<S> {
    /// An end that begins with a reset to this epoch, later than any that it remembers.
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

    /// An end that sends at once, to a receiver that is known to have started in the same epoch: that
    /// by which a handshake named the session.
    pub fn synchronised(
        scheduler: S,
        options: SenderOptions,
        epoch: Epoch,
        now: Instant,
    ) -> Result<Self, OptionsError> {
        let channels = scheduler.channels();
        options.check(channels)?;
        let paths = options.paths(&scheduler)?;
        let mut sender = Self {
            paths,
            marker_round: scheduler.round(),
            changes: Changes::new(&scheduler),
            initial: scheduler.clone(),
            scheduler,
            options,
            epoch,
            now,
            state: State::Open,
            due: 0,
            blocked: 0,
            marker_at: now,
            idle: Idle::new(&options.markers, now),
            presence: Presence::new(channels, options.present(channels)),
            sizes: Sizes::new(&options, channels),
            sent: SentByChannel::new(channels),
            reported: ReportedByChannel::new(channels),
            heeded: None,
            repairs: options.repair.map(|plan| Repairs::new(plan, channels)),
            sending: Sending::default(),
            waiting: Class::Spread,
        };
        sender.open(now);
        Ok(sender)
    }

    /// The channel of the next packet, or nothing while none may go.
    fn next_channel(&self, now: Instant, length_bytes: u32, class: Class) -> Option<usize> {
        if !self.is_open() {
            return None;
        }
        if let (Order::Free, Some(paths)) = (self.options.order, &self.paths) {
            return paths.choose(now, class, |channel| {
                self.sizes.fits(channel, length_bytes) && self.takes(channel, length_bytes)
            });
        }
        let channel = self.scheduler.current();
        let is_full = self.paths.as_ref().is_some_and(|paths| !paths.admits(channel, now));
        let takes = self.takes(channel, length_bytes) && self.sizes.fits(channel, length_bytes);
        (takes && !is_full).then_some(channel)
    }

    /// Why a packet may not go.
    #[cold]
    fn held_back(&mut self, length_bytes: u32, class: Class) -> SendError {
        self.wait_with(length_bytes, class);
        let channel = self.scheduler.current();
        if !self.is_open() {
            SendError::Resetting
        } else if !self.fits_somewhere(length_bytes) {
            SendError::TooLong { longest_bytes: self.longest_bytes() }
        } else if self.options.order == Order::Strict && !self.has_credit(channel, length_bytes) {
            SendError::NoCredit { channel }
        } else {
            SendError::FlightFull { channel }
        }
    }

    /// A packet that is not taken waits.
    const fn wait_with(&mut self, length_bytes: u32, class: Class) {
        self.sizes.wait_with(length_bytes);
        self.waiting = class;
    }

    /// Whether a channel is there and in, its link takes something, and it has credit for a packet of
    /// so many bytes; with 0 for any.
    fn takes(&self, channel: usize, length_bytes: u32) -> bool {
        self.carries(channel) && !self.is_blocked(channel) && self.has_credit(channel, length_bytes)
    }

    /// Whether packets are taken.
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// The present epoch.
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// How the channel of a packet is chosen.
    pub const fn order(&self) -> Order {
        self.options.order
    }

    /// The scheduler, to look at; it has no part in a free choice.
    pub const fn scheduler(&self) -> &S {
        &self.scheduler
    }

    /// What was sent on a channel in this epoch.
    pub fn sent(&self, channel: usize) -> Sent {
        self.sent.on(channel)
    }

    /// What the receiver last said of a channel in this epoch.
    pub fn reported(&self, channel: usize) -> Option<Reported> {
        self.reported.on(channel)
    }

    /// What has been counted.
    pub const fn sending(&self) -> &Sending {
        &self.sending
    }

    /// A packet is to be sent: on the channel returned, after the messages given out before.
    pub fn handle_packet(&mut self, now: Instant, length_bytes: u32) -> Result<usize, SendError> {
        self.send(now, length_bytes, Class::Spread)
    }

    fn send(&mut self, now: Instant, length_bytes: u32, class: Class) -> Result<usize, SendError> {
        self.wake(now);
        let Some(channel) = self.next_channel(now, length_bytes, class) else {
            return Err(self.held_back(length_bytes, class));
        };
        let longest_bytes = self.scheduler.longest_bytes();
        if length_bytes == 0 || length_bytes > longest_bytes {
            return Err(SendError::BadLength { length_bytes, longest_bytes });
        }
        if self.options.order == Order::Strict {
            self.scheduler.charge(length_bytes);
        }
        self.sent.add(channel, length_bytes);
        self.sizes.sent(now, channel, length_bytes);
        if let Some(paths) = &mut self.paths {
            paths.sent(channel, now, length_bytes);
        }
        self.sending.packets += 1;
        self.sending.bytes += u64::from(length_bytes);
        if self.changes.are_under_way() {
            self.follow_changes(now, channel);
        }
        self.mark_by_round(now);
        self.see_turn(now);
        Ok(channel)
    }

    /// The next message, and the channel on which it goes before any packet to come.
    pub fn poll_message(&mut self, now: Instant) -> Option<(usize, Message)> {
        self.now = now;
        self.advance(now);
        self.sizes.pad_nothing();
        let due = self.poll_left().or_else(|| self.poll_due(now));
        let (channel, kind) = due.or_else(|| self.poll_probe(now))?;
        Some((channel, Message::about(channel, self.scheduler.channels(), self.epoch, kind)))
    }

    fn poll_due(&mut self, now: Instant) -> Option<(usize, Kind)> {
        self.due &= first_channels(self.scheduler.channels());
        let channel = take_lowest(&mut self.due)?;
        let kind = match self.state {
            State::Open => self.marker(channel, now),
            State::Resetting { .. } => Kind::Reset { quantum: self.target_quantum(channel) },
        };
        Some((channel, kind))
    }

    /// When there will be a message though nothing happens.
    pub fn poll_timeout(&self) -> Instant {
        match self.state {
            State::Open if self.due != 0 || self.sizes.are_due() => self.now,
            State::Open => {
                let at = self.marker_at.min(self.presence.look_at());
                let others = self.paced_until().into_iter().chain(self.sizes.next_at());
                others.fold(at, Instant::min)
            }
            State::Resetting { acknowledged: 0, again_at, .. } => again_at,
            State::Resetting { again_at, open_at, .. } => again_at.min(open_at),
        }
    }

    /// From when on a pace lets a packet go, where that alone holds it back; when a controller wants
    /// to be asked.
    fn paced_until(&self) -> Option<Instant> {
        let paths = self.paths.as_ref()?;
        let paced = match self.options.order {
            Order::Free => paths.next_at(self.now, self.waiting, |channel| {
                self.sizes.fits_waiting(channel) && self.takes(channel, 0)
            }),
            Order::Strict => {
                paths.next_at(self.now, Class::Spread, |one| one == self.scheduler.current())
            }
        };
        paced.into_iter().chain(paths.poll_timeout()).min()
    }

    /// A message of the receiver has come, on the way back of this channel.
    pub fn handle_message(
        &mut self,
        now: Instant,
        channel: usize,
        message: Message,
    ) -> Result<(), Discard> {
        let checked = match message.check(channel, self.scheduler.channels()) {
            // Who asks may be wrong about the numbers of channels, too, until there is a reset.
            Err(Discard::OtherChannel) if message.kind == Kind::ResetRequested => Ok(()),
            checked => checked,
        };
        let taken = checked.and_then(|()| self.take_message(now, channel, message));
        self.sending.discards.count(taken)
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
            Err(error) => self.sending.discards.count(Err(Discard::Malformed(error))),
        }
    }

    /// Both ends are to start anew, in the next epoch.
    pub fn reset(&mut self, now: Instant) {
        self.start_reset(self.epoch.next(), now);
    }

    fn take_message(
        &mut self,
        now: Instant,
        channel: usize,
        message: Message,
    ) -> Result<(), Discard> {
        match message.kind {
            Kind::Marker(_) | Kind::Reset { .. } | Kind::Left(_) => Err(Discard::OtherEnd),
            Kind::Acknowledged => self.acknowledge(now, channel, message.epoch),
            Kind::ResetRequested if self.epoch.is_after(message.epoch) => Err(Discard::StaleEpoch),
            Kind::ResetRequested => self.heed_request(message.epoch, now),
            Kind::Report(_) | Kind::Nack(_) | Kind::LeftAcknowledged(_)
                if !self.is_open() || message.epoch != self.epoch =>
            {
                Err(Discard::StaleEpoch)
            }
            Kind::Report(report) => {
                let reported = Reported { at: now, report };
                self.reported.take(channel, reported);
                self.sizes.hear(now, channel, &report);
                self.hear(channel, reported);
                self.agree(now, channel, report.coming_from);
                self.let_go(now);
                let can_be = self.follow_rates(now, channel, &report);
                if can_be { Ok(()) } else { Err(Discard::BadCounts) }
            }
            Kind::Nack(nack) => self.retransmit(now, channel, nack),
            Kind::LeftAcknowledged(departure) => self.acknowledge_left(departure),
        }
    }

    /// What time alone brings about.
    fn advance(&mut self, now: Instant) {
        if let Some(paths) = &mut self.paths {
            paths.handle_timeouts(now);
        }
        self.check_reset(now);
        match &mut self.state {
            State::Open => {
                let look_at = self.presence.look_at();
                if look_at <= now || look_at > now.after(self.options.markers.pause_max()) {
                    self.look(now);
                }
                self.advance_sizes(now);
                if self.marker_at <= now {
                    self.mark_by_time(now);
                }
            }
            State::Resetting { acknowledged, open_at, .. }
                if *acknowledged != 0 && *open_at <= now =>
            {
                self.open(now);
            }
            State::Resetting { acknowledged, again_at, .. } if *again_at <= now => {
                // None is dead before it has had the time to acknowledge.
                let absent = self.presence.all(Life::Absent);
                let all = first_channels(self.scheduler.channels());
                self.due = all & !absent & !*acknowledged;
                *again_at = now.after(self.options.reset_interval);
            }
            State::Resetting { .. } => {}
        }
    }
}
