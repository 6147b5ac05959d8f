//! Encapsulation of packets and messages.
//!
//! | | packet | messages |
//! |---|---|---|
//! | [`Framing`], over UDP | after its tag, encrypted if there is a key | after a header, encrypted if there is a key |
//! | [`Bare`], over Ethernet | unmodified, under one EtherType | under another EtherType |

use gingham_stripe::{Epoch, Tag};
use gingham_stripe_crypt::Peer;

use crate::bare::Bare;
use crate::framing::{Frame, Framing};
use crate::link::Payload;

#[derive(Debug)]
pub(crate) enum Encapsulation {
    Datagrams(Box<Framing>),
    Bare(Bare),
}

impl Encapsulation {
    pub(crate) const fn prefix_bytes(&self) -> usize {
        match self {
            Self::Datagrams(_) => 0,
            Self::Bare(bare) => bare.prefix_bytes(),
        }
    }

    pub(crate) fn data_bytes(&self, tag: &Tag, packet_bytes: usize) -> usize {
        match self {
            Self::Datagrams(framing) => framing.data_bytes(tag, packet_bytes),
            Self::Bare(_) => packet_bytes,
        }
    }

    pub(crate) fn write_tag(&self, tag: &Tag, buffer: &mut Vec<u8>) {
        if let Self::Datagrams(_) = self {
            buffer.extend_from_slice(&tag.to_bytes());
        }
    }

    pub(crate) fn seal(&mut self, from: usize, buffer: &mut Vec<u8>) {
        if let Self::Datagrams(framing) = self {
            framing.seal(from, buffer);
        }
    }

    pub(crate) fn messages_bytes(&self, messages_bytes: usize, bytes_min: usize) -> usize {
        match self {
            Self::Datagrams(framing) => framing.messages_bytes(messages_bytes, bytes_min),
            Self::Bare(bare) => bare.messages_bytes(messages_bytes, bytes_min),
        }
    }

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
