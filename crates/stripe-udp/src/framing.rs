//! What a datagram is: a byte that says so, and what follows.
//!
//! ```text
//!   | 1 | tag, 12 bytes | packet        data
//!   | 2 | tag, 20 bytes | packet        a copy of data that was lost
//!   | 3 | message                       to the receiver of the other end
//!   | 4 | message                       to its sender
//! ```
//!
//! Nothing is encrypted here, and nobody is known: this file is to be replaced where that matters.
//!
//! Invariant: any bytes give a frame or nothing.

use gingham_stripe::{TAG_BYTES, Tag};

/// What stands before a packet that was not sent before.
pub const DATA_HEADER_BYTES: usize = 1 + TAG_BYTES;

const DATA: u8 = 1;
const COPY: u8 = 2;
const TO_RECEIVER: u8 = 3;
const TO_SENDER: u8 = 4;

/// What a datagram holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A packet or a copy of one, which its tag tells.
    Data(Tag, &'a [u8]),
    /// A message of the sender.
    ToReceiver(&'a [u8]),
    /// A message of the receiver.
    ToSender(&'a [u8]),
}

impl<'a> Frame<'a> {
    /// What these bytes are.
    pub fn parse(datagram: &'a [u8]) -> Option<Self> {
        let (kind, rest) = datagram.split_first()?;
        match *kind {
            DATA | COPY => {
                let (tag, packet) = Tag::parse(rest).ok()?;
                let is_copy = tag.repair_of.is_some();
                (is_copy == (*kind == COPY)).then_some(Self::Data(tag, packet))
            }
            TO_RECEIVER => Some(Self::ToReceiver(rest)),
            TO_SENDER => Some(Self::ToSender(rest)),
            _ => None,
        }
    }

    /// The frame, behind what the buffer holds.
    pub fn write(&self, buffer: &mut Vec<u8>) {
        let rest = match self {
            Self::Data(tag, packet) => {
                write_header(*tag, buffer);
                packet
            }
            Self::ToReceiver(message) => {
                buffer.push(TO_RECEIVER);
                message
            }
            Self::ToSender(message) => {
                buffer.push(TO_SENDER);
                message
            }
        };
        buffer.extend_from_slice(rest);
    }
}

/// Writes what stands before a packet with this tag.
pub(crate) fn write_header(tag: Tag, buffer: &mut Vec<u8>) {
    buffer.push(if tag.repair_of.is_some() { COPY } else { DATA });
    buffer.extend_from_slice(&tag.to_bytes());
}

#[cfg(test)]
mod tests {
    use gingham_stripe::RepairOf;

    use super::*;

    fn written(frame: &Frame<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame.write(&mut bytes);
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        let tag =
            Tag { sequence: 7, channel: 1, channel_sequence: 3, session: 9, repair_of: None };
        let of = RepairOf { next_sequence: 8, ..RepairOf::default() };
        let copy = Tag { repair_of: Some(of), ..tag };
        for (frame, first, length) in [
            (Frame::Data(tag, b"data"), 1, 17),
            (Frame::Data(copy, b""), 2, 21),
            (Frame::ToReceiver(b"marker"), 3, 7),
            (Frame::ToSender(b"report"), 4, 7),
        ] {
            let bytes = written(&frame);
            assert_eq!((bytes[0], bytes.len()), (first, length));
            assert_eq!(Frame::parse(&bytes), Some(frame));
        }
    }

    #[test]
    fn what_is_no_frame_is_nothing() {
        let mut data_as_copy = written(&Frame::Data(Tag::default(), b"data"));
        data_as_copy[0] = COPY;
        for bytes in [&[][..], &[0, 1], &[5], &[1; 12], &data_as_copy] {
            assert_eq!(Frame::parse(bytes), None, "{bytes:?}");
        }
    }
}
