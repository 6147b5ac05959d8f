//! A channel one way: what is put on it arrives later, damaged, or not; after its healing in any
//! case.

use gingham_kernel::{Span, Time};
use gingham_linkemu::{Arrival, Channel, Counters, DropReason, Fate, Parameters};
use gingham_stripe::Tag;

/// What goes over a channel.
#[derive(Clone, Debug)]
pub(crate) enum Frame {
    Packet(Packet),
    Tagged(Tag, Packet),
    Message(Vec<u8>),
}

/// A packet, with what it takes to see that it is the one that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) number: u32,
    pub(crate) length_bytes: u32,
}

/// One way of a channel.
#[derive(Debug)]
pub(crate) struct Line {
    spoilt: Channel,
    healed: Channel,
    heal_at: Time,
    /// What comes after the healing does not overtake what went before.
    last_at: Time,
    /// When something found the queue full last, after the healing.
    pub(crate) last_full_ns: u64,
}

impl Line {
    pub(crate) fn new(parameters: &Parameters, heal_ns: u64, seed: u64, name: &str) -> Self {
        let healed = Parameters {
            jitter: parameters.jitter,
            // What a kind of channel does is no error of it.
            duplication: parameters.duplication,
            reordering: parameters.reordering,
            queue: parameters.queue,
            ..Parameters::clean(parameters.rate, 0, parameters.delay)
        };
        let channel = |parameters, name: &str| {
            Channel::new(parameters, seed, name).expect("parameters of a test")
        };
        Self {
            spoilt: channel(parameters.clone(), name),
            healed: channel(healed, &format!("{name}, healed")),
            heal_at: time(heal_ns),
            last_at: Time::ZERO,
            last_full_ns: 0,
        }
    }

    /// When the frame arrives, and as what.
    pub(crate) fn offer(&mut self, now_ns: u64, frame: &Frame) -> Vec<(u64, Frame)> {
        let length_bytes = match frame {
            Frame::Packet(packet) => packet.length_bytes,
            Frame::Tagged(tag, packet) => {
                packet.length_bytes + u32::try_from(tag.length()).expect("twenty")
            }
            Frame::Message(bytes) => u32::try_from(bytes.len()).expect("a short message"),
        };
        let now = time(now_ns);
        let channel = if now < self.heal_at { &mut self.spoilt } else { &mut self.healed };
        let fate = channel.offer(now, length_bytes);
        if now >= self.heal_at && fate == Fate::Dropped(DropReason::QueueFull) {
            self.last_full_ns = now_ns;
        }
        let arrive = |arrival: Arrival| {
            let reorders = self.spoilt.parameters().reordering.probability.is_possible();
            self.last_at = if reorders { arrival.at } else { self.last_at.max(arrival.at) };
            let at_ns = self.last_at.since(Time::ZERO).as_ps().div_ceil(1_000);
            Some((at_ns, damage(frame, arrival.flipped_bit)?))
        };
        fate.arrivals().filter_map(arrive).collect()
    }

    pub(crate) fn counters(&self) -> [Counters; 2] {
        [self.spoilt.counters(), self.healed.counters()]
    }
}

fn time(ns: u64) -> Time {
    Time::ZERO + Span::from_ns(ns)
}

/// A damaged packet is found out by the checks of its link; a damaged message is left to its own.
fn damage(frame: &Frame, flipped_bit: Option<u64>) -> Option<Frame> {
    let Some(bit) = flipped_bit else { return Some(frame.clone()) };
    let Frame::Message(bytes) = frame else { return None };
    let mut bytes = bytes.clone();
    bytes[usize::try_from(bit / 8).expect("in the message")] ^= 0x80 >> (bit % 8);
    Some(Frame::Message(bytes))
}
