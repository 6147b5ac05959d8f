//! Events of the engine, in the order of the phases in `docs/concepts/timing-packets.md`. Packet
//! starts follow all simultaneous events and are not events themselves (see `clock`).

use crate::packed::{INDEX_MAX, Packed};
use crate::packets::packet::PacketId;
use gingham_topology::{ChannelId, EndpointId};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// Phase 1: a source creates a message.
    Create { source: usize },
    /// Phase 1: an endpoint is woken.
    Wake { endpoint: EndpointId },
    /// Phase 2: a packet's tail has left its sender, and another packet waits for the channel.
    Left { channel: ChannelId },
    /// Phase 3: a whole packet has arrived.
    Deliver { channel: ChannelId, packet: PacketId },
    /// Phase 4: a credit update reaches a waiting sender.
    Known { channel: ChannelId, lane: u8 },
    /// Phase 5: a switch reads the head of a packet.
    Read { channel: ChannelId, packet: PacketId },
    /// Phase 5: a switch may forward the packet.
    Ready { channel: ChannelId, packet: PacketId },
    /// Phase 5: tokens or a rate limit no longer hold back a host's packet.
    Released { channel: ChannelId },
    /// The fill level of the buffer may have crossed a threshold.
    CheckBuffer { channel: ChannelId, lane: u8 },
    /// A pause frame takes effect at the sender.
    PauseReceived { channel: ChannelId, lane: u8, is_pause: bool },
    /// Blocks of the buffer are freed. The credit update that reports them may be lost.
    Freed { channel: ChannelId, lane: u8, blocks: u32 },
    /// One repetition period has passed since a credit update was lost.
    Repeat { channel: ChannelId, lane: u8 },
}

const READY: u64 = 7;

/// Returns the packet of [`Event::Ready`], the most frequent event, without unpacking other kinds.
#[inline]
pub(crate) fn ready(packed: Packed) -> Option<PacketId> {
    (packed.kind() == READY).then(|| PacketId::new(packed.rest()))
}

impl From<Packed> for Event {
    #[inline]
    fn from(event: Packed) -> Self {
        let (index, rest) = (event.index(), event.rest());
        let channel = ChannelId::new(index);
        match event.kind() {
            1 => Self::Create { source: index },
            2 => Self::Wake { endpoint: EndpointId::new(index) },
            3 => Self::Left { channel },
            4 => Self::Deliver { channel, packet: PacketId::new(rest) },
            5 => Self::Known { channel, lane: u8::try_from(rest).expect("lanes are few") },
            6 => Self::Read { channel, packet: PacketId::new(rest) },
            READY => Self::Ready { channel, packet: PacketId::new(rest) },
            8 => Self::Released { channel },
            9 => Self::CheckBuffer { channel, lane: u8::try_from(rest).expect("lanes are few") },
            10 => {
                let lane = u8::try_from(rest >> 1).expect("lanes are few");
                Self::PauseReceived { channel, lane, is_pause: rest & 1 == 1 }
            }
            11 => {
                let lane = u8::try_from(rest >> 28).expect("lanes are few");
                let blocks = u32::try_from(rest & INDEX_MAX).expect("28 bits");
                Self::Freed { channel, lane, blocks }
            }
            12 => Self::Repeat { channel, lane: u8::try_from(rest).expect("lanes are few") },
            kind => unreachable!("no event has the kind {kind}"),
        }
    }
}

impl From<Event> for Packed {
    #[inline]
    fn from(event: Event) -> Self {
        let (kind, index, rest) = match event {
            Event::Create { source } => (1, source, 0),
            Event::Wake { endpoint } => (2, endpoint.index(), 0),
            Event::Left { channel } => (3, channel.index(), 0),
            Event::Deliver { channel, packet } => (4, channel.index(), packet.index()),
            Event::Known { channel, lane } => (5, channel.index(), lane.into()),
            Event::Read { channel, packet } => (6, channel.index(), packet.index()),
            Event::Ready { channel, packet } => (READY, channel.index(), packet.index()),
            Event::Released { channel } => (8, channel.index(), 0),
            Event::CheckBuffer { channel, lane } => (9, channel.index(), lane.into()),
            Event::PauseReceived { channel, lane, is_pause } => {
                (10, channel.index(), usize::from(lane) << 1 | usize::from(is_pause))
            }
            Event::Freed { channel, lane, blocks } => {
                debug_assert!(blocks as usize <= INDEX_MAX, "a buffer holds fewer blocks");
                (11, channel.index(), usize::from(lane) << 28 | blocks as usize)
            }
            Event::Repeat { channel, lane } => (12, channel.index(), lane.into()),
        };
        Self::new(kind, index, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_events_unpack_and_keep_their_order() {
        let (low, high) = (ChannelId::new(3), ChannelId::new(INDEX_MAX));
        let packet = PacketId::new(0xffff_fffe);
        let events = [
            Event::Create { source: 9 },
            Event::Wake { endpoint: EndpointId::new(7) },
            Event::Left { channel: low },
            Event::Deliver { channel: high, packet },
            Event::Known { channel: low, lane: 0 },
            Event::Known { channel: low, lane: 15 },
            Event::Read { channel: low, packet },
            Event::Ready { channel: low, packet },
            Event::Released { channel: high },
            Event::CheckBuffer { channel: low, lane: 15 },
            Event::PauseReceived { channel: low, lane: 0, is_pause: true },
            Event::PauseReceived { channel: low, lane: 15, is_pause: false },
            Event::PauseReceived { channel: low, lane: 15, is_pause: true },
            Event::Freed { channel: low, lane: 0, blocks: 1 << 21 },
            Event::Freed { channel: low, lane: 15, blocks: 1 },
            Event::Repeat { channel: high, lane: 15 },
        ];
        for pair in events.windows(2) {
            assert!(pair[0] < pair[1] && Packed::from(pair[0]) < Packed::from(pair[1]));
        }
        for event in events {
            assert_eq!(Event::from(Packed::from(event)), event);
            let is_ready = matches!(event, Event::Ready { .. });
            assert_eq!(ready(Packed::from(event)), is_ready.then_some(packet));
        }
    }
}
