//! An end of the pipe: its channels, both ends of the protocol, and the clock.

mod sending;

use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use gingham_stripe::{Epoch, Flight, Instant, Reception, Sending};

use crate::bare::Bare;
use crate::channel::Channel;
use crate::clock::{Moment, now, started_at};
use crate::counts::ChannelCounts;
use crate::encapsulation::Encapsulation;
use crate::error::OpenError;
use crate::framing::{Framing, OVERHEAD_BYTES_MAX};
use crate::link::{Link, LinkPlan};
use crate::protection::ProtectionPlan;
use crate::run::{RUN_BYTES_MAX, Run};
use crate::scheduler::SchedulerPlan;
use crate::socket::BufferPlan;
use crate::striping::{Packet, Striping, StripingPlan};
use crate::wait::{Waiting, Wakeups};

/// Datagrams that are taken before anything goes: 4 ms at 10 Gbit/s.
const DATAGRAMS_A_TURN: usize = 4_096;

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
    /// With what datagrams are protected; with nothing if not given.
    pub protection: Option<ProtectionPlan>,
}

impl EndPlan {
    /// The free order, for packets of at most this length; a quarter of a millisecond between
    /// wake-ups, a quarter of what goes at once (`ControlPlan::burst`). Over 100 + 300 Mbit/s, 10 ms
    /// and 64 kB that carried .945 to .956 in four runs at 12 CPU seconds a gigabyte, half a
    /// millisecond .932 to .958 at 8, and a whole one .901 at 6.5, since any delay is then more than
    /// the burst makes good (`benches/striping_sockets.py`).
    pub fn free(longest_bytes: u32) -> Self {
        Self {
            striping: StripingPlan::free(longest_bytes),
            scheduler: SchedulerPlan::default(),
            buffers: BufferPlan::default(),
            granule: Duration::from_micros(250),
            protection: None,
        }
    }
}

/// Where the packets come from that are to be sent.
pub trait Source {
    /// How long the next one is, if there is one: at least a byte.
    fn next_bytes(&mut self) -> Option<usize>;

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
///         end.recycle(packet);
///     }
///     end.transmit(&mut packets);
///     end.wait(None, &[])?;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct End {
    channels: Vec<Channel>,
    striping: Striping,
    encapsulation: Encapsulation,
    run: Run,
    waiting: Waiting,
    /// Packets that were longer than the longest.
    too_long: u64,
}

impl End {
    /// Opens links, all of one kind, and begins with an epoch later than any that the other end
    /// remembers. The calling thread is woken to the nanosecond from then on.
    pub fn open(
        plan: &EndPlan,
        channels: Vec<impl Into<LinkPlan>>,
        epoch: Epoch,
    ) -> Result<Self, OpenError> {
        let channels: Vec<LinkPlan> = channels.into_iter().map(Into::into).collect();
        let encapsulation = encapsulation(plan, &channels)?;
        let now = now();
        let longest_bytes = plan.striping.longest_bytes;
        let scheduler = plan.scheduler.scheduler(longest_bytes, channels.len())?;
        let prefix_bytes = encapsulation.prefix_bytes();
        let striping = Striping::new(&plan.striping, scheduler, prefix_bytes, epoch, now)?;
        let open = |(channel, one)| {
            Channel::open(one, plan.buffers, now)
                .map_err(|error| OpenError::Socket { channel, error })
        };
        let channels = channels.into_iter().enumerate().map(open).collect::<Result<_, _>>()?;
        let waiting = Waiting::new(plan.granule).map_err(OpenError::Timer)?;
        Ok(Self { channels, striping, encapsulation, run: Run::new(), waiting, too_long: 0 })
    }

    /// Takes what has come on all channels, in the order of time.
    pub fn receive(&mut self) {
        let moment = Moment::read();
        for channel in 0..self.channels.len() {
            self.fill(channel, &moment);
        }
        let mut left = DATAGRAMS_A_TURN;
        while let Some(channel) = self.first_come() {
            let one = &mut self.channels[channel];
            let Some((datagrams, batch)) = one.take() else { break };
            left = left.saturating_sub(datagrams);
            let mut strange = 0;
            if let Some(batch) = batch {
                let (at, payload) = (batch.at, batch.payload);
                for datagram in batch.datagrams() {
                    match self.encapsulation.open(payload, datagram) {
                        Some(frame) => self.striping.take(at, channel, frame),
                        None => strange += 1,
                    }
                }
            }
            one.counts.strange += strange;
            if one.may_have_more() && left > 0 {
                self.fill(channel, &Moment::read());
            }
        }
        self.striping.advance(moment.now);
    }

    /// The channel on which something came first of what is not taken.
    fn first_come(&self) -> Option<usize> {
        let come = |(number, channel): (usize, &Channel)| Some((channel.next_at()?, number));
        let first = self.channels.iter().enumerate().filter_map(come).min();
        first.map(|(_, number)| number)
    }

    fn fill(&mut self, channel: usize, moment: &Moment) {
        if self.channels[channel].receive(moment) {
            self.striping.lose(channel);
        }
    }

    /// The next packet in the order of the other end.
    pub fn next_packet(&mut self) -> Option<Packet> {
        self.striping.next_packet()
    }

    /// A packet that was given out is not needed any more.
    pub fn recycle(&mut self, packet: Packet) {
        self.striping.recycle(packet.bytes);
    }

    /// Waits until something is to be done, one of these is readable, or it is so late.
    pub fn wait(&mut self, until: Option<Instant>, also: &[BorrowedFd<'_>]) -> io::Result<()> {
        let links = self.channels.iter().map(|channel| &channel.link);
        let fds: Vec<_> = links.filter_map(Link::fd).chain(also.iter().copied()).collect();
        let full = self.channels.iter().filter(|channel| channel.is_full());
        let writable: Vec<_> = full.filter_map(|channel| channel.link.full_fd()).collect();
        let timeout = self.striping.poll_timeout();
        self.waiting.wait(until.map_or(timeout, |until| until.min(timeout)), &fds, &writable)
    }

    /// The channel's other end has this address from now on, where it is over UDP.
    pub fn set_remote(&mut self, channel: usize, remote: SocketAddr) {
        self.channels[channel].link.set_remote(remote);
    }

    /// How many channels there are.
    pub fn channels(&self) -> usize {
        self.channels.len()
    }

    /// The address of a channel's socket of UDP, as long as it has one.
    pub fn local(&self, channel: usize) -> Option<SocketAddr> {
        self.channels[channel].link.local()
    }

    /// Whether packets are taken: the other end has answered.
    pub fn is_open(&self) -> bool {
        self.striping.is_open()
    }

    /// Whether packets go on a channel.
    pub fn is_in(&self, channel: usize) -> bool {
        self.striping.is_in(channel)
    }

    /// What has been found out of a channel.
    pub fn flight(&self, channel: usize) -> Option<Flight> {
        self.striping.flight(channel)
    }

    /// The time there and back through the pipe but for its queues, where it is known.
    pub fn round_trip_least(&self) -> Option<Duration> {
        self.striping.round_trip_least()
    }

    /// What was counted of a channel's socket.
    pub fn counts(&self, channel: usize) -> &ChannelCounts {
        &self.channels[channel].counts
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

    /// Packets that were longer than the longest, and did not go.
    pub const fn too_long(&self) -> u64 {
        self.too_long
    }
}

/// How what goes is wrapped: as the kind of the channels says.
fn encapsulation(plan: &EndPlan, channels: &[LinkPlan]) -> Result<Encapsulation, OpenError> {
    let of_ethernet = |one: &LinkPlan| match one {
        LinkPlan::Ethernet(plan) => Some(plan.is_offloaded),
        LinkPlan::Udp(_) => None,
    };
    let kind = channels.first().and_then(of_ethernet);
    if channels.iter().any(|one| of_ethernet(one) != kind) {
        return Err(OpenError::Kinds(
            "all are over UDP, or all over Ethernet, with offload or without",
        ));
    }
    let longest_bytes = plan.striping.longest_bytes;
    let Some(is_offloaded) = kind else {
        if !plan.striping.has_tags() {
            return Err(OpenError::Kinds("UDP reorders, so that packets need tags"));
        }
        check_longest(longest_bytes)?;
        let framing = Framing::new(plan.protection.as_ref(), started_at());
        return Ok(Encapsulation::Datagrams(Box::new(framing)));
    };
    if plan.striping.has_tags() || plan.protection.is_some() {
        return Err(OpenError::Kinds("frames of Ethernet have neither tags nor a key"));
    }
    Ok(Encapsulation::Bare(Bare::new(longest_bytes as usize, is_offloaded)))
}

/// Whether a packet, or its copy, fits a datagram.
fn check_longest(longest_bytes: u32) -> Result<(), OpenError> {
    let bytes_max = RUN_BYTES_MAX - OVERHEAD_BYTES_MAX;
    if longest_bytes as usize > bytes_max {
        return Err(OpenError::LongestPacket { longest_bytes, bytes_max });
    }
    Ok(())
}
