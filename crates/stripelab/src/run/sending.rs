//! The sending end: the protocol, or something simpler beside it that others are compared with.
//!
//! | plan | end |
//! |---|---|
//! | logical reception | [`Sender`]: scheduler, markers, resets |
//! | any other reception, or no markers | the same scheduler alone |
//! | a scheduler that no receiver can follow | a choice: drawn, by queue, or by source |

use super::link::Link;
use super::scheduler::Scheduler;
use crate::plan::{Plan, Reception, Spread};
use crate::traffic::Packet;
use gingham_fairq::{Causal, Number};
use gingham_kernel::{Purpose, Stream, Time};
use gingham_stripe::{Epoch, Instant, Message, Sender};

/// The sending end.
#[derive(Debug)]
pub(crate) enum SendingEnd {
    Protocol(Box<Sender<Scheduler>>),
    Rounds(Box<Scheduler>),
    Drawn { words: Stream, next: usize, channels: usize },
    ShortestQueue,
    AddressHash,
}

/// The epoch in which a run begins.
pub(crate) const EPOCH: Epoch = Epoch::new(1);

impl SendingEnd {
    pub(crate) fn new(plan: &Plan) -> Self {
        match (Scheduler::of(plan), &plan.spread) {
            (Some(scheduler), _) if plan.reception == Reception::Logical => {
                let options = plan.sender;
                let sender = Sender::synchronised(scheduler, options, EPOCH, Instant::ORIGIN);
                let checked = "options are checked where scenarios are compiled";
                Self::Protocol(Box::new(sender.expect(checked)))
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

    /// The channel on which the packet is to go, if anything may be sent now.
    pub(crate) fn channel(&self, packet: &Packet, links: &[Link], now: Time) -> Option<usize> {
        match self {
            Self::Protocol(sender) => sender.channel(),
            Self::Rounds(scheduler) => Some(scheduler.current()),
            Self::Drawn { next, .. } => Some(*next),
            Self::ShortestQueue => {
                (0..links.len()).min_by_key(|channel| links[*channel].drained_in_ps(now))
            }
            Self::AddressHash => Some(hash(packet.source) % links.len()),
        }
    }

    /// The packet goes on that channel; tells its number there.
    pub(crate) fn send(&mut self, packet: &Packet, now: Time) -> Option<Number> {
        match self {
            Self::Protocol(sender) => {
                let taken = sender.handle_packet(instant(now), packet.bytes);
                taken.expect("a channel was given, and lengths are checked");
                Some(sender.scheduler().charged())
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

    /// The next message, and the channel on which it goes.
    pub(crate) fn poll_message(&mut self, now: Time) -> Option<(usize, Message)> {
        match self {
            Self::Protocol(sender) => sender.poll_message(instant(now)),
            _ => None,
        }
    }

    /// When time alone brings something about.
    pub(crate) fn timeout(&self) -> Option<Time> {
        match self {
            Self::Protocol(sender) => time(sender.poll_timeout()),
            _ => None,
        }
    }

    /// A message has come back; what is no message any more is discarded and counted there.
    pub(crate) fn take_message(&mut self, now: Time, channel: usize, bytes: &[u8]) {
        if let Self::Protocol(sender) = self {
            // What is refused is counted by the sender.
            let _ = sender.handle_bytes(instant(now), channel, bytes);
        }
    }

    /// What a channel may send in a round.
    pub(crate) fn quantum(&self, channel: usize) -> Option<u32> {
        match self {
            Self::Protocol(sender) => Some(sender.scheduler().quantum(channel)),
            Self::Rounds(scheduler) => Some(scheduler.quantum(channel)),
            _ => None,
        }
    }

    /// The protocol's sender, if there is one.
    pub(crate) fn protocol(&self) -> Option<&Sender<Scheduler>> {
        match self {
            Self::Protocol(sender) => Some(sender),
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

/// Fibonacci hashing (Knuth, "The Art of Computer Programming", volume 3, section 6.4): neighbours go
/// far apart.
fn hash(source: u16) -> usize {
    usize::from(source).wrapping_add(1).wrapping_mul(0x9e37_79b9) >> 16
}

/// The protocol's clock: whole nanoseconds.
pub(crate) const fn instant(now: Time) -> Instant {
    Instant::from_nanoseconds(now.as_ps() / 1_000)
}

/// The first time at which the protocol's clock shows the instant, if time gets there.
pub(crate) fn time(instant: Instant) -> Option<Time> {
    instant.nanoseconds().checked_mul(1_000).map(Time::from_ps)
}
