//! Datagrams: a cleartext header and a body, which is encrypted if there is a key.
//!
//! ```text
//!   | header, 8 bytes: data     | sequence 4 | packet                 | check 16 |
//!   | header, 8 bytes: copy     | sequence 4 | lost packet 8 | packet | check 16 |
//!   | header, 8 bytes: messages | message    | message | padding      | check 16 |
//!   |<------ cleartext -------->|<------------------- sealed ------------------->|
//! ```
//!
//! `check` exists only with a key (`gingham_stripe_crypt`). Operation without a key is for isolated
//! networks and tests.
//!
//! Invariant: any received bytes are either a valid frame or discarded.

use gingham_stripe::{
    Content, Epoch, HEADER_BYTES, Header, MessageNumbers, Messages, TAG_BYTES_MAX, Tag,
};
use gingham_stripe_crypt::{Discard, Peer};

/// Maximum overhead in bytes, reached by an encrypted retransmission.
pub const OVERHEAD_BYTES_MAX: usize = TAG_BYTES_MAX + Peer::CHECK_BYTES;

#[derive(Clone, Debug)]
pub(crate) enum Frame<'a> {
    /// A tagged packet; the tag marks retransmissions.
    Data(Tag, &'a [u8]),
    /// An untagged packet, and the length charged to its channel.
    Packet { length_bytes: usize, packet: &'a [u8] },
    /// One or more messages, and the channel named by the datagram, if any.
    Messages(Option<usize>, Messages<'a>),
}

impl<'a> Frame<'a> {
    pub(crate) fn channel(&self) -> Option<usize> {
        match self {
            Self::Data(tag, _) => Some(tag.channel.into()),
            Self::Packet { .. } => None,
            Self::Messages(channel, _) => *channel,
        }
    }

    fn parse(header: Header, behind: &'a [u8]) -> Option<Self> {
        if header.content != Content::Message {
            let (tag, packet) = Tag::parse_behind(header, behind).ok()?;
            return Some(Self::Data(tag, packet));
        }
        Self::messages(Some(header.channel.into()), behind)
    }

    pub(crate) fn messages(channel: Option<usize>, bytes: &'a [u8]) -> Option<Self> {
        let messages = Messages::new(bytes);
        messages.clone().next().is_some().then_some(Self::Messages(channel, messages))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Framing {
    numbers: MessageNumbers,
    pub(crate) peer: Option<Box<Peer>>,
}

impl Framing {
    pub(crate) fn new(peer: Option<Peer>) -> Self {
        Self { numbers: MessageNumbers::default(), peer: peer.map(Box::new) }
    }

    const fn check_bytes(&self) -> usize {
        if self.peer.is_some() { Peer::CHECK_BYTES } else { 0 }
    }

    pub(crate) fn data_bytes(&self, tag: &Tag, packet_bytes: usize) -> usize {
        tag.length() + packet_bytes + self.check_bytes()
    }

    /// Returns the length of a datagram of messages, padded like a tagged packet of `bytes_min`
    /// bytes, so that a path that drops the packet also drops the datagram.
    pub(crate) fn messages_bytes(&self, messages_bytes: usize, bytes_min: usize) -> usize {
        (HEADER_BYTES + messages_bytes).max(bytes_min) + self.check_bytes()
    }

    pub(crate) fn write_messages(
        &mut self,
        (channel, epoch): (usize, Epoch),
        messages: &[u8],
        datagram_bytes: usize,
        buffer: &mut Vec<u8>,
    ) {
        let from = buffer.len();
        let channel = u8::try_from(channel).expect("at most 64 channels");
        buffer.extend_from_slice(&self.numbers.header(channel, epoch).to_bytes());
        buffer.extend_from_slice(messages);
        buffer.resize(from + datagram_bytes - self.check_bytes(), 0);
        // A receiver responds to a sender's messages, but no end responds to a receiver's messages.
        let mut parsed = Messages::new(messages).flatten();
        let is_answer = !parsed.any(|message| message.kind.is_from_sender());
        match &mut self.peer {
            Some(peer) if is_answer => peer.seal_answer(from, buffer),
            _ => self.seal(from, buffer),
        }
    }

    pub(crate) fn seal(&mut self, from: usize, buffer: &mut Vec<u8>) {
        if let Some(peer) = &mut self.peer {
            peer.seal(from, buffer);
        }
    }

    /// Decrypts a datagram in place. Also returns whether the datagram is authentic and the newest,
    /// so that its source must be the channel's other end.
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

    /// Opens a datagram like [`Self::open`], but does not count failures, as the datagram may be
    /// from another peer.
    pub(crate) fn try_open<'a>(&mut self, datagram: &'a mut [u8]) -> Option<(Frame<'a>, bool)> {
        let (header, behind, is_newest) = self.peer.as_mut()?.try_open(datagram).ok()?;
        Some((Frame::parse(header, behind)?, is_newest))
    }
}

/// Returns whether the datagram contains unencrypted messages; unencrypted packets cannot be
/// recognised.
pub(crate) fn is_in_clear(datagram: &[u8]) -> bool {
    Header::parse(datagram).is_ok_and(|(header, behind)| {
        let first = Messages::new(behind).next();
        header.content == Content::Message && first.is_some_and(|first| first.is_ok())
    })
}

#[cfg(test)]
mod tests {
    use gingham_stripe::{Instant, Kind, Message, RepairOf};
    use gingham_stripe_crypt::{PeerPlan, PrivateKey, Sender, Times};

    use super::*;

    const MESSAGE: Message =
        Message { epoch: Epoch::new(9), channel: 1, channels: 2, kind: Kind::Acknowledged };

    fn sealed() -> [Framing; 2] {
        let keys = [0; 2].map(|_| PrivateKey::random().expect("randomness"));
        let mut peers = [0, 1].map(|end| {
            let (private, peer) = (keys[end].clone(), keys[1 - end].public());
            let plan = PeerPlan { private, peer, preshared: None, times: Times::default() };
            Peer::new(&plan, Instant::ORIGIN).expect("randomness")
        });
        let (mut to, mut reply) = (1, Vec::new());
        let now = Instant::ORIGIN;
        let anywhere = Sender { address: ([192, 0, 2, 1], 7000).into(), is_known: false };
        let mut message = peers[0].poll_transmit(now, true).expect("an initiation").to_vec();
        while !message.is_empty() {
            peers[to].handle(now, anywhere, &message, &mut reply).expect("it is taken");
            message.clone_from(&reply);
            to = 1 - to;
        }
        let confirm = peers[0].poll_transmit(now, true).expect("a confirm").to_vec();
        peers[1].handle(now, anywhere, &confirm, &mut reply).expect("it is taken");
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

    fn messages(framing: &mut Framing, count: usize, bytes_min: usize) -> Vec<u8> {
        let (mut bytes, text) = (b"before".to_vec(), MESSAGE.to_bytes().repeat(count));
        let length = framing.messages_bytes(text.len(), bytes_min);
        framing.write_messages((1, MESSAGE.epoch), &text, length, &mut bytes);
        let bytes = bytes.split_off(6);
        assert_eq!(bytes.len(), length);
        bytes
    }

    fn opened<'a>(framing: &mut Framing, datagram: &'a mut [u8]) -> Option<Frame<'a>> {
        framing.open(datagram).map(|(frame, _)| frame)
    }

    #[test]
    fn frames_round_trip() {
        let of = RepairOf { next_sequence: 8, ..RepairOf::default() };
        let tag = Tag { sequence: 7, channel: 1, channel_sequence: 3, session: 9, repair_of: None };
        let copy = Tag { repair_of: Some(of), channel_sequence: 4, ..tag };
        for ([mut left, mut right], added) in [(clear(), 0), (sealed(), 16)] {
            for (count, bytes_min) in [(1, 0), (3, 0), (2, 200)] {
                let mut bytes = messages(&mut left, count, bytes_min);
                let Some(Frame::Messages(Some(1), opened_data)) = opened(&mut right, &mut bytes)
                else {
                    panic!("messages")
                };
                assert!(opened_data.eq(vec![Ok(MESSAGE); count]));
            }
            for (tag, packet) in [(copy, &b""[..]), (Tag { channel_sequence: 5, ..tag }, b"data")] {
                let mut bytes = data(&mut left, tag, packet);
                assert_eq!(bytes.len(), tag.length() + packet.len() + added);
                assert_eq!(bytes[1..HEADER_BYTES], tag.header().to_bytes()[1..]);
                let Some(Frame::Data(read, opened_data)) = opened(&mut right, &mut bytes) else {
                    panic!("a packet")
                };
                assert_eq!((read, opened_data), (tag, packet));
            }
        }
    }

    #[test]
    fn probe_is_as_long_as_the_lost_packet() {
        let tag = Tag::default();
        for [mut framing, _] in [clear(), sealed()] {
            let packet_bytes = framing.data_bytes(&tag, 1_400);
            assert_eq!(messages(&mut framing, 1, tag.length() + 1_400).len(), packet_bytes);
        }
        assert_eq!(Framing::default().messages_bytes(60, 0), 68);
    }

    #[test]
    fn invalid_frames_are_ignored() {
        let padding = [&[0x42, 0, 0, 0, 0, 0, 0, 0][..], &[0; 80]].concat();
        for bytes in [&[][..], &[0x42], &[0x40; 11], &[0x41; 19], &[0x42; 8], &padding] {
            let [clear, sealed] = [clear(), sealed()];
            for mut framing in clear.into_iter().chain(sealed) {
                assert!(framing.open(&mut bytes.to_vec()).is_none(), "{bytes:?}");
            }
        }
    }

    #[test]
    fn cleartext_is_counted_apart_from_failed_authentication() {
        let [mut left, mut right] = sealed();
        assert!(right.open(&mut messages(&mut Framing::default(), 1, 0)).is_none());
        let mut changed = messages(&mut left, 1, 0);
        changed[20] ^= 1;
        assert!(right.open(&mut changed).is_none());
        let discards = right.peer.expect("there is one").counts().discards;
        assert_eq!(discards.of(Discard::InClear), 1);
        assert_eq!((discards.of(Discard::NotAuthentic), discards.total()), (1, 2));
    }
}
