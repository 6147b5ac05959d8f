//! An end of the pipe: its channels, both ends of the protocol, and the clock.

mod admission;
mod handshakes;
mod looks;
mod policies;
mod sending;
mod shared;
mod slots;

use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use gingham_stripe::{Class, Epoch, Flight, Instant, Reception, Sending, Size, TAG_BYTES, Tag};
use gingham_stripe_crypt::{Peer, PeerPlan};

use crate::bare::Bare;
use crate::channel::Channel;
use crate::clock::{Moment, now};
use crate::counts::ChannelCounts;
use crate::encapsulation::Encapsulation;
use crate::error::OpenError;
use crate::framing::{Framing, OVERHEAD_BYTES_MAX};
use crate::link::{LinkKind, LinkPlan};
use crate::messages::Messages;
use crate::port::Ports;
use crate::run::{RUN_BYTES_MAX, Run};
use crate::scheduler::SchedulerPlan;
use crate::socket::{BufferPlan, Opener};
use crate::striping::{Before, Packet, Striping, StripingPlan};
use crate::tcp::Listener;
use crate::wait::{Ready, Waiting, Wakeups};
use handshakes::Sessions;
pub use looks::ChannelWait;

pub(crate) use handshakes::REPLIES_A_BATCH;
pub(crate) use shared::{Origin, Took};

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
            let listening = admission::listen(&mut listeners, channel, one, opener.as_ref());
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
        self.encapsulation.peer().is_none_or(Peer::can_seal) && self.striping.is_open()
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
        self.striping.size(channel)
    }

    /// For how long what is missing on a channel is waited for, since datagrams came out of order
    /// there: not at all where none have.
    pub fn reordering_window(&self, channel: usize) -> Duration {
        self.striping.window(channel)
    }

    /// What has been found out of a channel.
    pub fn flight(&self, channel: usize) -> Option<Flight> {
        self.striping.flight(channel)
    }

    /// The time there and back through the pipe but for its queues, where it is known.
    pub fn round_trip_least(&self) -> Option<Duration> {
        self.striping.round_trip_least()
    }

    /// What was counted of a channel's sockets since it was added.
    pub fn counts(&self, channel: usize) -> ChannelCounts {
        self.channels[channel].as_ref().map_or_else(ChannelCounts::default, |one| one.counts)
    }

    /// What the sender has counted.
    pub fn sending(&self) -> &Sending {
        self.striping.sending()
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
