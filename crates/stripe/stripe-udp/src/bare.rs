//! Unmodified packets and messages as Ethernet payload.
//!
//! ```text
//!   EtherType of packets    | IP packet, unmodified     | Ethernet padding |
//!   EtherType of messages   | message | message         | Ethernet padding |
//! ```
//!
//! The packet length is read from the IP header, since Ethernet pads short frames to 60 bytes.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 5 and 6.1; RFC 791, section 3.1, and RFC
//! 8200, section 3 (lengths).

use crate::ethernet::VIRTIO_BYTES;
use crate::framing::Frame;
use crate::link::Payload;

const V6_HEADER_BYTES: usize = 40;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Bare {
    prefix_bytes: usize,
    longest_bytes: usize,
}

impl Bare {
    pub(crate) const fn new(longest_bytes: usize, is_offloaded: bool) -> Self {
        Self { prefix_bytes: if is_offloaded { VIRTIO_BYTES } else { 0 }, longest_bytes }
    }

    pub(crate) const fn prefix_bytes(&self) -> usize {
        self.prefix_bytes
    }

    pub(crate) fn messages_bytes(&self, messages_bytes: usize, bytes_min: usize) -> usize {
        messages_bytes.max(bytes_min.min(self.longest_bytes))
    }

    pub(crate) fn write_messages(messages: &[u8], datagram_bytes: usize, buffer: &mut Vec<u8>) {
        let from = buffer.len();
        buffer.extend_from_slice(messages);
        buffer.resize(from + datagram_bytes, 0);
    }

    pub(crate) fn open<'a>(&self, payload: Payload, datagram: &'a [u8]) -> Option<Frame<'a>> {
        let behind = datagram.get(self.prefix_bytes..)?;
        match payload {
            Payload::Packets => {
                let length_bytes = ip_bytes(behind).filter(|bytes| *bytes <= behind.len())?;
                let packet = &datagram[..self.prefix_bytes + length_bytes];
                Some(Frame::Packet { length_bytes, packet })
            }
            Payload::Messages => Frame::messages(None, behind),
        }
    }
}

/// Returns the packet length from the IP header; `None` if the header is invalid.
pub fn ip_bytes(packet: &[u8]) -> Option<usize> {
    let word = |at: usize| {
        let bytes = packet.get(at..)?.first_chunk()?;
        Some(usize::from(u16::from_be_bytes(*bytes)))
    };
    let bytes = match packet.first()? >> 4 {
        4 => word(2)?,
        6 => V6_HEADER_BYTES + word(4)?,
        _ => 0,
    };
    (bytes > 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use gingham_stripe::{Epoch, Kind, Message};

    use super::*;

    const MESSAGE: Message =
        Message { epoch: Epoch::new(9), channel: 1, channels: 2, kind: Kind::Acknowledged };

    fn v4(length: u16) -> Vec<u8> {
        let mut packet = vec![0x45, 0];
        packet.extend(length.to_be_bytes());
        packet
    }

    fn packet(bare: Bare, frame: &[u8]) -> Option<(usize, &[u8])> {
        match bare.open(Payload::Packets, frame)? {
            Frame::Packet { length_bytes, packet } => Some((length_bytes, packet)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn ethernet_padding_is_removed() {
        let mut frame = v4(28);
        frame.resize(46, 0);
        assert_eq!(packet(Bare::new(1_500, false), &frame), Some((28, &frame[..28])));
        let mut v6 = vec![0x60, 0, 0, 0, 0, 4];
        v6.resize(46, 0);
        assert_eq!(packet(Bare::new(1_500, false), &v6), Some((44, &v6[..44])));
    }

    #[test]
    fn segmentation_header_is_kept_but_not_charged() {
        let mut frame = vec![7; VIRTIO_BYTES];
        frame.extend(v4(30));
        frame.resize(60, 0);
        let expected = (30, &frame[..VIRTIO_BYTES + 30]);
        assert_eq!(packet(Bare::new(65_535, true), &frame), Some(expected));
    }

    #[test]
    fn messages_round_trip() {
        let bare = Bare::new(1_500, false);
        for (count, bytes_min, length) in [(1, 0, 16), (3, 0, 48), (2, 200, 200), (1, 9_000, 1_500)]
        {
            let text = MESSAGE.to_bytes().repeat(count);
            assert_eq!(bare.messages_bytes(text.len(), bytes_min), length);
            let mut bytes = Vec::new();
            Bare::write_messages(&text, length, &mut bytes);
            assert_eq!(bytes.len(), length);
            let Some(Frame::Messages(None, opened_data)) = bare.open(Payload::Messages, &bytes)
            else {
                panic!("messages")
            };
            assert!(opened_data.eq(vec![Ok(MESSAGE); count]));
        }
    }

    #[test]
    fn invalid_frames_are_ignored() {
        let bare = Bare::new(1_500, false);
        for packet in [vec![], vec![0x45], v4(0), v4(5), vec![0x60; 20], vec![0xff; 60]] {
            assert!(bare.open(Payload::Packets, &packet).is_none(), "{packet:?}");
        }
        assert!(bare.open(Payload::Messages, &[]).is_none());
        assert!(bare.open(Payload::Messages, &[0; 46]).is_none());
        assert!(Bare::new(1_500, true).open(Payload::Messages, &[0; 9]).is_none());
    }
}
