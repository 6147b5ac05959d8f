//! What goes on a link: the seam between the protocol and how its packets are wrapped.
//!
//! | | a packet | messages |
//! |---|---|---|
//! | [`Framing`], over UDP | behind its tag, sealed where there is a key | behind a header, the same |
//! | [`Bare`], over Ethernet | as it is, under an EtherType | under another EtherType |

use gingham_stripe::{Epoch, Tag};
use gingham_stripe_crypt::Peer;

use crate::bare::Bare;
use crate::framing::{Frame, Framing};
use crate::link::Payload;

/// How packets and messages are wrapped.
#[derive(Debug)]
pub(crate) enum Encapsulation {
    Datagrams(Box<Framing>),
    Bare(Bare),
}

impl Encapsulation {
    /// What stands before a packet, as a source has it, that is not charged.
    pub(crate) const fn prefix_bytes(&self) -> usize {
        match self {
            Self::Datagrams(_) => 0,
            Self::Bare(bare) => bare.prefix_bytes(),
        }
    }

    /// How long the datagram of a packet with this tag is.
    pub(crate) fn data_bytes(&self, tag: &Tag, packet_bytes: usize) -> usize {
        match self {
            Self::Datagrams(framing) => framing.data_bytes(tag, packet_bytes),
            Self::Bare(_) => packet_bytes,
        }
    }

    /// What stands before a packet.
    pub(crate) fn write_tag(&self, tag: &Tag, buffer: &mut Vec<u8>) {
        if let Self::Datagrams(_) = self {
            buffer.extend_from_slice(&tag.to_bytes());
        }
    }

    /// Ends what was written from here on: the datagram of a packet.
    pub(crate) fn seal(&mut self, from: usize, buffer: &mut Vec<u8>) {
        if let Self::Datagrams(framing) = self {
            framing.seal(from, buffer);
        }
    }

    /// How long the datagram of messages is, which is to get through where a packet that is so long
    /// with its tag does.
    pub(crate) fn messages_bytes(&self, messages_bytes: usize, bytes_min: usize) -> usize {
        match self {
            Self::Datagrams(framing) => framing.messages_bytes(messages_bytes, bytes_min),
            Self::Bare(bare) => bare.messages_bytes(messages_bytes, bytes_min),
        }
    }

    /// Writes messages that go on a channel, the first of this epoch, behind what the buffer holds, as
    /// a datagram of this length.
    pub(crate) fn write_messages(
        &mut self,
        on: (usize, Epoch),
        messages: &[u8],
        datagram_bytes: usize,
        buffer: &mut Vec<u8>,
    ) {
        match self {
            Self::Datagrams(framing) => {
                framing.write_messages(on, messages, datagram_bytes, buffer);
            }
            Self::Bare(_) => Bare::write_messages(messages, datagram_bytes, buffer),
        }
    }

    /// What a datagram is, and whether it says that its channel is where it came from.
    pub(crate) fn open<'a>(
        &mut self,
        payload: Payload,
        datagram: &'a mut [u8],
    ) -> Option<(Frame<'a>, bool)> {
        match self {
            Self::Datagrams(framing) => framing.open(datagram),
            Self::Bare(bare) => bare.open(payload, datagram).map(|frame| (frame, false)),
        }
    }

    /// For whom datagrams are sealed, if they are.
    pub(crate) fn peer(&self) -> Option<&Peer> {
        match self {
            Self::Datagrams(framing) => framing.peer.as_deref(),
            Self::Bare(_) => None,
        }
    }

    pub(crate) fn peer_mut(&mut self) -> Option<&mut Peer> {
        match self {
            Self::Datagrams(framing) => framing.peer.as_deref_mut(),
            Self::Bare(_) => None,
        }
    }
}
