//! One end of a pipe.

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

/// Maximum datagrams received before transmitting; they take 4 ms at 10 Gbit/s.
pub(crate) const DATAGRAMS_A_TURN: usize = 4_096;

/// Configuration of an [`End`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndPlan {
    /// Protocol parameters.
    pub striping: StripingPlan,
    /// Scheduler, which distributes packets over the channels.
    pub scheduler: SchedulerPlan,
    /// Socket buffer sizes.
    pub buffers: BufferPlan,
    /// Minimum time between two wake-ups.
    pub granule: Duration,
    /// Keys for encryption over UDP and TCP; `None` disables encryption.
    pub peer: Option<PeerPlan>,
    /// Maximum number of channels, identical at both ends. Default: the initial number.
    pub channels_max: Option<usize>,
    /// DSCP of messages, and of packets without a traffic class, over UDP; 6 bits (RFC 2474).
    pub dscp: u8,
}

impl EndPlan {
    /// Returns a plan for free order with packets of at most `longest_bytes`. The wake-up granule
    /// is half a millisecond, half of `ControlPlan::burst`. With a quarter of a millisecond, the
    /// CPU time per gigabyte was 18.1 s instead of 13.6 s at 100 + 300 Mbit/s, and 126 s instead of
    /// 90 s at 10 + 20 Mbit/s, without higher TCP throughput (two or three alternating runs of
    /// `benches/striping_daemon.py`). A whole millisecond would leave no reserve in the burst.
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
    fn cap(&self, channels: usize) -> Result<usize, OpenError> {
        let cap = self.channels_max.unwrap_or(channels);
        if cap < channels { Err(OpenError::AboveCap { channels, cap }) } else { Ok(cap) }
    }
}

/// Packet source.
pub trait Source {
    /// Returns the length of the next packet in bytes, at least 1; `None` if no packet is ready.
    fn next_bytes(&mut self) -> Option<usize>;

    /// Returns the traffic class of the next packet over UDP: DSCP and ECN (RFC 2474, RFC 3168).
    /// `None` selects the class of messages, which is not ECN-capable. A change of class ends a
    /// run.
    fn next_traffic_class(&mut self) -> Option<u8> {
        None
    }

    /// Returns the class of the next packet, which determines its permitted channels.
    fn next_class(&self) -> Class {
        Class::Spread
    }

    /// Appends the next packet to `buffer`.
    fn take(&mut self, buffer: &mut Vec<u8>);
}

/// One end of a pipe.
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
///         // Packets are released in order.
///         drop(packet);
///     }
///     end.transmit(&mut packets);
///     end.wait(None, &[])?;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct End {
    channels: Vec<Option<Channel>>,
    kind: LinkKind,
    listeners: Vec<Listener>,
    striping: Striping,
    encapsulation: Encapsulation,
    sessions: Sessions,
    run: Run,
    messages: Messages,
    waiting: Waiting,
    buffers: BufferPlan,
    ports: Ports,
    check_bytes: usize,
    class: u8,
    too_long: u64,
}

impl End {
    /// Opens an end with these channels, numbered from 0. Either every channel uses UDP or TCP, or
    /// every channel uses Ethernet. Without a peer, resets to `epoch`, which must be later than any
    /// epoch known to the other end; with a peer, the handshake determines the epochs. Sets the
    /// thread's timer slack to 1 ns.
    pub fn open(
        plan: &EndPlan,
        channels: Vec<impl Into<LinkPlan>>,
        epoch: Epoch,
    ) -> Result<Self, OpenError> {
        Self::open_at(now(), plan, channels, epoch)
    }

    /// Opens an end like [`Self::open`], at a given time.
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

    /// Opens an end on ports that may be shared. Needs no privileges if openers supply the sockets.
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

    /// Receives datagrams in arrival order.
    pub fn receive(&mut self) {
        self.receive_by(Moment::read);
    }

    /// Receives like [`Self::receive`], at a given time.
    pub fn receive_at(&mut self, now: Instant) {
        self.receive_by(|| Moment::at(now));
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
            if one.send_one(now, from, (reply, *class)) {
                striping.lose(channel);
            }
        }
        Some(datagrams)
    }

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

    /// Returns the next received packet in sending order, if available.
    pub fn next_packet(&mut self) -> Option<Packet> {
        self.striping.next_packet()
    }

    /// Waits until work is due, a descriptor in `also` is ready, or `until` has passed. Returns the
    /// descriptors in `also` that may be readable.
    pub fn wait(&mut self, until: Option<Instant>, also: &[BorrowedFd<'_>]) -> io::Result<Ready> {
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

    /// Returns the maximum number of channels.
    pub fn channels(&self) -> usize {
        self.channels.len()
    }

    /// Returns the local address of a channel; over TCP, this may be the listening address.
    pub fn local(&self, channel: usize) -> Option<SocketAddr> {
        let listener = self.listeners.iter().find(|listener| listener.serves(channel));
        let link = || self.channels[channel].as_ref()?.link.local();
        listener.map_or_else(link, Listener::local)
    }

    /// Returns whether the other end has responded.
    pub fn is_open(&self) -> bool {
        self.encapsulation.peer().is_none_or(Peer::can_seal) && self.striping.sender().is_open()
    }

    /// Returns whether the sender uses a channel for packets.
    pub fn is_in(&self, channel: usize) -> bool {
        self.striping.is_in(channel)
    }

    /// Returns the longest packet in bytes, suitable as an MTU: the smallest known limit of the
    /// active channels. The value may change. In free order, a longer packet is sent on a channel
    /// that it fits, or dropped.
    pub fn longest_bytes(&self) -> u32 {
        self.striping.bundle_bytes()
    }

    /// Returns the packet size limits of a channel, and the state of their discovery.
    pub fn size(&self, channel: usize) -> Size {
        self.striping.sender().size(channel)
    }

    /// Returns the maximum wait for a missing packet of a channel; zero if the channel does not
    /// reorder.
    pub fn reordering_window(&self, channel: usize) -> Duration {
        self.striping.window(channel)
    }

    /// Returns the window and path estimates of a channel.
    pub fn flight(&self, channel: usize) -> Option<Flight> {
        self.striping.sender().flight(channel)
    }

    /// Returns the longest unloaded round-trip time of the active channels.
    pub fn round_trip_least(&self) -> Option<Duration> {
        self.striping.sender().round_trip_least()
    }

    /// Returns the counters of a channel.
    pub fn counts(&self, channel: usize) -> ChannelCounts {
        self.channels[channel].as_ref().map_or_else(ChannelCounts::default, |one| one.counts)
    }

    /// Returns the sender's counters.
    pub fn sending(&self) -> &Sending {
        self.striping.sender().sending()
    }

    /// Returns the receiver's counters.
    pub fn reception(&self) -> &Reception {
        self.striping.reception()
    }

    /// Returns the wake-up counters.
    pub const fn wakeups(&self) -> &Wakeups {
        &self.waiting.wakeups
    }

    /// Returns the number of dropped packets that fit no channel.
    pub const fn too_long(&self) -> u64 {
        self.too_long
    }
}

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

fn check_longest(longest_bytes: u32) -> Result<(), OpenError> {
    let bytes_max = RUN_BYTES_MAX - OVERHEAD_BYTES_MAX;
    if longest_bytes as usize > bytes_max {
        return Err(OpenError::LongestPacket { longest_bytes, bytes_max });
    }
    Ok(())
}

impl End {
    /// Sets the preference for a channel in all sessions.
    pub fn prefer(&mut self, id: usize, preference: Preference) {
        self.sessions.prefer(id, preference);
        self.striping.prefer(id, preference);
    }

    /// Sets the meter of a channel. When the meter grants no more, the channel is not used until a
    /// granted probe is acknowledged.
    pub fn set_meter(&mut self, id: usize, plan: &LinkPlan, meter: Box<dyn Meter>) {
        if let Some(one) = &mut self.channels[id] {
            one.metering.set(meter, plan.wire_bytes());
        }
    }

    /// Returns the metered bytes of a channel, including IP and UDP or TCP headers; `None` without
    /// a meter.
    pub fn metered_bytes(&self, id: usize) -> Option<u64> {
        self.channels[id].as_ref()?.metering.used()
    }
}

/// Reason why a channel carries no packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelWait {
    /// No interface, address, route or connection; opening is retried.
    NoLink,
    /// Connection in progress.
    Connecting,
    /// Unknown address of the other end, which will be learned from received datagrams.
    NoRemote,
    /// Incomplete handshake.
    NoHandshake,
    /// Reason given by the protocol.
    Protocol(Wait),
}

impl End {
    /// Returns why a channel carries no packets; `None` if it does.
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

    /// Returns whether a channel is open and used for packets.
    pub fn is_carrying(&self, channel: usize) -> bool {
        let one = self.channels.get(channel).and_then(Option::as_ref);
        one.is_some_and(|one| one.link.is_open()) && self.is_open() && self.is_in(channel)
    }

    /// Returns the last error of a link, unless the link is open.
    pub fn link_error(&self, channel: usize) -> Option<io::Error> {
        let one = self.channels.get(channel)?.as_ref()?;
        let gone_by = one.gone_by.filter(|_| !one.link.is_open());
        gone_by.map(io::Error::from_raw_os_error)
    }

    /// Returns the address of a channel's other end, if known.
    pub fn remote(&self, channel: usize) -> Option<SocketAddr> {
        self.channels.get(channel)?.as_ref()?.link.remote()
    }

    /// Retries lost links and probes all channels immediately.
    pub fn on_network_change(&mut self) {
        let now = self.striping.advance(now());
        for id in 0..self.channels.len() {
            let Some(one) = &mut self.channels[id] else { continue };
            one.on_network_change(now);
            if one.link.is_open() && !self.striping.is_in(id) {
                self.striping.ask(id);
            }
        }
    }

    /// Forgets the measurements of a channel whose path has changed, and probes it immediately.
    pub fn forget_path(&mut self, id: usize) -> Result<(), ChannelError> {
        self.striping.advance(now());
        self.striping.move_channel(id)?;
        self.striping.ask(id);
        Ok(())
    }

    /// Closes the links that use a removed local address.
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

// Addition, removal and moving of channels. Channel ids are identical at both ends.
//
// A channel that the other end lacks is silent, and therefore not used. Packets in flight on a
// removed channel are retransmitted if retransmission is enabled.
//
// Invariant: each protocol channel, and no other, has a socket that is open or being reopened.

impl End {
    /// Opens a channel, which is used once the other end has responded on it.
    pub fn add_channel(&mut self, id: usize, plan: impl Into<LinkPlan>) -> Result<(), SlotError> {
        self.add_channel_by(id, plan, None)
    }

    /// Opens a channel like [`Self::add_channel`], with an `opener` that supplies sockets.
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

    /// Removes a channel.
    pub fn remove_channel(&mut self, id: usize) -> Result<(), ChannelError> {
        self.striping.advance(now());
        self.striping.remove_channel(id)?;
        self.set_slot(id, false, false);
        *self.slot(id)? = None;
        forget_listener(&mut self.listeners, id);
        Ok(())
    }

    /// Moves a channel to another socket and forgets the old path.
    pub fn move_channel(&mut self, id: usize, plan: impl Into<LinkPlan>) -> Result<(), SlotError> {
        self.move_channel_by(id, plan, None)
    }

    /// Moves a channel like [`Self::move_channel`], with an `opener` that supplies sockets.
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

    /// Sets the other end's address if unknown, and keeps the path measurements.
    pub fn set_remote(&mut self, id: usize, remote: SocketAddr) {
        if let Some(one) = &mut self.channels[id] {
            one.lead(remote);
        }
    }

    /// Returns whether a channel has this id.
    pub fn is_there(&self, id: usize) -> bool {
        self.channels.get(id).is_some_and(Option::is_some)
    }

    fn set_slot(&mut self, id: usize, is_there: bool, passes_all: bool) {
        self.sessions.set_slot(id, is_there, passes_all);
        self.striping.set_passes_all(id, passes_all);
    }

    fn slot(&mut self, id: usize) -> Result<&mut Option<Channel>, ChannelError> {
        let cap = self.channels.len();
        self.channels.get_mut(id).ok_or(ChannelError::AboveCap { id, cap })
    }
}

/// Opens a listening socket, which channels with identical listening parameters share.
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

fn forget_listener(listeners: &mut Vec<Listener>, channel: usize) {
    listeners.retain_mut(|listener| listener.remove(channel));
}

impl End {
    /// Processes connections without a channel. Handshakes are answered on the connection itself. A
    /// connection is assigned to a channel when it delivers an authentic datagram newer than any
    /// received on that channel.
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

fn count_strange(channels: &mut [Option<Channel>], served: u64, is_strange: bool) {
    let first = channels.get_mut(served.trailing_zeros() as usize);
    if let Some(one) = first.and_then(Option::as_mut) {
        one.counts.strange += u64::from(is_strange);
    }
}
