//! What a datagram is: a header in clear, and what follows, sealed where there is a key.
//!
//! ```text
//!   | header, 8 bytes: data    | sequence 4       | packet           | check 16 |
//!   | header, 8 bytes: copy    | sequence 4, of 8 | packet           | check 16 |
//!   | header, 8 bytes: message | to 1             | message, padding | check 16 |
//!   |<------- in clear ------->|<-------------- sealed -------------->|
//! ```
//!
//! `check` is there only where there is a key (`gingham_stripe_crypt`); `to` is 0 for a message to the
//! receiver of the other end, 1 for one to its sender. What runs without a key is for networks in
//! which nobody else is, and for tests.
//!
//! Invariant: any bytes give a frame or nothing.

use gingham_stripe::{Content, HEADER_BYTES, Header, Message, MessageNumbers, TAG_BYTES_MAX, Tag};
use gingham_stripe_crypt::{Discard, Peer};

/// By how much the datagram of a packet is longer at the most: of a copy, with a key.
pub const OVERHEAD_BYTES_MAX: usize = TAG_BYTES_MAX + Peer::CHECK_BYTES;

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
    /// Which channel it says that it is of.
    pub(crate) fn channel(&self) -> Option<usize> {
        match self {
            Self::Data(tag, _) => Some(tag.channel.into()),
            Self::Packet { .. } => None,
            Self::ToReceiver(message) | Self::ToSender(message) => {
                Message::parse(message).ok().map(|message| message.channel.into())
            }
        }
    }

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
    /// For whom datagrams are sealed, if they are.
    pub(crate) peer: Option<Box<Peer>>,
}

impl Framing {
    /// With keys where there is somebody to agree on them with.
    pub(crate) fn new(peer: Option<Peer>) -> Self {
        Self { numbers: MessageNumbers::default(), peer: peer.map(Box::new) }
    }

    const fn check_bytes(&self) -> usize {
        if self.peer.is_some() { Peer::CHECK_BYTES } else { 0 }
    }

    /// How long the datagram of a packet with this tag is.
    pub(crate) fn data_bytes(&self, tag: &Tag, packet_bytes: usize) -> usize {
        tag.length() + packet_bytes + self.check_bytes()
    }

    /// How long the datagram of a message is that is to be as long at least as that of a packet which
    /// is so long with its tag, so that it gets through where that does.
    pub(crate) fn message_bytes(&self, message_bytes: usize, bytes_min: usize) -> usize {
        (HEADER_BYTES + 1 + message_bytes).max(bytes_min) + self.check_bytes()
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
        buffer.push(if is_to_receiver { TO_RECEIVER } else { TO_SENDER });
        buffer.extend_from_slice(&message.to_bytes());
        buffer.resize(from + datagram_bytes - self.check_bytes(), 0);
        // A receiver answers markers; nobody answers that.
        match &mut self.peer {
            Some(peer) if !is_to_receiver => peer.seal_answer(from, buffer),
            _ => self.seal(from, buffer),
        }
    }

    /// Seals what was written from here on: the datagram of a packet behind its tag, or a message.
    pub(crate) fn seal(&mut self, from: usize, buffer: &mut Vec<u8>) {
        if let Some(peer) = &mut self.peer {
            peer.seal(from, buffer);
        }
    }

    /// What a datagram is, deciphered in its place, and whether it says that its channel is where it
    /// came from: it is authentic, and newer than all before.
    pub(crate) fn open<'a>(&mut self, datagram: &'a mut [u8]) -> Option<(Frame<'a>, bool)> {
        let Some(peer) = &mut self.peer else {
            let (header, behind) = Header::parse(datagram).ok()?;
            return Some((Frame::parse(header, behind)?, false));
        };
        if is_in_clear(datagram) {
            peer.discard(Discard::InClear);
            return None;
        }
        let (header, behind, is_newest) = peer.open(datagram).ok()?;
        let frame = Frame::parse(header, behind);
        if frame.is_none() {
            peer.discard(Discard::Malformed);
        }
        Some((frame?, is_newest))
    }

    /// The same of a datagram that may be another peer's: what is not taken is not counted.
    pub(crate) fn try_open<'a>(&mut self, datagram: &'a mut [u8]) -> Option<(Frame<'a>, bool)> {
        let (header, behind, is_newest) = self.peer.as_mut()?.try_open(datagram).ok()?;
        Some((Frame::parse(header, behind)?, is_newest))
    }
}

/// Whether this is a message that nobody has sealed. Packets in clear cannot be told.
pub(crate) fn is_in_clear(datagram: &[u8]) -> bool {
    Header::parse(datagram).is_ok_and(|(header, behind)| {
        let frame = (header.content == Content::Message).then(|| Frame::parse(header, behind));
        match frame.flatten() {
            Some(Frame::ToReceiver(message) | Frame::ToSender(message)) => {
                Message::parse(message).is_ok()
            }
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use gingham_stripe::{Epoch, Instant, Kind, RepairOf};
    use gingham_stripe_crypt::{PeerPlan, PrivateKey, Times};

    use super::*;

    const MESSAGE: Message =
        Message { epoch: Epoch::new(9), channel: 1, channels: 2, kind: Kind::Acknowledged };

    /// Two that have shaken hands.
    fn sealed() -> [Framing; 2] {
        let keys = [0; 2].map(|_| PrivateKey::random().expect("randomness"));
        let mut peers = [0, 1].map(|end| {
            let (private, peer) = (keys[end].clone(), keys[1 - end].public());
            let plan = PeerPlan { private, peer, preshared: None, times: Times::default() };
            Peer::new(&plan, Instant::ORIGIN).expect("randomness")
        });
        let (mut to, mut reply) = (1, Vec::new());
        let now = Instant::ORIGIN;
        let mut message = peers[0].poll_transmit(now, true).expect("an initiation").to_vec();
        while !message.is_empty() {
            peers[to].handle(now, b"anywhere", &message, &mut reply).expect("it is taken");
            message.clone_from(&reply);
            to = 1 - to;
        }
        let confirm = peers[0].poll_transmit(now, true).expect("a confirm").to_vec();
        peers[1].handle(now, b"anywhere", &confirm, &mut reply).expect("it is taken");
        peers.map(|peer| Framing::new(Some(peer)))
    }

    fn clear() -> [Framing; 2] {
        [Framing::default(), Framing::default()]
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

    fn opened<'a>(framing: &mut Framing, datagram: &'a mut [u8]) -> Option<Frame<'a>> {
        framing.open(datagram).map(|(frame, _)| frame)
    }

    /// With a key and without: the header stays what it was but for what names the key, and all is
    /// read as it was written.
    #[test]
    fn what_is_written_is_read() {
        let of = RepairOf { next_sequence: 8, ..RepairOf::default() };
        let tag = Tag { sequence: 7, channel: 1, channel_sequence: 3, session: 9, repair_of: None };
        let copy = Tag { repair_of: Some(of), channel_sequence: 4, ..tag };
        for ([mut left, mut right], added) in [(clear(), 0), (sealed(), 16)] {
            let text = MESSAGE.to_bytes();
            let mut asked = message(&mut left, true, 0);
            assert_eq!(opened(&mut right, &mut asked), Some(Frame::ToReceiver(&text)));
            let mut told = message(&mut left, false, 200);
            let Some(Frame::ToSender(told)) = opened(&mut right, &mut told) else {
                panic!("a message")
            };
            assert!(told.starts_with(&text) && told[text.len()..].iter().all(|byte| *byte == 0));
            for (tag, packet) in [(copy, &b""[..]), (Tag { channel_sequence: 5, ..tag }, b"data")] {
                let mut bytes = data(&mut left, tag, packet);
                assert_eq!(bytes.len(), tag.length() + packet.len() + added);
                assert_eq!(bytes[1..HEADER_BYTES], tag.header().to_bytes()[1..]);
                assert_eq!(opened(&mut right, &mut bytes), Some(Frame::Data(tag, packet)));
            }
        }
    }

    /// A probe that were a byte shorter would bring a channel back on which no packet gets through.
    #[test]
    fn a_probe_is_as_long_as_what_was_lost() {
        let tag = Tag::default();
        for [mut framing, _] in [clear(), sealed()] {
            let packet_bytes = framing.data_bytes(&tag, 1_400);
            assert_eq!(message(&mut framing, true, tag.length() + 1_400).len(), packet_bytes);
        }
        assert_eq!(Framing::default().message_bytes(60, 0), 69);
    }

    #[test]
    fn what_is_no_frame_is_nothing() {
        let mut to_nobody = message(&mut Framing::default(), true, 0);
        to_nobody[HEADER_BYTES] = 2;
        for bytes in [&[][..], &[0x32], &[0x30; 11], &[0x31; 19], &[0x32; 8], &to_nobody] {
            let [clear, sealed] = [clear(), sealed()];
            for mut framing in clear.into_iter().chain(sealed) {
                assert_eq!(framing.open(&mut bytes.to_vec()), None, "{bytes:?}");
            }
        }
    }

    #[test]
    fn a_message_in_clear_is_told_from_one_that_is_not_authentic() {
        let [mut left, mut right] = sealed();
        assert_eq!(right.open(&mut message(&mut Framing::default(), true, 0)), None);
        let mut changed = message(&mut left, true, 0);
        changed[20] ^= 1;
        assert_eq!(right.open(&mut changed), None);
        let discards = right.peer.expect("there is one").counts().discards;
        assert_eq!(discards.of(Discard::InClear), 1);
        assert_eq!((discards.of(Discard::NotAuthentic), discards.total()), (1, 2));
    }
}
