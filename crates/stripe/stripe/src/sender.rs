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
mod idle;
mod options;
mod paths;
mod presence;
mod quarantine;
mod repairs;
mod reported;
mod retransmission_buffer;
mod seen;
mod sent;
mod shares;
mod sizes;
mod units;

use crate::charge::USUAL_BYTES;
use crate::{
    ChannelError, ChannelSet, Charge, Discard, Epoch, Instant, Kind, Message, Numbered,
    OptionsError, Report, SendError, first_channels, take_lowest,
};
use changes::Changes;
pub use class::Class;
pub use control::{BbrPlan, ControlPlan, Controlled, Flight, Order, SharePlan};
use core::time::Duration;
use gingham_fairq::{Round, Standing};
use idle::Idle;
pub use options::{MarkerPlan, SenderOptions, Sending};
use paths::Paths;
pub use presence::Wait;
use presence::{Life, Presence};
use quarantine::Quarantine;
use repairs::Repairs;
pub use repairs::{Repair, RepairPlan};
pub use reported::Reported;
use reported::ReportedByChannel;
pub use retransmission_buffer::RetransmissionBuffer;
pub use sent::Sent;
use sent::SentByChannel;
use sizes::Sizes;
pub use sizes::{Size, SizePlan, SizeState};

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
    /// Channels that get copies instead of packets.
    quarantine: Quarantine,
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
            quarantine: Quarantine::new(channels),
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

    /// Whether a channel accepts a packet of `length_bytes`: it is active, its link is not blocked, it
    /// has credit, and quarantine does not exclude it. A length of 0 requires credit for
    /// the longest packet.
    fn takes(&self, channel: usize, length_bytes: u32) -> bool {
        self.carries(channel)
            && !self.is_blocked(channel)
            && self.has_credit(channel, length_bytes)
            && !(self.quarantine.has(channel) && self.is_left_out(channel, length_bytes))
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
                self.weigh_losses(now, channel, &report);
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

// Channels that come, go and move while the ends run.
//
// ```text
//   slot 0   there            the scheduler has as many slots as there can be channels, the cap; a
//   slot 1   absent           channel's id is the number of its slot
//   slot 2   there
// ```
//
// A channel that goes is one that was lost: Left says so on all others, and what was on its way
// goes again over them. One that comes is one that is alive again, of which nothing is known: it is
// announced to come in. Its numbers go on where those of the channel before it in the slot ended, so
// what is late of that one is a late packet, and no number is used twice in an epoch. The receiver is
// told by Left and by markers alone.
//
// A channel that is the last which is in, and goes while others are still to come in, stays in the
// scheduler until one of them is in; nothing goes on it.
//
// Source: ours; that a channel which moves begins anew is RFC 9000, section 9.4.
//
// Invariants: some channel is there; nothing is given out for one that is not.

impl<S: Numbered> Sender<S> {
    /// Whether there is a channel of this id.
    pub fn is_there(&self, id: usize) -> bool {
        id < self.scheduler.channels() && !self.presence.is(id, Life::Absent)
    }

    /// A channel is there from now on: it comes in once the receiver knows, with the quantum that it is
    /// to have.
    pub fn add_channel(&mut self, now: Instant, id: usize) -> Result<(), ChannelError> {
        self.check_id(id)?;
        if self.is_there(id) {
            return Err(ChannelError::AlreadyThere { id });
        }
        self.begin(now, id, Life::Alive);
        self.announce_targets();
        Ok(())
    }

    /// A channel is there no longer.
    pub fn remove_channel(&mut self, now: Instant, id: usize) -> Result<(), ChannelError> {
        self.check_there(id)?;
        let is_to_be_in = |other: usize| self.is_there(other) && self.target_quantum(other) != 0;
        if !(0..self.scheduler.channels()).any(|other| other != id && is_to_be_in(other)) {
            return Err(ChannelError::Last { id });
        }
        self.presence.remove(id);
        self.due &= !(1 << id);
        if self.is_open() {
            self.lose(id, now);
            self.see_turn(now);
        } else {
            self.await_no_more(now, id);
        }
        Ok(())
    }

    /// A channel has another address at either end: what was learned of it does not hold.
    pub fn move_channel(&mut self, now: Instant, id: usize) -> Result<(), ChannelError> {
        self.check_there(id)?;
        let life = if self.is_dead(id) { Life::Dead } else { Life::Alive };
        self.begin(now, id, life);
        self.presence.probe(id, now, self.options.markers.interval);
        if self.is_open() {
            self.due |= 1 << id;
        }
        Ok(())
    }

    /// Whether packets may go on a channel: it is there and in.
    fn carries(&self, channel: usize) -> bool {
        self.scheduler.standing(channel).is_in() && !self.presence.is(channel, Life::Absent)
    }

    /// Channels that are gone go out, once another is in.
    fn let_go(&mut self, now: Instant) {
        let mut absent = self.presence.all(Life::Absent);
        while let Some(channel) = take_lowest(&mut absent) {
            if self.scheduler.standing(channel).is_in() {
                self.lose(channel, now);
            }
        }
    }

    /// A channel is on another line than before.
    fn begin(&mut self, now: Instant, id: usize, life: Life) {
        self.presence.begin(id, now, life);
        self.sizes.begin(id);
        self.quarantine.forget(id);
        if let Some(paths) = &mut self.paths {
            paths.begin(id);
        }
    }

    fn check_id(&self, id: usize) -> Result<(), ChannelError> {
        let cap = self.scheduler.channels();
        if id < cap { Ok(()) } else { Err(ChannelError::AboveCap { id, cap }) }
    }

    fn check_there(&self, id: usize) -> Result<(), ChannelError> {
        self.check_id(id)?;
        if self.is_there(id) { Ok(()) } else { Err(ChannelError::NotThere { id }) }
    }
}

// What whoever holds the links below the channels knows of them, and reports do not say.
//
// | a link | then |
// |---|---|
// | takes nothing just now, since a queue of ours below it is full | packets and copies go on other channels, or wait where the choice is not free |
// | is there again, or is another one | the channel is asked at once: its next probe, or the end of a rest, may be seconds ahead |
//
// Source: ours.
//
// Invariant: both are hints. What is said of a link that is not so delays, and nothing else.

impl<S: Numbered> Sender<S> {
    /// These channels, a bit each from the lowest, take nothing just now, and all others do. Messages
    /// are given out for them as ever.
    pub const fn set_blocked(&mut self, channels: u64) {
        self.blocked = channels;
    }

    /// A channel has a link again, or another one: a marker, or while resetting a reset, is to go on
    /// it now.
    pub fn ask_channel(&mut self, channel: usize) {
        if self.is_there(channel) {
            self.due |= 1 << channel;
        }
    }

    const fn is_blocked(&self, channel: usize) -> bool {
        self.blocked & 1 << channel != 0
    }
}

// Credits: no packet is sent that the receiver might have no room for.
//
// ```text
//   charged to the channel   0 ............ sent ............ limit
//                                            |<--- credit --->|
// ```
//
// The limit is a count from the beginning of the epoch, not so much more: a report that is lost,
// or that says the same again, does no harm, and the next one puts all right. It may be lower than
// the last one, where the receiver wants room for others: markers give back which one holds.
// Markers need no credit; each brings a report, so credit that came back while a report was lost
// is heard of. While a channel has none they go as often as while packets do.
//
// Source: FCVC of Kung and Chapman (ICNP 1993), which Adiseshu, Parulkar and Varghese 1996,
// section 6.3, put on their markers; bytes, and limits that fall, are ours.
//
// Invariant: what is in flight and what waits at the receiver together fit what it keeps for the
// channel, once a report has come; copies of lost packets, which need no credit, and packets that are
// on their way on a channel when it leaves, aside.

/// Whether a channel has credit for a packet that is charged so much.
fn has_credit(charge: Charge, packet: u32, sent: Sent, report: Option<&Report>) -> bool {
    let limit = report.map_or(charge.first(), |report| report.limit_bytes);
    let sent = charge.of_all(sent.packets, sent.bytes);
    let credit = limit.wrapping_sub(sent).cast_signed();
    u32::try_from(credit).is_ok_and(|credit| credit >= packet)
}

impl<S: Numbered> Sender<S> {
    /// Whether a channel has credit for a packet of `length_bytes`; 0 means the longest packet.
    fn has_credit(&self, channel: usize, length_bytes: u32) -> bool {
        self.options.credits.is_none_or(|charge| self.is_credit_left(charge, channel, length_bytes))
    }

    /// Out of line, for those who need none.
    #[inline(never)]
    fn is_credit_left(&self, charge: Charge, channel: usize, length_bytes: u32) -> bool {
        let packet = match (length_bytes, self.scheduler.longest_bytes()) {
            (0, u32::MAX) => charge.of(USUAL_BYTES),
            (0, longest_bytes) => charge.of(longest_bytes),
            (length_bytes, _) => charge.of(length_bytes),
        };
        let reported = self.reported.on(channel);
        let report = reported.as_ref().map(|reported| &reported.report);
        has_credit(charge, packet, self.sent.on(channel), report)
    }
}

// What goes on one channel in a row: what a network card takes in one go.

/// Packets that may go on a channel one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The channel of the next packets.
    pub channel: usize,
    /// They go there until so many bytes have gone, of which there is at least one: the packet that
    /// reaches them is the last.
    pub bytes: u64,
    /// As long as none of them is longer than that: longer ones may go elsewhere.
    pub longest_bytes: u32,
}

impl<S: Numbered> Sender<S> {
    /// The next packets: at most the rest of the channel's turn, what its window has room for, and a
    /// millisecond at its pace. Each is then given by `handle_packet` or `handle_tagged`, which tells
    /// the same channel. Nothing while none may go: a reset is under way, or the channel whose turn
    /// it is has no credit, or as much in flight as it may have. Ask again after the next message of
    /// the receiver, and after `poll_message`, which takes dead channels out. To be asked where there
    /// is a packet to send: after a rest nothing goes until the markers are polled that it asks for.
    /// The next one is no longer than [`Sender::longest_bytes`].
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        self.poll_transmit_of(now, 0, Class::Spread)
    }

    /// The same for a next packet of so many bytes, which may be longer, and then goes where it
    /// fits, and of this class: packets of another one behind it may go elsewhere.
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
            _ => u64::from(self.scheduler.standing(channel).next.deficit_bytes),
        };
        let ready_bytes =
            self.paths.as_ref().map_or(u64::MAX, |paths| paths.ready_bytes(channel, now));
        let longest_bytes = self.size(channel).longest_bytes;
        Some(Transmit { channel, bytes: turn_bytes.min(ready_bytes), longest_bytes })
    }
}

// Resets: both ends start anew, and data waits until that is acknowledged.
//
// Source: Adiseshu, Parulkar and Varghese 1996, section 5, says that there must be one after a
// crash; how is ours.

/// Between requests that are heeded are at most so many intervals of resets.
const PAUSES_MAX: u32 = 16;

impl<S: Numbered> Sender<S> {
    fn acknowledge(&mut self, now: Instant, channel: usize, epoch: Epoch) -> Result<(), Discard> {
        match &mut self.state {
            State::Resetting { acknowledged, awaited, .. } if epoch == self.epoch => {
                *acknowledged |= 1 << channel;
                if *awaited & !*acknowledged == 0 {
                    self.open(now);
                }
                Ok(())
            }
            // The last ones may come after the wait for them was over.
            State::Open if epoch == self.epoch => {
                self.revive(now, channel);
                Ok(())
            }
            _ => Err(Discard::StaleEpoch),
        }
    }

    /// A channel is not there any more to acknowledge a reset.
    fn await_no_more(&mut self, now: Instant, channel: usize) {
        if let State::Resetting { acknowledged, awaited, .. } = &mut self.state {
            *awaited &= !(1 << channel);
            *acknowledged &= !(1 << channel);
            if *acknowledged != 0 && *awaited & !*acknowledged == 0 {
                self.open(now);
            }
        }
    }

    /// The receiver knows a later epoch, or is out of step. Epochs more than 2^31 apart can each be
    /// later than the next in a circle, and requests on their way keep it going: so after one that
    /// is heeded others are not for a while, and for longer and longer if they go on.
    fn heed_request(&mut self, epoch: Epoch, now: Instant) -> Result<(), Discard> {
        let least = self.options.reset_interval;
        let most = least.saturating_mul(PAUSES_MAX);
        let pause = match self.heeded {
            Some((at, pause)) if now < at.after(pause) => return Err(Discard::TooSoon),
            Some((at, pause)) if now < at.after(pause.saturating_mul(4)) => {
                pause.saturating_mul(2).min(most)
            }
            _ => least,
        };
        self.heeded = Some((now, pause));
        // What a sender that forgot had sent in the epoch after the one named may still be on its
        // way.
        let next = if self.epoch == epoch { epoch.next() } else { epoch.next().next() };
        self.start_reset(next, now);
        Ok(())
    }

    fn start_reset(&mut self, epoch: Epoch, now: Instant) {
        self.epoch = epoch;
        self.restart_scheduler();
        self.changes.restart(self.scheduler.round());
        let (again_at, open_at) = (now, now.after(self.options.reset_wait));
        let awaited = self.presence.all(Life::Alive);
        self.state = State::Resetting { acknowledged: 0, awaited, again_at, open_at };
        self.due = 0;
        self.presence.restart(now);
        self.sizes.restart();
        self.sent.restart();
        self.reported.restart();
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

    /// Data may go, on the channels that have acknowledged; the others are dead, or not there.
    fn open(&mut self, now: Instant) {
        let absent = self.presence.all(Life::Absent);
        let all = first_channels(self.scheduler.channels());
        let mut silent = match self.state {
            State::Resetting { acknowledged, .. } => all & !acknowledged,
            State::Open => absent,
        };
        self.state = State::Open;
        self.due = 0;
        while let Some(channel) = take_lowest(&mut silent) {
            self.lose(channel, now);
        }
        self.look(now);
        self.marker_round = self.scheduler.round();
        self.idle = Idle::new(&self.options.markers, now);
        self.marker_at = now.after(self.pause());
        self.mark_by_round(now);
        // What became a target while the reset was under way.
        self.announce_targets();
    }

    /// All channels begin in the first round, with the quanta that they are to have.
    fn restart_scheduler(&mut self) {
        self.check_targets();
        self.scheduler = self.initial.clone();
        let round = self.scheduler.round();
        for channel in 0..self.scheduler.channels() {
            let standing = Standing::beginning(round, self.target_quantum(channel));
            let set = self.scheduler.set_standing(channel, standing);
            debug_assert!(set.is_ok(), "quanta were checked: {set:?}");
        }
    }
}

#[cfg(test)]
mod links_tests {
    use gingham_fairq::SurplusRoundRobin;

    use crate::{ControlPlan, Epoch, Instant, Kind, Order, SendError, Sender, SenderOptions};

    const NOW: Instant = Instant::from_nanoseconds(50_000_000);

    fn sender(order: Order) -> Sender<SurplusRoundRobin<2>> {
        let scheduler = SurplusRoundRobin::new(1_000, &[1_000, 1_000]).expect("quanta");
        let control = Some(ControlPlan::default());
        let options = SenderOptions { order, control, ..SenderOptions::default() };
        Sender::synchronised(scheduler, options, Epoch::new(1), NOW).expect("options")
    }

    #[test]
    fn packets_go_past_a_blocked_channel_where_the_choice_is_free() {
        for blocked in 0..2 {
            let mut sender = sender(Order::Free);
            sender.set_blocked(1 << blocked);
            assert_eq!(sender.handle_packet(NOW, 1_000), Ok(1 - blocked));
        }
    }

    #[test]
    fn packets_wait_for_a_blocked_channel_where_it_is_not() {
        let mut sender = sender(Order::Strict);
        sender.set_blocked(0b10);
        assert_eq!(sender.handle_packet(NOW, 1_000), Ok(0));
        assert_eq!(sender.poll_transmit(NOW), None);
        let full = Err(SendError::FlightFull { channel: 1 });
        assert_eq!(sender.handle_packet(NOW, 1_000), full);
        sender.set_blocked(0);
        assert_eq!(sender.handle_packet(NOW, 1_000), Ok(1));
    }

    #[test]
    fn a_channel_that_is_asked_has_a_message_at_once() {
        let mut sender = sender(Order::Free);
        while sender.poll_message(NOW).is_some() {}
        sender.ask_channel(1);
        assert_eq!(sender.poll_timeout(), NOW);
        let (channel, message) = sender.poll_message(NOW).expect("it was asked for");
        assert!(channel == 1 && matches!(message.kind, Kind::Marker(_)), "{message:?}");
        assert_eq!(sender.poll_message(NOW), None);
        let scheduler = SurplusRoundRobin::<2>::new(1_000, &[1_000, 1_000]).expect("quanta");
        let options = SenderOptions::default();
        let mut sender = Sender::new(scheduler, options, Epoch::new(1), NOW).expect("options");
        while sender.poll_message(NOW).is_some() {}
        sender.ask_channel(0);
        let (_, message) = sender.poll_message(NOW).expect("it was asked for");
        assert!(matches!(message.kind, Kind::Reset { .. }), "{message:?}");
    }
}

#[cfg(test)]
mod credit_tests {
    use super::*;

    fn after(sent: (u32, u64), limit_bytes: u32, charge: Charge) -> bool {
        let report = Report { limit_bytes, ..Report::default() };
        let (packets, bytes) = sent;
        has_credit(charge, charge.of(1_000), Sent { packets, bytes }, Some(&report))
    }

    #[test]
    fn a_limit_counts_from_the_beginning_and_across_the_wrap() {
        let packets = |sent, limit| after((sent, 0), limit, Charge::PACKETS);
        assert!(packets(6, 7) && !packets(7, 7) && !packets(8, 7));
        assert!(packets(u32::MAX, 0) && packets(u32::MAX - 5, 3));
        assert!(!packets(0, 0) && !packets(1, u32::MAX));
        let bytes = |sent, limit| after(sent, limit, Charge::BYTES);
        assert!(bytes((2, 300), 524 + 1_112) && !bytes((2, 300), 524 + 1_111));
        assert!(bytes((0, (3 << 32) - 112), 1_000) && !bytes((0, (3 << 32) - 112), 999));
    }

    #[test]
    fn a_few_packets_go_before_the_first_report() {
        let (charge, packet) = (Charge::BYTES, Charge::BYTES.of(1_460));
        assert!(has_credit(charge, packet, Sent { packets: 9, bytes: 9 * 1_460 }, None));
        assert!(!has_credit(charge, packet, Sent { packets: 10, bytes: 10 * 1_460 }, None));
    }
}

#[cfg(test)]
mod transmit_tests {
    use gingham_fairq::SurplusRoundRobin;

    use super::*;
    use crate::{ControlPlan, Controlled, Epoch, SenderOptions};

    fn sender(order: Order, control: Option<ControlPlan>) -> Sender<SurplusRoundRobin<2>> {
        let scheduler = SurplusRoundRobin::new(1_000, &[3_000, 2_000]).expect("quanta");
        let options = SenderOptions { order, control, ..SenderOptions::default() };
        Sender::synchronised(scheduler, options, Epoch::new(1), Instant::ORIGIN).expect("options")
    }

    /// Turns of 3,000 and 2,000 bytes, of which a packet takes its part.
    #[test]
    fn a_turn_goes_at_once() {
        let (mut sender, now) = (sender(Order::Strict, None), Instant::ORIGIN);
        let run = |channel, bytes| Some(Transmit { channel, bytes, longest_bytes: 1_000 });
        assert_eq!(sender.poll_transmit(now), run(0, 3_000));
        sender.handle_packet(now, 800).expect("open");
        assert_eq!(sender.poll_transmit(now), run(0, 2_200));
        (0..3).for_each(|_| assert_eq!(sender.handle_packet(now, 800), Ok(0)));
        assert_eq!(sender.poll_transmit(now), run(1, 2_000));
    }

    /// 4 MB/s told: a millisecond is 4,000 bytes, after which one more packet goes.
    #[test]
    fn a_free_run_is_a_millisecond_at_the_pace() {
        let control = ControlPlan { by: Controlled::Told(4_000_000), ..ControlPlan::default() };
        let mut sender = sender(Order::Free, Some(control));
        let now = Instant::from_nanoseconds(50_000_000);
        let run = sender.poll_transmit(now).expect("nothing is in flight");
        assert_eq!(run.bytes, 4_001);
        for _ in 0..5 {
            assert_eq!(sender.handle_packet(now, 1_000), Ok(run.channel));
        }
        let other = sender.poll_transmit(now).expect("the other channel is free");
        assert_ne!(other.channel, run.channel);
    }
}

#[cfg(test)]
mod resets_tests {
    use gingham_fairq::SurplusRoundRobin;

    use super::*;
    use crate::{Kind, SenderOptions};

    #[test]
    fn resets_go_on_channels_that_were_written_over_as_dead() {
        let scheduler = SurplusRoundRobin::<2>::new(1_000, &[1_000, 1_000]).expect("quanta");
        let options = SenderOptions::default();
        let mut sender =
            Sender::new(scheduler, options, Epoch::new(1), Instant::ORIGIN).expect("options");
        while sender.poll_message(Instant::ORIGIN).is_some() {}
        sender.presence.begin(0, Instant::ORIGIN, Life::Dead);
        sender.presence.begin(1, Instant::ORIGIN, Life::Absent);
        let again = Instant::ORIGIN.after(options.reset_interval);
        let (channel, message) = sender.poll_message(again).expect("it goes again");
        assert_eq!((channel, message.kind), (0, Kind::Reset { quantum: 1_000 }));
        assert_eq!(sender.poll_message(again), None);
    }
}
