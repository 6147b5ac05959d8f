//! Which channel is which: the receiver takes over the numbers that the sender gives its channels.
//!
//! ```text
//!   wire here   0    1    2          a message on wire 0 says that it is of channel 2:
//!   channel     0    1    2   ==>    2    1    0     the wires of the two change places
//! ```
//!
//! Every message names the channel on which the sender put it. Until a channel has named the
//! present epoch nothing that came on it is kept, so its number may still change; later a message
//! that names another one says that the map is wrong: both channels are unknown again until they
//! name themselves.
//!
//! Source: ours; in Adiseshu, Parulkar and Varghese 1996 both ends number their channels alike.
//!
//! Invariant: the map is a permutation, whatever is said.

#[cfg(test)]
mod corruption;

use gingham_fairq::CHANNELS_MAX;

use super::Receiver;
use super::epochs::Age;
use crate::message::small;
use crate::{Discard, Message, Numbered};

/// The channels of the wires, and the wires of the channels.
#[derive(Clone, Debug)]
pub(super) struct Numbering {
    channels: [u8; CHANNELS_MAX],
    wires: [u8; CHANNELS_MAX],
}

impl Numbering {
    pub(super) fn new() -> Self {
        let same = core::array::from_fn(small);
        Self { channels: same, wires: same }
    }

    /// The channel of a wire of which there is one.
    fn channel(&self, wire: usize) -> usize {
        usize::from(self.channels[wire])
    }

    /// The wire of a channel of which there is one.
    fn wire(&self, channel: usize) -> usize {
        usize::from(self.wires[channel])
    }

    /// A wire is that of another channel; so the wire of that one is this one's.
    fn exchange(&mut self, wire: usize, channel: usize) {
        let (other_wire, other_channel) = (self.wire(channel), self.channel(wire));
        (self.channels[wire], self.channels[other_wire]) = (small(channel), small(other_channel));
        (self.wires[channel], self.wires[other_channel]) = (small(wire), small(other_wire));
    }

    /// Whether both maps are each other's.
    pub(super) fn is_sound(&self, count: usize) -> bool {
        let comes_back = |wire: &usize| {
            let channel = self.channel(*wire);
            channel < count && self.wire(channel) == *wire
        };
        (0..count).all(|wire| comes_back(&wire))
    }
}

impl<S: Numbered, P> Receiver<S, P> {
    /// The channel of a wire.
    pub(super) fn channel_of(&self, wire: usize) -> Result<usize, Discard> {
        let count = self.buffers.len();
        let channel = (wire < count).then(|| self.numbering.channel(wire));
        channel.filter(|channel| *channel < count).ok_or(Discard::NoSuchChannel)
    }

    /// The wire of a channel.
    pub(super) fn wire_of(&self, channel: usize) -> usize {
        let count = self.buffers.len();
        Some(self.numbering.wire(channel)).filter(|wire| *wire < count).unwrap_or(channel)
    }

    /// The channel that a message is of, which its wire is from now on.
    pub(super) fn adopt(&mut self, wire: usize, message: &Message) -> Result<usize, Discard> {
        let (known, named) = (self.channel_of(wire)?, usize::from(message.channel));
        if usize::from(message.channels) != self.buffers.len() {
            return Err(Discard::OtherCount);
        }
        if named >= self.buffers.len() {
            return Err(Discard::NoSuchChannel);
        }
        let age = self.epochs.age(message.epoch);
        let is_free = !self.epochs.is_synchronised(known) && !self.epochs.is_synchronised(named);
        if known == named || age == Age::Earlier {
            Ok(known)
        } else if !self.numbering.is_sound(self.buffers.len()) {
            self.start_over(wire);
            Err(Discard::OtherChannel)
        } else if age == Age::Later || is_free {
            self.numbering.exchange(wire, named);
            Ok(named)
        } else {
            self.epochs.doubt(1 << known | 1 << named);
            Err(Discard::OtherChannel)
        }
    }
}
