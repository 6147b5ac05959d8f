//! What happens between ticks, at any picosecond, in the order of an instant.
//!
//! An event is one word, kind first, so that comparing two is comparing numbers: those of an
//! instant are in the order of their kinds, then of channels or sources. Packets of a host's own and
//! packets in transit begin in one order of channels: a channel begins one at a time. A tick comes
//! after all events of its instant.

use crate::lanes::worms::{InTransitId, WormId};
use gingham_topology::{ChannelId, EndpointId};

/// Something that happens at an instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// A source creates a message.
    Create { source: usize },
    /// An endpoint is woken.
    WakeEndpoint { endpoint: EndpointId },
    /// The tail of a packet of the host's own has left it by `channel`.
    Left { channel: ChannelId, worm: WormId },
    /// The same of a packet in transit.
    Release { channel: ChannelId, packet: InTransitId },
    /// The first flit of a packet in transit has arrived whole at the host at the end of `channel`.
    Recognise { channel: ChannelId, packet: InTransitId },
    /// Its last flit has.
    TailReceived { channel: ChannelId, packet: InTransitId },
    /// The tail has arrived whole at its destination at the end of `channel`.
    Deliver { channel: ChannelId, worm: WormId },
    /// A packet began on a host's channel, after the tick that took its first flit: what that
    /// brings about.
    Begin { channel: ChannelId, worm: WormId },
    /// The same of a packet in transit.
    Reinject { channel: ChannelId, packet: InTransitId },
    /// The host at the start of `channel` may have something to send.
    Wake { channel: ChannelId },
}

/// An event as one word: 4 bits of kind, 28 of channel or source, 32 of worm or packet in transit. Of
/// these 32 the first tells which it is where both have one kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Packed(u64);

/// Channels and sources beyond this do not fit a packed event.
pub(crate) const INDEX_MAX: usize = (1 << 28) - 1;

/// Set where a packet in transit begins.
const IN_TRANSIT: usize = 1 << 31;

impl Packed {
    /// After every event of an instant.
    pub(crate) const LAST: Self = Self(u64::MAX);

    const fn new(kind: u64, index: usize, id: usize) -> Self {
        Self(kind << 60 | (index as u64) << 32 | id as u64)
    }

    pub(crate) fn unpack(self) -> Event {
        let index = usize::try_from(self.0 >> 32).expect("64-bit platform") & INDEX_MAX;
        let id = usize::try_from(self.0 & 0xffff_ffff).expect("64-bit platform");
        let (worm, packet) = (WormId::new(id), InTransitId::new(id));
        let channel = ChannelId::new(index);
        match self.0 >> 60 {
            1 => Event::Create { source: index },
            2 => Event::WakeEndpoint { endpoint: EndpointId::new(index) },
            3 => Event::Left { channel, worm },
            4 => Event::Release { channel, packet },
            5 => Event::Recognise { channel, packet },
            6 => Event::TailReceived { channel, packet },
            7 => Event::Deliver { channel, worm },
            8 if id & IN_TRANSIT == 0 => Event::Begin { channel, worm },
            8 => Event::Reinject { channel, packet: InTransitId::new(id & !IN_TRANSIT) },
            9 => Event::Wake { channel },
            kind => unreachable!("no event has the kind {kind}"),
        }
    }
}

impl From<Event> for Packed {
    fn from(event: Event) -> Self {
        match event {
            Event::Create { source } => Self::new(1, source, 0),
            Event::WakeEndpoint { endpoint } => Self::new(2, endpoint.index(), 0),
            Event::Left { channel, worm } => Self::new(3, channel.index(), worm.index()),
            Event::Release { channel, packet } => Self::new(4, channel.index(), packet.index()),
            Event::Recognise { channel, packet } => Self::new(5, channel.index(), packet.index()),
            Event::TailReceived { channel, packet } => {
                Self::new(6, channel.index(), packet.index())
            }
            Event::Deliver { channel, worm } => Self::new(7, channel.index(), worm.index()),
            Event::Begin { channel, worm } => Self::new(8, channel.index(), worm.index()),
            Event::Reinject { channel, packet } => {
                Self::new(8, channel.index(), packet.index() | IN_TRANSIT)
            }
            Event::Wake { channel } => Self::new(9, channel.index(), 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_the_event_and_the_order() {
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
            assert_eq!(Packed::from(event).unpack(), event);
        }
    }
}
