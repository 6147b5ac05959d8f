//! An end of the pipe: its channels, both ends of the protocol, and the clock.

mod handshakes;
mod sending;
mod shared;

use crate::bare::Bare;
use crate::channel::Channel;
use crate::clock::{Moment, now};
use crate::counts::ChannelCounts;
use crate::encapsulation::Encapsulation;
use crate::error::{OpenError, SlotError};
use crate::framing::{Framing, OVERHEAD_BYTES_MAX};
use crate::link::{LinkKind, LinkPlan, Payload};
use crate::messages::Messages;
use crate::meter::Meter;
use crate::port::Ports;
use crate::run::{RUN_BYTES_MAX, Run};
use crate::scheduler::SchedulerPlan;
use crate::socket::{BufferPlan, Opener};
use crate::striping::{Before, Packet, Preference, Striping, StripingPlan};
use crate::tcp::Listener;
use crate::wait::{Ready, Waiting, Wakeups};
use gingham_stripe::{
    ChannelError, Class, Epoch, Flight, Instant, Reception, Sending, Size, TAG_BYTES, Tag, Wait,
};
use gingham_stripe_crypt::{Peer, PeerPlan, Sender, is_handshake};
pub(crate) use handshakes::REPLIES_A_BATCH;
use handshakes::{Sessions, answer};
pub(crate) use shared::{Origin, Took};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// Datagrams that are taken before anything goes: 4 ms at 10 Gbit/s.
pub(crate) const DATAGRAMS_A_TURN: usize = 4_096;

/// What an end is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndPlan {
    /// What both ends of the protocol are told.
    pub striping: StripingPlan,
    /// The scheduler of both.
    pub scheduler: SchedulerPlan,
    /// How long the buffers of sockets are.
    pub buffers: BufferPlan,
    /// Between two wake-ups there is so much time at least.
    pub granule: Duration,
    /// For whom datagrams are sealed, over UDP; in clear if not given.
    pub peer: Option<PeerPlan>,
    /// As many channels can be there at once, at both ends alike; as many as at the start if not
    /// given.
    pub channels_max: Option<usize>,
    /// The codepoint of differentiated services of what the protocol itself says over UDP, and of
    /// packets of which their source says none: 6 bits (RFC 2474). 0, the best effort of all, if not
    /// given.
    pub dscp: u8,
}

impl EndPlan {
    /// The free order, for packets of at most this length; half a millisecond between wake-ups, half
    /// of what goes at once (`ControlPlan::burst`). Beside a quarter of one, of two or three runs in
    /// turn, it took 13.6 CPU seconds a gigabyte for 18.1 at 100 + 300 Mbit/s, 17.3 for 22.9 there
    /// with 10 ms and 64 kB, and 90 for 126 at 10 + 20, where TCP had as much or more
    /// (`benches/striping_daemon.py`). With a whole one any delay is more than the burst makes good.
    pub fn free(longest_bytes: u32) -> Self {
        Self {
            striping: StripingPlan::free(longest_bytes),
            scheduler: SchedulerPlan::default(),
            buffers: BufferPlan::default(),
            granule: Duration::from_micros(500),
            peer: None,
            channels_max: None,
            dscp: 0,
        }
    }
}

impl EndPlan {
    /// How many channels there can be, where there are so many at the start.
    fn cap(&self, channels: usize) -> Result<usize, OpenError> {
        let cap = self.channels_max.unwrap_or(channels);
        if cap < channels { Err(OpenError::AboveCap { channels, cap }) } else { Ok(cap) }
    }
}

/// Where the packets come from that are to be sent.
pub trait Source {
    /// How long the next one is, if there is one: at least a byte.
    fn next_bytes(&mut self) -> Option<usize>;

    /// The traffic class of the datagram in which it goes over UDP: DSCP and ECN, as both stand in a
    /// header of IP (RFC 2474, RFC 3168). Where it says none it is that of messages, and nothing on
    /// the way may mark it. A run of datagrams in one call ends where the class changes.
    fn next_traffic_class(&mut self) -> Option<u8> {
        None
    }

    /// How that one is to go.
    fn next_class(&self) -> Class {
        Class::Spread
    }

    /// Writes it behind what the buffer holds.
    fn take(&mut self, buffer: &mut Vec<u8>);
}

/// An end of the pipe.
///
/// ```no_run
/// use gingham_stripe::Epoch;
/// use gingham_stripe_udp::{ChannelPlan, End, EndPlan, Source};
///
/// # fn run(channels: Vec<ChannelPlan>, mut packets: impl Source) -> Result<(), Box<dyn std::error::Error>> {
/// let mut end = End::open(&EndPlan::free(1_460), channels, Epoch::new(1))?;
/// loop {
///     end.receive();
///     while let Some(packet) = end.next_packet() {
///         // It is the next in order.
///         drop(packet);
///     }
///     end.transmit(&mut packets);
///     end.wait(None, &[])?;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct End {
    /// By their ids: where there is none, it can be added.
    channels: Vec<Option<Channel>>,
    kind: LinkKind,
    /// Where connections come, of channels that listen.
    listeners: Vec<Listener>,
    striping: Striping,
    encapsulation: Encapsulation,
    sessions: Sessions,
    run: Run,
    messages: Messages,
    waiting: Waiting,
    buffers: BufferPlan,
    /// Those that it has in common with other ends, if it has.
    ports: Ports,
    /// By how much a datagram is longer than what the protocol counts of it.
    check_bytes: usize,
    /// The traffic class of messages.
    class: u8,
    /// Packets that were longer than any channel takes.
    too_long: u64,
}

impl End {
    /// Opens links, all over UDP and TCP or all over Ethernet, for channels that are numbered from 0,
    /// and begins with an epoch later than any that the other end remembers; where datagrams are sealed
    /// a handshake names the session, and its epochs. The calling thread is woken to the nanosecond
    /// from then on.
    pub fn open(
        plan: &EndPlan,
        channels: Vec<impl Into<LinkPlan>>,
        epoch: Epoch,
    ) -> Result<Self, OpenError> {
        Self::open_at(now(), plan, channels, epoch)
    }

    /// As [`Self::open`], at a time that is told.
    pub fn open_at(
        now: Instant,
        plan: &EndPlan,
        channels: Vec<impl Into<LinkPlan>>,
        epoch: Epoch,
    ) -> Result<Self, OpenError> {
        let channels = channels.into_iter().map(|one| (one.into(), None)).collect();
        let waiting = Waiting::new(plan.granule).map_err(OpenError::Timer)?;
        Self::open_on(now, plan, channels, epoch, (Ports::default(), waiting))
    }

    /// The same, on ports that it may have in common with other ends, as the thread waits for them, with
    /// sockets that openers give, where there are any: nothing of it takes a right.
    pub(crate) fn open_on(
        now: Instant,
        plan: &EndPlan,
        channels: Vec<(LinkPlan, Option<Opener>)>,
        epoch: Epoch,
        (ports, waiting): (Ports, Waiting),
    ) -> Result<Self, OpenError> {
        let (channels, openers): (Vec<_>, Vec<_>) = channels.into_iter().unzip();
        let (kind, encapsulation) = encapsulation(plan, &channels, now)?;
        let check_bytes = encapsulation.data_bytes(&Tag::default(), 0).saturating_sub(TAG_BYTES);
        let headers = channels.iter().map(LinkPlan::header_bytes).max().unwrap_or(0);
        let before = Before {
            header_bytes: headers + u32::try_from(check_bytes).expect("a check is short"),
            prefix_bytes: encapsulation.prefix_bytes(),
        };
        let cap = plan.cap(channels.len())?;
        let scheduler = plan.scheduler.scheduler(plan.striping.longest_bytes, cap)?;
        let striping = plan.peer.as_ref().map_or(plan.striping, |peer| {
            plan.striping.between(&peer.private.public(), &peer.peer)
        });
        let mut sessions = Sessions::new(&striping, scheduler, before);
        let mut listeners = Vec::new();
        for (channel, (one, opener)) in channels.iter().zip(&openers).enumerate() {
            sessions.set_slot(channel, true, one.passes_all());
            let listening = listen_on(&mut listeners, channel, one, opener.as_ref());
            listening.map_err(|error| OpenError::Socket { channel, error })?;
        }
        let reset_to = encapsulation.peer().is_none().then_some(epoch);
        let striping = sessions.striping(reset_to, now)?;
        let open = |(channel, (one, opener))| {
            let opened = Channel::open(one, (plan.buffers, &ports), opener, now);
            opened.map(Some).map_err(|error| OpenError::Socket { channel, error })
        };
        let mut channels: Vec<_> =
            channels.into_iter().zip(openers).enumerate().map(open).collect::<Result<_, _>>()?;
        channels.resize_with(cap, || None);
        Ok(Self {
            channels,
            kind,
            listeners,
            striping,
            encapsulation,
            sessions,
            run: Run::default(),
            messages: Messages::new(cap),
            waiting,
            buffers: plan.buffers,
            ports,
            check_bytes,
            class: plan.dscp << 2,
            too_long: 0,
        })
    }

    /// Takes what has come on all channels, in the order of time.
    pub fn receive(&mut self) {
        self.receive_by(Moment::read);
    }

    /// As [`Self::receive`], at a time that is told: by it links in memory have their times.
    pub fn receive_at(&mut self, now: Instant) {
        self.receive_by(|| Moment::told(now));
    }

    pub(crate) fn receive_by(&mut self, read: impl Fn() -> Moment) {
        let moment = read();
        self.admit(moment.now);
        for channel in 0..self.channels.len() {
            self.fill(channel, &moment);
        }
        let mut left = DATAGRAMS_A_TURN;
        while let Some(channel) = self.first_come() {
            let Some(datagrams) = self.take_batch(channel, moment.now) else { break };
            left = left.saturating_sub(datagrams);
            let one = self.channels[channel].as_ref();
            if one.is_some_and(Channel::may_have_more) && left > 0 {
                self.fill(channel, &read());
            }
        }
        self.striping.settle(moment.now);
    }

    /// Takes the next batch of a channel: how many datagrams it was.
    fn take_batch(&mut self, channel: usize, now: Instant) -> Option<usize> {
        let Self { encapsulation, striping, sessions, class, .. } = self;
        let one = self.channels[channel].as_mut()?;
        let remote = one.link.remote();
        let (datagrams, batch) = one.take(encapsulation.peer().is_some())?;
        let Some(batch) = batch else { return Some(datagrams) };
        let from = batch.from;
        let taken = handshakes::take(batch, (channel, remote), encapsulation, striping, sessions);
        one.counts.strange += taken.strange;
        if let Some(remote) = taken.moved_to {
            handshakes::follow_remote(one, striping, channel, remote);
        }
        for reply in &taken.replies {
            if one.tell(now, from, (reply, *class)) {
                striping.lose(channel);
            }
        }
        Some(datagrams)
    }

    /// The channel on which something came first of what is not taken.
    fn first_come(&self) -> Option<usize> {
        let come = |(number, channel): (usize, &Option<Channel>)| {
            Some((channel.as_ref()?.next_at()?, number))
        };
        let first = self.channels.iter().enumerate().filter_map(come).min();
        first.map(|(_, number)| number)
    }

    fn fill(&mut self, channel: usize, moment: &Moment) {
        if self.channels[channel].as_mut().is_some_and(|one| one.receive(moment)) {
            self.striping.lose(channel);
        }
    }

    /// The next packet in the order of the other end.
    pub fn next_packet(&mut self) -> Option<Packet> {
        self.striping.next_packet()
    }

    /// Waits until something is to be done, one of these is readable, or it is so late. Tells which
    /// of these may be.
    pub fn wait(&mut self, until: Option<Instant>, also: &[BorrowedFd<'_>]) -> io::Result<Ready> {
        // It is counted while sockets are looked at.
        let mut waiting = self.waiting;
        let fds = self.fds();
        let (ours, fds) = (fds.len(), [&fds[..], also].concat());
        let due_at = self.due_at();
        let until = until.map_or(due_at, |until| until.min(due_at));
        let ready = waiting.wait(until, &fds, &self.writable_fds());
        self.waiting = waiting;
        let ready = ready?;
        self.set_ready(ready);
        Ok(ready.from(ours))
    }

    /// How many channels there can be at once: their ids are below that.
    pub fn channels(&self) -> usize {
        self.channels.len()
    }

    /// The address of a channel's socket, as long as it has one: where it listens, of that which
    /// does.
    pub fn local(&self, channel: usize) -> Option<SocketAddr> {
        let listener = self.listeners.iter().find(|listener| listener.serves(channel));
        let link = || self.channels[channel].as_ref()?.link.local();
        listener.map_or_else(link, Listener::local)
    }

    /// Whether packets are taken: the other end has answered.
    pub fn is_open(&self) -> bool {
        self.encapsulation.peer().is_none_or(Peer::can_seal) && self.striping.sender().is_open()
    }

    /// Whether packets go on a channel.
    pub fn is_in(&self, channel: usize) -> bool {
        self.striping.is_in(channel)
    }

    /// The longest packet that this end takes now, in bytes: what whoever fills the pipe had better
    /// send, as the MTU of an interface. It is that of the smallest of the channels that are in and
    /// of which it is known what they pass, and follows as they come, go, shrink and grow. A longer
    /// one goes where it fits, if the order is free, and nowhere if it fits none.
    pub fn longest_bytes(&self) -> u32 {
        self.striping.bundle_bytes()
    }

    /// How long the frames and packets of a channel may be, and where the search for that stands.
    pub fn size(&self, channel: usize) -> Size {
        self.striping.sender().size(channel)
    }

    /// For how long what is missing on a channel is waited for, since datagrams came out of order
    /// there: not at all where none have.
    pub fn reordering_window(&self, channel: usize) -> Duration {
        self.striping.window(channel)
    }

    /// What has been found out of a channel.
    pub fn flight(&self, channel: usize) -> Option<Flight> {
        self.striping.sender().flight(channel)
    }

    /// The time there and back through the pipe but for its queues, where it is known.
    pub fn round_trip_least(&self) -> Option<Duration> {
        self.striping.sender().round_trip_least()
    }

    /// What was counted of a channel's sockets since it was added.
    pub fn counts(&self, channel: usize) -> ChannelCounts {
        self.channels[channel].as_ref().map_or_else(ChannelCounts::default, |one| one.counts)
    }

    /// What the sender has counted.
    pub fn sending(&self) -> &Sending {
        self.striping.sender().sending()
    }

    /// What the receiver has counted.
    pub fn reception(&self) -> &Reception {
        self.striping.reception()
    }

    /// What has been counted of wake-ups.
    pub const fn wakeups(&self) -> &Wakeups {
        &self.waiting.wakeups
    }

    /// Packets that were longer than any channel takes, and did not go.
    pub const fn too_long(&self) -> u64 {
        self.too_long
    }
}

/// How what goes is wrapped: as the kind of the channels says.
fn encapsulation(
    plan: &EndPlan,
    channels: &[LinkPlan],
    now: Instant,
) -> Result<(LinkKind, Encapsulation), OpenError> {
    let kind = channels.first().map_or(LinkKind::Datagrams, LinkPlan::kind);
    if channels.iter().any(|one| one.kind() != kind) {
        return Err(OpenError::Kinds(
            "all are over UDP and TCP, or all over Ethernet, with offload or without",
        ));
    }
    let longest_bytes = plan.striping.longest_bytes;
    let LinkKind::Ethernet { is_offloaded } = kind else {
        if !plan.striping.has_tags() {
            return Err(OpenError::Kinds("UDP reorders, so that packets need tags"));
        }
        check_longest(longest_bytes)?;
        let peer = plan.peer.as_ref().map(|plan| Peer::new(plan, now)).transpose()?;
        return Ok((kind, Encapsulation::Datagrams(Box::new(Framing::new(peer)))));
    };
    if plan.striping.has_tags() || plan.peer.is_some() {
        return Err(OpenError::Kinds("frames of Ethernet have neither tags nor a key"));
    }
    Ok((kind, Encapsulation::Bare(Bare::new(longest_bytes as usize, is_offloaded))))
}

/// Whether a packet, or its copy, fits a datagram.
fn check_longest(longest_bytes: u32) -> Result<(), OpenError> {
    let bytes_max = RUN_BYTES_MAX - OVERHEAD_BYTES_MAX;
    if longest_bytes as usize > bytes_max {
        return Err(OpenError::LongestPacket { longest_bytes, bytes_max });
    }
    Ok(())
}

// How channels are to be used, and by whom what they carry is counted.

impl End {
    /// A channel is to be used so from now on, in every session.
    pub fn prefer(&mut self, id: usize, preference: Preference) {
        self.sessions.prefer(id, preference);
        self.striping.prefer(id, preference);
    }

    /// What a channel carries is counted from now on. Where the meter grants nothing more the channel is
    /// out, and comes in when a probe on it is granted and answered.
    pub fn set_meter(&mut self, id: usize, plan: &LinkPlan, meter: Box<dyn Meter>) {
        if let Some(one) = &mut self.channels[id] {
            one.metering.set(meter, plan.wire_bytes());
        }
    }

    /// What the meter of a channel has counted, if it has one, in bytes with the headers of IP and UDP or
    /// TCP.
    pub fn metered_bytes(&self, id: usize) -> Option<u64> {
        self.channels[id].as_ref()?.metering.used()
    }
}

// Status of channels, and notifications of network changes.

/// Why no packet goes on a channel just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelWait {
    /// Its interface, its address or its route is gone, or its connection over; it is tried again.
    NoLink,
    /// Its connection is not there yet.
    Connecting,
    /// The other end has no address yet: it is learned from what comes.
    NoRemote,
    /// The other end has not shaken hands yet.
    NoHandshake,
    /// What the protocol says.
    Protocol(Wait),
}

impl End {
    /// Why no packet goes on a channel just now, if none does.
    pub fn wait_of(&self, channel: usize) -> Option<ChannelWait> {
        let absent = ChannelWait::Protocol(Wait::Absent);
        let Some(one) = self.channels.get(channel).and_then(Option::as_ref) else {
            return Some(absent);
        };
        let peer = self.encapsulation.peer();
        if one.link.is_connecting() {
            Some(ChannelWait::Connecting)
        } else if !one.link.is_open() {
            Some(ChannelWait::NoLink)
        } else if peer.is_some() && one.link.remote().is_none() {
            Some(ChannelWait::NoRemote)
        } else if !peer.is_none_or(Peer::can_seal) {
            Some(ChannelWait::NoHandshake)
        } else {
            self.striping.wait_of(channel).map(ChannelWait::Protocol)
        }
    }

    /// Whether packets go on a channel: it is in, has a link, and they can be sealed.
    pub fn is_carrying(&self, channel: usize) -> bool {
        let one = self.channels.get(channel).and_then(Option::as_ref);
        one.is_some_and(|one| one.link.is_open()) && self.is_open() && self.is_in(channel)
    }

    /// What the kernel said last of a link that is gone.
    pub fn link_error(&self, channel: usize) -> Option<io::Error> {
        let one = self.channels.get(channel)?.as_ref()?;
        let gone_by = one.gone_by.filter(|_| !one.link.is_open());
        gone_by.map(io::Error::from_raw_os_error)
    }

    /// Where the other end of a channel is, if that is known.
    pub fn remote(&self, channel: usize) -> Option<SocketAddr> {
        self.channels.get(channel)?.as_ref()?.link.remote()
    }

    /// Something has changed in the network: links that are gone are tried at once, and channels that
    /// are out are asked, without waiting for the time at which they would be.
    pub fn look_anew(&mut self) {
        let now = self.striping.advance(now());
        for id in 0..self.channels.len() {
            let Some(one) = &mut self.channels[id] else { continue };
            one.look_anew(now);
            if one.link.is_open() && !self.striping.is_in(id) {
                self.striping.ask(id);
            }
        }
    }

    /// A channel goes another way than before, over the same socket: what was learned of it does not
    /// hold, and the other end hears from it at once.
    pub fn forget_path(&mut self, id: usize) -> Result<(), ChannelError> {
        self.striping.advance(now());
        self.striping.move_channel(id)?;
        self.striping.ask(id);
        Ok(())
    }

    /// This machine does not have an address any more: links from there are gone.
    pub fn lose_address(&mut self, address: IpAddr) {
        let now = self.striping.advance(now());
        for id in 0..self.channels.len() {
            let Some(one) = &mut self.channels[id] else { continue };
            if one.link.local().is_some_and(|local| local.ip().to_canonical() == address) {
                one.lose_link(now);
                self.striping.lose(id);
            }
        }
    }
}

// Channels that come, go and move while the pipe runs.
//
// ```text
//   id 0   socket, the protocol's channel 0      ids are the slots of the protocol, at both ends
//   id 1   no socket, no channel                 alike
//   id 2   socket, the protocol's channel 2
// ```
//
// Each end adds and removes channels of its own accord, in any order: until the other end has one
// too, it is silent, and out. What was on its way on a channel that is removed goes again over the
// others, where lost packets do.
//
// Invariant: there is a socket, or one that is opened anew, where the protocol has a channel, and
// nowhere else.

impl End {
    /// A channel is there from now on: its socket is opened, and packets go on it once the other
    /// end has answered.
    pub fn add_channel(&mut self, id: usize, plan: impl Into<LinkPlan>) -> Result<(), SlotError> {
        self.add_channel_by(id, plan, None)
    }

    /// The same, with sockets that this gives, now and later, if it is there.
    pub fn add_channel_by(
        &mut self,
        id: usize,
        plan: impl Into<LinkPlan>,
        opener: Option<Opener>,
    ) -> Result<(), SlotError> {
        if self.slot(id)?.is_some() {
            return Err(ChannelError::AlreadyThere { id }.into());
        }
        self.place(id, plan.into(), opener)?;
        Ok(self.striping.add_channel(id)?)
    }

    /// A channel is there no longer, and its socket is closed.
    pub fn remove_channel(&mut self, id: usize) -> Result<(), ChannelError> {
        self.striping.advance(now());
        self.striping.remove_channel(id)?;
        self.set_slot(id, false, false);
        *self.slot(id)? = None;
        forget_listener(&mut self.listeners, id);
        Ok(())
    }

    /// A channel begins or ends elsewhere from now on: it has another socket, and what was learned of
    /// it does not hold.
    pub fn move_channel(&mut self, id: usize, plan: impl Into<LinkPlan>) -> Result<(), SlotError> {
        self.move_channel_by(id, plan, None)
    }

    /// The same, with sockets that this gives, now and later, if it is there.
    pub fn move_channel_by(
        &mut self,
        id: usize,
        plan: impl Into<LinkPlan>,
        opener: Option<Opener>,
    ) -> Result<(), SlotError> {
        if self.slot(id)?.is_none() {
            return Err(ChannelError::NotThere { id }.into());
        }
        self.place(id, plan.into(), opener)?;
        Ok(self.striping.move_channel(id)?)
    }

    /// A channel is where its plan says from now on, wherever it was before, if anywhere.
    fn place(
        &mut self,
        id: usize,
        plan: LinkPlan,
        opener: Option<Opener>,
    ) -> Result<(), SlotError> {
        let (sockets, now) = ((self.buffers, &self.ports.clone()), self.striping.advance(now()));
        if plan.kind() != self.kind {
            return Err(SlotError::Kind { id });
        }
        let refused = |error| SlotError::Socket { id, error };
        let passes_all = plan.passes_all();
        let listeners = &mut self.listeners;
        forget_listener(listeners, id);
        listen_on(listeners, id, &plan, opener.as_ref()).map_err(refused)?;
        let placed = match self.slot(id)? {
            Some(one) => one.relocate(plan, sockets, opener, now),
            free => Channel::open(plan, sockets, opener, now).map(|one| *free = Some(one)),
        };
        placed.map_err(refused)?;
        self.set_slot(id, true, passes_all);
        Ok(())
    }

    /// The other end of a channel over UDP has this address, which was not known until now: what was learned
    /// of the channel holds.
    pub fn set_remote(&mut self, id: usize, remote: SocketAddr) {
        if let Some(one) = &mut self.channels[id] {
            one.lead(remote);
        }
    }

    /// Whether there is a channel of this id.
    pub fn is_there(&self, id: usize) -> bool {
        self.channels.get(id).is_some_and(Option::is_some)
    }

    /// What of a channel holds for the session that is, and for those that begin later.
    fn set_slot(&mut self, id: usize, is_there: bool, passes_all: bool) {
        self.sessions.set_slot(id, is_there, passes_all);
        self.striping.set_passes_all(id, passes_all);
    }

    fn slot(&mut self, id: usize) -> Result<&mut Option<Channel>, ChannelError> {
        let cap = self.channels.len();
        self.channels.get_mut(id).ok_or(ChannelError::AboveCap { id, cap })
    }
}

// Connections that have come, each to its channel once something authentic came on it.

/// A channel is heard where its plan says that it listens, if it does: at one socket with all others
/// that listen there.
fn listen_on(
    listeners: &mut Vec<Listener>,
    channel: usize,
    plan: &LinkPlan,
    opener: Option<&Opener>,
) -> io::Result<()> {
    let LinkPlan::Tcp(plan) = plan else { return Ok(()) };
    if let Some(listener) = listeners.iter_mut().find(|listener| listener.is_for(plan)) {
        listener.add(channel);
    } else if let Some(mut listener) = Listener::open(plan, opener)? {
        listener.add(channel);
        listeners.push(listener);
    }
    Ok(())
}

/// A channel is heard nowhere any more.
fn forget_listener(listeners: &mut Vec<Listener>, channel: usize) {
    listeners.retain_mut(|listener| listener.remove(channel));
}

impl End {
    /// Takes what has come on connections of which it is not known whose they are. Handshakes are
    /// answered there. One on which something authentic came, and newer than all before of its
    /// channel, is that channel's from then on, whatever that had before.
    fn admit(&mut self, now: Instant) {
        let Self { listeners, encapsulation, striping, sessions, channels, .. } = self;
        for listener in listeners {
            restore(listener, channels, now);
            listener.accept(now);
            let (served, mut place) = (listener.channels(), 0);
            while let Some((from, datagram)) = listener.next_datagram(&mut place) {
                if let (Some(peer), true) = (encapsulation.peer_mut(), is_handshake(datagram)) {
                    let from = Sender { address: from, is_known: false };
                    let reply = answer(peer, now, from, datagram, (striping, sessions));
                    count_strange(channels, served, reply.is_err());
                    listener.keep(place, &reply.unwrap_or_default());
                    continue;
                }
                let datagram_bytes = datagram.len();
                let opened = encapsulation.open(Payload::Packets, datagram);
                let opened = opened.and_then(|(frame, is_newest)| {
                    Some((frame.channel().filter(|one| is_of(served, *one))?, frame, is_newest))
                });
                let Some((channel, frame, is_newest)) = opened else {
                    count_strange(channels, served, true);
                    listener.keep(place, &[]);
                    continue;
                };
                if let Some(peer) = encapsulation.peer() {
                    sessions.follow(peer.sessions(), striping);
                }
                striping.take(now, channel, (frame, 0));
                let Some(one) = &mut channels[channel] else { continue };
                one.counts.came += 1;
                one.metering.came(1, datagram_bytes);
                one.counts.came_bytes += datagram_bytes as u64;
                // In clear there is nothing else to go by.
                if is_newest || encapsulation.peer().is_none() {
                    one.adopt(listener.admit(place));
                    striping.ask(channel);
                } else {
                    listener.keep(place, &[]);
                }
            }
        }
    }
}

/// Opens what listens anew where its interface is gone, as each of its channels may.
fn restore(listener: &mut Listener, channels: &[Option<Channel>], now: Instant) {
    if listener.is_lost(now)
        && let Some(one) = &channels[listener.channels().trailing_zeros() as usize]
        && let Some(Ok(socket)) = one.link.listening()
    {
        listener.reopen(socket);
    }
}

fn is_of(channels: u64, channel: usize) -> bool {
    channel < u64::BITS as usize && channels & 1 << channel != 0
}

/// Counts what is of no channel at the first of these.
fn count_strange(channels: &mut [Option<Channel>], served: u64, is_strange: bool) {
    let first = channels.get_mut(served.trailing_zeros() as usize);
    if let Some(one) = first.and_then(Option::as_mut) {
        one.counts.strange += u64::from(is_strange);
    }
}
