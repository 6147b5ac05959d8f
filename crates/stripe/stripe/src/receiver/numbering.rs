//! Which channel is which: the receiver takes over the numbers that the sender gives its channels.
//!
//! ```text
//!   port here   0    1    2          a message on port 0 says that it is of channel 2:
//!   channel     0    1    2   ==>    2    1    0     the ports of the two change places
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

use gingham_fairq::CHANNELS_MAX;

use super::Receiver;
use super::epochs::Age;
use crate::message::small;
use crate::{Discard, Message, Numbered};

/// The channels of the ingress ports, and the ports of the channels.
#[derive(Clone, Debug)]
pub(super) struct Numbering {
    channels: [u8; CHANNELS_MAX],
    ports: [u8; CHANNELS_MAX],
}

impl Numbering {
    pub(super) fn new() -> Self {
        let same = core::array::from_fn(small);
        Self { channels: same, ports: same }
    }

    /// The channel of a port of which there is one.
    fn channel(&self, port: usize) -> usize {
        usize::from(self.channels[port])
    }

    /// The port of a channel of which there is one.
    fn port(&self, channel: usize) -> usize {
        usize::from(self.ports[channel])
    }

    /// A port is that of another channel; so the port of that one is this one's.
    fn exchange(&mut self, port: usize, channel: usize) {
        let (other_port, other_channel) = (self.port(channel), self.channel(port));
        (self.channels[port], self.channels[other_port]) = (small(channel), small(other_channel));
        (self.ports[channel], self.ports[other_channel]) = (small(port), small(other_port));
    }

    /// Whether both maps are each other's.
    pub(super) fn is_sound(&self, count: usize) -> bool {
        let comes_back = |port: &usize| {
            let channel = self.channel(*port);
            channel < count && self.port(channel) == *port
        };
        (0..count).all(|port| comes_back(&port))
    }
}

impl<S: Numbered, P> Receiver<S, P> {
    /// The channel of a port.
    pub(super) fn channel_of(&self, port: usize) -> Result<usize, Discard> {
        let count = self.buffers.len();
        let channel = (port < count).then(|| self.numbering.channel(port));
        channel.filter(|channel| *channel < count).ok_or(Discard::NoSuchChannel)
    }

    /// The port of a channel.
    pub(super) fn port_of(&self, channel: usize) -> usize {
        let count = self.buffers.len();
        Some(self.numbering.port(channel)).filter(|port| *port < count).unwrap_or(channel)
    }

    /// The channel that a message is of, which its port is from now on.
    pub(super) fn adopt(&mut self, port: usize, message: &Message) -> Result<usize, Discard> {
        let (known, named) = (self.channel_of(port)?, usize::from(message.channel));
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
            self.start_over(port);
            Err(Discard::OtherChannel)
        } else if age == Age::Later || is_free {
            self.numbering.exchange(port, named);
            Ok(named)
        } else {
            self.epochs.doubt(1 << known | 1 << named);
            Err(Discard::OtherChannel)
        }
    }
}

#[cfg(test)]
crate::corruption::corrupt!(Numbering: channels, ports);
