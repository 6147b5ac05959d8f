//! Sending end: the protocol, or a simpler method for comparison.
//!
//! | plan | sending end |
//! |---|---|
//! | logical reception | [`Sender`]: scheduler, markers, resets |
//! | any other reception, or no markers | only the same scheduler |
//! | a scheduler that no receiver can follow | a random channel, the shortest queue, or a hash of the source |

use super::link::Link;
use super::scheduler::Scheduler;
use crate::plan::{Plan, Reception, Spread};
use crate::traffic::Packet;
use core::time::Duration;
use gingham_fairq::{Causal, Number, Standing};
use gingham_kernel::{Purpose, Rate, Stream, Time};
use gingham_stripe::{
    Controlled, Epoch, Flight, Instant, Kind, Message, Numbered, Order, RateCap, RepairPlan,
    RetransmissionBuffer, Sender, TAG_BYTES,
};

#[derive(Debug)]
pub(crate) enum SendingEnd {
    Protocol(Box<Protocol>),
    Rounds(Box<Scheduler>),
    Drawn { words: Stream, next: usize, channels: usize },
    ShortestQueue,
    AddressHash,
}

#[derive(Debug)]
pub(crate) struct Protocol {
    sender: Sender<Scheduler>,
    tagged: bool,
    round_alone: bool,
    kept: Option<RetransmissionBuffer<Packet>>,
}

pub(crate) const EPOCH: Epoch = Epoch::new(1);

impl SendingEnd {
    pub(crate) fn new(plan: &Plan) -> Self {
        match (Scheduler::of(plan), &plan.spread) {
            (Some(scheduler), _) if plan.reception == Reception::Logical => {
                let options = plan.sender;
                let sender = Sender::synchronised(scheduler, options, EPOCH, Instant::ORIGIN);
                let checked = "options are checked where scenarios are compiled";
                let mut sender = sender.expect(checked);
                configure_channels(&mut sender, plan);
                let kept = |repair: RepairPlan| {
                    RetransmissionBuffer::new(repair.packets * plan.links.len())
                };
                Self::Protocol(Box::new(Protocol {
                    sender,
                    tagged: plan.tagged,
                    round_alone: plan.round_alone,
                    kept: options.repair.map(kept),
                }))
            }
            (Some(scheduler), _) => Self::Rounds(Box::new(scheduler)),
            (None, Spread::ShortestQueue) => Self::ShortestQueue,
            (None, Spread::AddressHash) => Self::AddressHash,
            (None, _) => {
                let words = Stream::new(plan.seed, "stripe", Purpose::Permutation);
                let mut drawn = Self::Drawn { words, next: 0, channels: plan.links.len() };
                drawn.draw();
                drawn
            }
        }
    }

    pub(crate) fn channel(&mut self, packet: &Packet, links: &[Link], now: Time) -> Option<usize> {
        match self {
            Self::Protocol(protocol) => {
                let Packet { bytes, class, .. } = *packet;
                let run = protocol.sender.poll_transmit_of(instant(now), bytes, class);
                run.map(|run| run.channel)
            }
            Self::Rounds(scheduler) => Some(scheduler.current()),
            Self::Drawn { next, .. } => Some(*next),
            Self::ShortestQueue => {
                (0..links.len()).min_by_key(|channel| links[*channel].drained_in_ps(now))
            }
            Self::AddressHash => Some(hash(packet.source) % links.len()),
        }
    }

    pub(crate) fn is_too_long(&self, bytes: u32) -> bool {
        self.protocol().is_some_and(|sender| {
            sender.is_open() && !sender.fits_somewhere(bytes) && !sender.may_fit(bytes)
        })
    }

    pub(crate) fn send(&mut self, packet: &mut Packet, now: Time) -> Option<Number> {
        match self {
            Self::Protocol(protocol) => {
                protocol.send(packet, now);
                Some(protocol.sender.scheduler().charged())
            }
            Self::Rounds(scheduler) => {
                scheduler.charge(packet.bytes);
                Some(scheduler.charged())
            }
            Self::Drawn { .. } => {
                self.draw();
                None
            }
            Self::ShortestQueue | Self::AddressHash => None,
        }
    }

    pub(crate) fn poll_message(&mut self, now: Time) -> Option<(usize, Message)> {
        match self {
            Self::Protocol(protocol) => protocol.poll_message(now),
            _ => None,
        }
    }

    pub(crate) fn padded_bytes(&self, channel: usize) -> u32 {
        let bytes = self.protocol().map_or(0, |sender| sender.padded_bytes(channel));
        u32::try_from(bytes).expect("no longer than a packet")
    }

    /// Sets a channel's target quantum. The sender rejects a change that takes its last channel out
    /// of use.
    pub(crate) fn set_target(&mut self, channel: usize, quantum: u32) {
        if let Self::Protocol(protocol) = self {
            let sender = &mut protocol.sender;
            let mut targets: Vec<u32> =
                (0..sender.scheduler().channels()).map(|one| sender.target_quantum(one)).collect();
            targets[channel] = quantum;
            let _ = sender.change_quanta(&targets);
        }
    }

    pub(crate) fn reset(&mut self, now: Time) {
        if let Self::Protocol(protocol) = self {
            protocol.sender.reset(instant(now));
        }
    }

    pub(crate) fn flight(&self, channel: usize) -> Option<Flight> {
        self.protocol()?.flight(channel)
    }

    /// Returns the longest unloaded round-trip time of the active channels; `None` without windows.
    pub(crate) fn round_trip_least(&self) -> Option<Duration> {
        self.protocol()?.round_trip_least()
    }

    pub(crate) fn poll_repair(&mut self, now: Time) -> Option<Packet> {
        match self {
            Self::Protocol(protocol) => protocol.poll_repair(now),
            _ => None,
        }
    }

    pub(crate) fn timeout(&self) -> Option<Time> {
        match self {
            Self::Protocol(protocol) => time(protocol.sender.poll_timeout()),
            _ => None,
        }
    }

    pub(crate) fn take_message(&mut self, now: Time, channel: usize, bytes: &[u8]) {
        if let Self::Protocol(protocol) = self {
            let _ = protocol.sender.handle_bytes(instant(now), channel, bytes);
        }
    }

    pub(crate) fn quantum(&self, channel: usize) -> Option<u32> {
        match self {
            Self::Protocol(protocol) if protocol.sender.order() == Order::Free => {
                let is_out = !protocol.sender.scheduler().standing(channel).is_in();
                is_out.then_some(0)
            }
            Self::Protocol(protocol) => Some(protocol.sender.scheduler().quantum(channel)),
            Self::Rounds(scheduler) => Some(scheduler.quantum(channel)),
            _ => None,
        }
    }

    pub(crate) fn protocol(&self) -> Option<&Sender<Scheduler>> {
        match self {
            Self::Protocol(protocol) => Some(&protocol.sender),
            _ => None,
        }
    }

    fn draw(&mut self) {
        if let Self::Drawn { words, next, channels } = self {
            let drawn = words.below(u64::try_from(*channels).expect("at most 64"));
            *next = usize::try_from(drawn).expect("below the count");
        }
    }
}

fn configure_channels(sender: &mut Sender<Scheduler>, plan: &Plan) {
    let control = plan.sender.control.map(|control| control.by);
    let overhead_bytes = if plan.tagged { TAG_BYTES as u64 } else { 0 };
    for (channel, link) in plan.links.iter().enumerate() {
        if matches!(control, Some(Controlled::FixedRate(_))) {
            sender.set_rate(channel, link.forth.rate.bytes_per_second());
        }
        sender.set_priority(channel, link.priority);
        let cap = |cap: Rate| RateCap { bytes_per_second: cap.bytes_per_second(), overhead_bytes };
        sender.cap_rate(channel, link.cap.map(cap));
    }
}

impl Protocol {
    fn send(&mut self, packet: &mut Packet, now: Time) {
        let possible = "a channel was given, and lengths are checked";
        if !self.tagged {
            self.sender.handle_packet(instant(now), packet.bytes).expect(possible);
            return;
        }
        let tagged = self.sender.handle_tagged_as(instant(now), packet.bytes, packet.class);
        let (_, tag) = tagged.expect(possible);
        packet.tag = Some(tag);
        if let Some(kept) = &mut self.kept {
            kept.keep(tag.sequence, *packet);
        }
    }

    fn poll_message(&mut self, now: Time) -> Option<(usize, Message)> {
        let (channel, mut message) = self.sender.poll_message(instant(now))?;
        if let Kind::Marker(marker) = &mut message.kind {
            marker.standing = self.carried_standing(marker.standing);
        }
        Some((channel, message))
    }

    /// Replaces a marker's contents by the round alone if the plan requires it, unless the channel
    /// is out of use or its quantum is about to change.
    fn carried_standing(&self, standing: Standing) -> Standing {
        if self.round_alone && standing.is_in() && standing.coming.is_none() {
            Standing::beginning(self.sender.scheduler().round(), standing.quantum_bytes)
        } else {
            standing
        }
    }

    fn poll_repair(&mut self, now: Time) -> Option<Packet> {
        let kept = self.kept.as_ref()?;
        loop {
            let repair = self.sender.poll_repair(instant(now))?;
            if let Some(packet) = kept.get(repair.tag.sequence) {
                let channel = u8::try_from(repair.channel).expect("at most 64 channels");
                return Some(Packet { channel, tag: Some(repair.tag), ..*packet });
            }
        }
    }
}

/// Computes a Fibonacci hash (Knuth, "The Art of Computer Programming", volume 3, section 6.4).
fn hash(source: u16) -> usize {
    usize::from(source).wrapping_add(1).wrapping_mul(0x9e37_79b9) >> 16
}

pub(crate) const fn instant(now: Time) -> Instant {
    Instant::from_nanoseconds(now.as_ps() / 1_000)
}

/// Returns the earliest simulated time that maps to `instant`; `None` if out of range.
pub(crate) fn time(instant: Instant) -> Option<Time> {
    instant.nanoseconds().checked_mul(1_000).map(Time::from_ps)
}
