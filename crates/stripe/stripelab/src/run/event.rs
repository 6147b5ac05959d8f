//! Events in their total order, and the packets and messages on channels.
//!
//! Simultaneous events are ordered by variant as listed here, then by channel or source and number,
//! independently of the scheduling order.

use crate::traffic::Packet;
use gingham_stripe::Message;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// Arrival of a cross-traffic packet, before any other event can observe its queue.
    Compete {
        channel: u8,
    },
    Change {
        channel: u8,
    },
    Reset,
    Arrive {
        channel: u8,
        number: u64,
        slot: u32,
    },
    Return {
        channel: u8,
        number: u64,
        slot: u32,
    },
    /// Acknowledgement of all segments before `expected` and of segment `got`, with or without an
    /// ECN mark.
    Acknowledge {
        source: u16,
        number: u64,
        expected: u64,
        got: u64,
        marked: bool,
    },
    Timeout {
        source: u16,
    },
    Send {
        source: u16,
    },
    Read,
    /// Attempt to send a waiting packet when a channel may have space.
    Pump,
    SenderTimer,
    ReceiverTimer,
    Step,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cargo {
    pub(crate) load: Load,
    pub(crate) flipped_bit: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Load {
    Packet(Packet),
    Message(Message),
}

#[derive(Debug, Default)]
pub(crate) struct Slots {
    places: Vec<Option<Cargo>>,
    free: Vec<u32>,
    packets: usize,
}

impl Slots {
    pub(crate) fn put(&mut self, cargo: Cargo) -> u32 {
        self.packets += usize::from(matches!(cargo.load, Load::Packet(_)));
        if let Some(slot) = self.free.pop() {
            self.places[slot as usize] = Some(cargo);
            return slot;
        }
        self.places.push(Some(cargo));
        u32::try_from(self.places.len() - 1).expect("fewer than 2^32 packets are on their way")
    }

    pub(crate) fn take(&mut self, slot: u32) -> Cargo {
        self.free.push(slot);
        let cargo = self.places[slot as usize].take().expect("what arrives was on its way");
        self.packets -= usize::from(matches!(cargo.load, Load::Packet(_)));
        cargo
    }

    pub(crate) const fn packets(&self) -> usize {
        self.packets
    }
}
