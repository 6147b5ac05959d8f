//! Events between ticks, at any picosecond, and their order.
//!
//! Simultaneous events are ordered by kind, then by channel or source, and precede a tick at the
//! same time. Starts of local packets and of in-transit packets share one kind because a channel
//! starts one packet at a time. `Begin` and `Reinject` are for packets that start later than the
//! tick that took their first flit.

use crate::lanes::worms::{InTransitId, WormId};
use crate::packed::Packed;
use gingham_topology::{ChannelId, EndpointId};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    Create { source: usize },
    WakeEndpoint { endpoint: EndpointId },
    Left { channel: ChannelId, worm: WormId },
    Release { channel: ChannelId, packet: InTransitId },
    Recognise { channel: ChannelId, packet: InTransitId },
    TailReceived { channel: ChannelId, packet: InTransitId },
    Deliver { channel: ChannelId, worm: WormId },
    Begin { channel: ChannelId, worm: WormId },
    Reinject { channel: ChannelId, packet: InTransitId },
    Wake { channel: ChannelId },
}

/// Flag in `rest`: an in-transit packet starts.
const IN_TRANSIT: usize = 1 << 31;

impl From<Packed> for Event {
    fn from(event: Packed) -> Self {
        let (index, id) = (event.index(), event.rest());
        let (worm, packet) = (WormId::new(id), InTransitId::new(id));
        let channel = ChannelId::new(index);
        match event.kind() {
            1 => Self::Create { source: index },
            2 => Self::WakeEndpoint { endpoint: EndpointId::new(index) },
            3 => Self::Left { channel, worm },
            4 => Self::Release { channel, packet },
            5 => Self::Recognise { channel, packet },
            6 => Self::TailReceived { channel, packet },
            7 => Self::Deliver { channel, worm },
            8 if id & IN_TRANSIT == 0 => Self::Begin { channel, worm },
            8 => Self::Reinject { channel, packet: InTransitId::new(id & !IN_TRANSIT) },
            9 => Self::Wake { channel },
            kind => unreachable!("no event has the kind {kind}"),
        }
    }
}

impl From<Event> for Packed {
    fn from(event: Event) -> Self {
        let (kind, index, id) = match event {
            Event::Create { source } => (1, source, 0),
            Event::WakeEndpoint { endpoint } => (2, endpoint.index(), 0),
            Event::Left { channel, worm } => (3, channel.index(), worm.index()),
            Event::Release { channel, packet } => (4, channel.index(), packet.index()),
            Event::Recognise { channel, packet } => (5, channel.index(), packet.index()),
            Event::TailReceived { channel, packet } => (6, channel.index(), packet.index()),
            Event::Deliver { channel, worm } => (7, channel.index(), worm.index()),
            Event::Begin { channel, worm } => (8, channel.index(), worm.index()),
            Event::Reinject { channel, packet } => {
                (8, channel.index(), packet.index() | IN_TRANSIT)
            }
            Event::Wake { channel } => (9, channel.index(), 0),
        };
        Self::new(kind, index, id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::INDEX_MAX;

    #[test]
    fn packed_events_unpack_and_keep_their_order() {
        let (low, high) = (ChannelId::new(3), ChannelId::new(INDEX_MAX));
        let (worm, packet) = (WormId::new(0x7fff_ffff), InTransitId::new(0x7fff_ffff));
        let between = ChannelId::new(4);
        let events = [
            Event::Create { source: 9 },
            Event::WakeEndpoint { endpoint: EndpointId::new(7) },
            Event::Left { channel: low, worm },
            Event::Left { channel: high, worm },
            Event::Release { channel: low, packet },
            Event::Recognise { channel: low, packet },
            Event::TailReceived { channel: low, packet },
            Event::Deliver { channel: low, worm },
            Event::Begin { channel: low, worm },
            Event::Reinject { channel: low, packet },
            Event::Begin { channel: between, worm },
            Event::Wake { channel: high },
        ];
        for pair in events.windows(2) {
            assert!(Packed::from(pair[0]) < Packed::from(pair[1]));
        }
        for event in events {
            assert_eq!(Event::from(Packed::from(event)), event);
        }
    }
}
