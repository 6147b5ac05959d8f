//! Channel numbering: the receiver adopts the sender's.
//!
//! A port is the receiver's index of a channel. Every message carries the channel's number at the
//! sender. Until a port has received a message of the present epoch, its packets are discarded, and
//! its channel number can change. If a later message on the port names another channel, both
//! channels count as unknown until messages name them again.
//!
//! Source: ours; in Adiseshu, Parulkar and Varghese 1996, both ends use the same channel numbers.
//!
//! Invariant: the map is a permutation for any sequence of messages.

use gingham_fairq::CHANNELS_MAX;

use super::epochs::{Age, Epochs};
use crate::message::small;
use crate::{Discard, Message};

#[derive(Clone, Debug)]
pub(super) struct Numbering {
    count: usize,
    channels: [u8; CHANNELS_MAX],
    ports: [u8; CHANNELS_MAX],
}

impl Numbering {
    pub(super) fn new(count: usize) -> Self {
        let same = core::array::from_fn(small);
        Self { count, channels: same, ports: same }
    }

    pub(super) fn channel_of(&self, port: usize) -> Result<usize, Discard> {
        let channel = (port < self.count).then(|| usize::from(self.channels[port]));
        channel.filter(|channel| *channel < self.count).ok_or(Discard::NoSuchChannel)
    }

    pub(super) fn port_of(&self, channel: usize) -> usize {
        let port = usize::from(self.ports[channel]);
        if port < self.count { port } else { channel }
    }

    fn exchange(&mut self, port: usize, channel: usize) {
        let (other_port, other_channel) = (self.ports[channel], self.channels[port]);
        (self.channels[port], self.channels[usize::from(other_port)]) =
            (small(channel), other_channel);
        (self.ports[channel], self.ports[usize::from(other_channel)]) = (small(port), other_port);
    }

    pub(super) fn is_sound(&self) -> bool {
        let is_inverse = |port| {
            let channel = self.channel_of(port);
            channel.is_ok_and(|channel| usize::from(self.ports[channel]) == port)
        };
        (0..self.count).all(is_inverse)
    }

    /// Adopts the channel number in a message, unless the port or the named channel is already
    /// settled in this epoch. Returns the channel, or `None` if the maps are inconsistent.
    pub(super) fn adopt(
        &mut self,
        port: usize,
        message: &Message,
        epochs: &mut Epochs,
    ) -> Result<Option<usize>, Discard> {
        let (known, named) = (self.channel_of(port)?, usize::from(message.channel));
        if usize::from(message.channels) != self.count {
            return Err(Discard::OtherCount);
        }
        if named >= self.count {
            return Err(Discard::NoSuchChannel);
        }
        let age = epochs.age(message.epoch);
        let is_free = !epochs.is_synchronised(known) && !epochs.is_synchronised(named);
        if known == named || age == Age::Earlier {
            Ok(Some(known))
        } else if !self.is_sound() {
            Ok(None)
        } else if age == Age::Later || is_free {
            self.exchange(port, named);
            Ok(Some(named))
        } else {
            epochs.doubt(1 << known | 1 << named);
            Err(Discard::OtherChannel)
        }
    }
}

#[cfg(test)]
crate::corruption::corrupt!(Numbering: channels, ports);
