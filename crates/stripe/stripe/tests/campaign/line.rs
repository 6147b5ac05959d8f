//! One direction of a channel: frames arrive later, damaged, or not at all until its healing.

use gingham_kernel::{Span, Time};
use gingham_linkemu::{Arrival, Channel, Counters, DropReason, Fate, Parameters};
use gingham_stripe::Tag;

#[derive(Clone, Debug)]
pub(crate) enum Frame {
    Packet(Packet),
    Tagged(Tag, Packet),
    Message(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) number: u32,
    pub(crate) length_bytes: u32,
}

#[derive(Debug)]
pub(crate) struct Line {
    spoilt: Channel,
    healed: Channel,
    heal_at: Time,
    /// Frames after the healing do not overtake earlier ones.
    last_at: Time,
    /// Time when a frame last found the queue full, after the healing.
    pub(crate) last_full_ns: u64,
}

impl Line {
    pub(crate) fn new(parameters: &Parameters, heal_ns: u64, seed: u64, name: &str) -> Self {
        let healed = Parameters {
            jitter: parameters.jitter,
            // Properties of a kind of channel are not errors.
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

    /// Returns each arrival with its time.
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

/// The link detects a bit error in a packet; the message's own checksum has to detect one in a
/// message.
fn damage(frame: &Frame, flipped_bit: Option<u64>) -> Option<Frame> {
    let Some(bit) = flipped_bit else { return Some(frame.clone()) };
    let Frame::Message(bytes) = frame else { return None };
    let mut bytes = bytes.clone();
    bytes[usize::try_from(bit / 8).expect("in the message")] ^= 0x80 >> (bit % 8);
    Some(Frame::Message(bytes))
}
