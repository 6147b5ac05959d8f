//! What a datagram is: a header in clear, and what follows, sealed where there is a key.
//!
//! ```text
//!   | header, 8 bytes: data    |              sequence 4                | packet            | check |
//!   | header, 8 bytes: copy    |              sequence 4, of 8          | packet            | check |
//!   | header, 8 bytes: message | start 8 |    to 1                      | message, padding  | check |
//!   |<------------- in clear ------------>|<---------------- sealed ----------------->|
//! ```
//!
//! `start` and `check` are there only where there is a key (see [`crate::protection`]); `to` is 0
//! for a message to the receiver of the other end, 1 for one to its sender. What runs without a key
//! is for networks in which nobody else is, and for tests.
//!
//! Invariant: any bytes give a frame or nothing.

use gingham_stripe::{Content, HEADER_BYTES, Header, Message, MessageNumbers, TAG_BYTES_MAX, Tag};

use crate::protection::{Protection, ProtectionPlan};

/// By how much the datagram of a packet is longer at the most: of a copy, with a key.
pub const OVERHEAD_BYTES_MAX: usize = TAG_BYTES_MAX + Protection::CHECK_BYTES;

const TO_RECEIVER: u8 = 0;
const TO_SENDER: u8 = 1;

/// What a datagram holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    /// A packet or a copy of one, which its tag tells.
    Data(Tag, &'a [u8]),
    /// A packet without a tag, and what it is charged.
    Packet { length_bytes: usize, packet: &'a [u8] },
    /// A message of the sender.
    ToReceiver(&'a [u8]),
    /// A message of the receiver.
    ToSender(&'a [u8]),
}

impl<'a> Frame<'a> {
    /// What stands behind this header, once it is in clear.
    fn parse(header: Header, behind: &'a [u8]) -> Option<Self> {
        if header.content != Content::Message {
            let (tag, packet) = Tag::parse_behind(header, behind).ok()?;
            return Some(Self::Data(tag, packet));
        }
        match behind.split_first()? {
            (&TO_RECEIVER, message) => Some(Self::ToReceiver(message)),
            (&TO_SENDER, message) => Some(Self::ToSender(message)),
            _ => None,
        }
    }
}

/// Makes datagrams of what goes, and reads those that come.
#[derive(Debug, Default)]
pub(crate) struct Framing {
    numbers: MessageNumbers,
    protection: Option<Protection>,
}

impl Framing {
    /// With a key where there is one, for an end that began then, in nanoseconds of any clock that
    /// does not go back from one start to the next.
    pub(crate) fn new(plan: Option<&ProtectionPlan>, started_at: u64) -> Self {
        let protection = plan.map(|plan| Protection::new(plan, started_at));
        Self { numbers: MessageNumbers::default(), protection }
    }

    /// How long the datagram of a packet with this tag is.
    pub(crate) fn data_bytes(&self, tag: &Tag, packet_bytes: usize) -> usize {
        let check_bytes = if self.protection.is_some() { Protection::CHECK_BYTES } else { 0 };
        tag.length() + packet_bytes + check_bytes
    }

    /// How long the datagram of a message is that is to be as long at least as that of a packet which
    /// is so long with its tag, so that it gets through where that does.
    pub(crate) fn message_bytes(&self, message_bytes: usize, bytes_min: usize) -> usize {
        let (added, check_bytes) = match self.protection {
            Some(_) => (Protection::MESSAGE_BYTES, Protection::CHECK_BYTES),
            None => (0, 0),
        };
        (HEADER_BYTES + 1 + message_bytes + added).max(bytes_min + check_bytes)
    }

    /// Writes a message, behind what the buffer holds, as a datagram of this length.
    pub(crate) fn write_message(
        &mut self,
        message: &Message,
        is_to_receiver: bool,
        datagram_bytes: usize,
        buffer: &mut Vec<u8>,
    ) {
        let from = buffer.len();
        buffer.extend_from_slice(&self.numbers.header(message).to_bytes());
        let mut check_bytes = 0;
        if let Some(protection) = &self.protection {
            // It is written where it is known for sure: when the message is sealed.
            buffer.extend_from_slice(&protection.started_at().to_be_bytes());
            check_bytes = Protection::CHECK_BYTES;
        }
        buffer.push(if is_to_receiver { TO_RECEIVER } else { TO_SENDER });
        buffer.extend_from_slice(&message.to_bytes());
        buffer.resize(from + datagram_bytes - check_bytes, 0);
        self.seal(from, buffer);
    }

    /// Seals what was written from here on: the datagram of a packet behind its tag, or a message.
    pub(crate) fn seal(&mut self, from: usize, buffer: &mut Vec<u8>) {
        if let Some(protection) = &mut self.protection {
            protection.seal(from, buffer);
        }
    }

    /// What a datagram is, deciphered in its place.
    pub(crate) fn open<'a>(&mut self, datagram: &'a mut [u8]) -> Option<Frame<'a>> {
        let (header, _) = Header::parse(datagram).ok()?;
        let behind: &[u8] = match &mut self.protection {
            Some(protection) => protection.open(header, datagram)?,
            None => &datagram[HEADER_BYTES..],
        };
        Frame::parse(header, behind)
    }
}

#[cfg(test)]
mod tests {
    use gingham_stripe::{Epoch, Kind, RepairOf};

    use super::*;
    use crate::protection::Role;

    const MESSAGE: Message =
        Message { epoch: Epoch::new(9), channel: 1, channels: 2, kind: Kind::Acknowledged };

    fn framing(role: Option<Role>) -> Framing {
        let plan = role.map(|role| ProtectionPlan::new([7; 32], role));
        Framing::new(plan.as_ref(), 5)
    }

    fn data(framing: &mut Framing, tag: Tag, packet: &[u8]) -> Vec<u8> {
        let mut bytes = tag.to_bytes().to_vec();
        bytes.extend_from_slice(packet);
        framing.seal(0, &mut bytes);
        assert_eq!(bytes.len(), framing.data_bytes(&tag, packet.len()));
        bytes
    }

    fn message(framing: &mut Framing, is_to_receiver: bool, bytes_min: usize) -> Vec<u8> {
        let (mut bytes, text) = (b"before".to_vec(), MESSAGE.to_bytes());
        let length = framing.message_bytes(text.len(), bytes_min);
        framing.write_message(&MESSAGE, is_to_receiver, length, &mut bytes);
        let bytes = bytes.split_off(6);
        assert_eq!(bytes.len(), length);
        bytes
    }

    /// With a key and without: the header stays what it was, and all is read as it was written.
    #[test]
    fn what_is_written_is_read() {
        let of = RepairOf { next_sequence: 8, ..RepairOf::default() };
        let tag = Tag { sequence: 7, channel: 1, channel_sequence: 3, session: 9, repair_of: None };
        let copy = Tag { repair_of: Some(of), channel_sequence: 4, ..tag };
        for (roles, added) in [([None; 2], 0), ([Some(Role::Initiator), Some(Role::Responder)], 16)]
        {
            let [mut left, mut right] = roles.map(framing);
            let mut first = data(&mut left, tag, b"data");
            // Nothing is known of an end before it has said a message.
            assert_eq!(right.open(&mut first).is_none(), added > 0);
            let text = MESSAGE.to_bytes();
            let mut asked = message(&mut left, true, 0);
            assert_eq!(right.open(&mut asked), Some(Frame::ToReceiver(&text)));
            let mut told = message(&mut left, false, 200);
            let Some(Frame::ToSender(told)) = right.open(&mut told) else { panic!("a message") };
            assert!(told.starts_with(&text) && told[text.len()..].iter().all(|byte| *byte == 0));
            for (tag, packet) in [(copy, &b""[..]), (Tag { channel_sequence: 5, ..tag }, b"data")] {
                let mut bytes = data(&mut left, tag, packet);
                assert_eq!(bytes.len(), tag.length() + packet.len() + added);
                assert_eq!(bytes[..HEADER_BYTES], tag.header().to_bytes());
                assert_eq!(right.open(&mut bytes), Some(Frame::Data(tag, packet)));
            }
        }
    }

    /// A probe that were a byte shorter would bring a channel back on which no packet gets through.
    #[test]
    fn a_probe_is_as_long_as_what_was_lost() {
        let tag = Tag::default();
        for role in [None, Some(Role::Initiator)] {
            let mut framing = framing(role);
            let packet_bytes = framing.data_bytes(&tag, 1_400);
            assert_eq!(message(&mut framing, true, tag.length() + 1_400).len(), packet_bytes);
        }
        assert_eq!(framing(None).message_bytes(60, 0), 69);
    }

    #[test]
    fn what_is_no_frame_is_nothing() {
        let mut to_nobody = message(&mut framing(None), true, 0);
        to_nobody[HEADER_BYTES] = 2;
        for bytes in [&[][..], &[0x32], &[0x30; 11], &[0x31; 19], &[0x32; 8], &to_nobody] {
            for role in [None, Some(Role::Responder)] {
                assert_eq!(framing(role).open(&mut bytes.to_vec()), None, "{bytes:?}");
            }
        }
    }
}
