//! What happens next, in one total order, and what is on its way.
//!
//! Events of one instant go by their variant in this order, then by channel or source and number,
//! so that the order in which they were scheduled cannot matter.

use crate::traffic::Packet;
use gingham_stripe::Message;

/// Something that happens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// Traffic that competes comes to the queue of a channel: before whatever looks at it.
    Compete { channel: u8 },
    /// Something changes on a channel: the next of its changes.
    Change { channel: u8 },
    /// Both ends are started anew.
    Reset,
    /// Something arrives at the receiver.
    Arrive { channel: u8, number: u64, slot: u32 },
    /// Something arrives back at the sender.
    Return { channel: u8, number: u64, slot: u32 },
    /// An acknowledgement reaches its source: everything before a segment has come, and another
    /// one, marked or not.
    Acknowledge { source: u16, number: u64, expected: u64, got: u64, marked: bool },
    /// A transport may have waited for too long.
    Timeout { source: u16 },
    /// A source sends.
    Send { source: u16 },
    /// The reader takes the next packet.
    Read,
    /// There may be room on the channel that a packet waits for.
    Pump,
    /// Time alone may bring something about at the sender.
    SenderTimer,
    /// The same at the receiver.
    ReceiverTimer,
    /// A step of the series ends.
    Step,
}

/// What is on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cargo {
    pub(crate) load: Load,
    /// The first of its bits that is damaged.
    pub(crate) flipped_bit: Option<u64>,
}

/// A packet or a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Load {
    Packet(Packet),
    Message(Message),
}

/// Places for what is on its way, used again.
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

    /// Packets that are on their way.
    pub(crate) const fn packets(&self) -> usize {
        self.packets
    }
}
