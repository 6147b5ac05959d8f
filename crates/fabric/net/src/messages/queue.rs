//! Message queues, as linked lists through the message slots.

use super::Messages;
use crate::{MessageSlot, Packet};
use gingham_kernel::Time;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Queue {
    ends: Option<(MessageSlot, MessageSlot)>,
}

impl Queue {
    pub(crate) const EMPTY: Self = Self { ends: None };

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.ends.is_none()
    }

    #[inline]
    pub(crate) fn front(self) -> Option<MessageSlot> {
        self.ends.map(|(first, _)| first)
    }

    #[inline]
    pub(crate) fn push_back(&mut self, messages: &mut Messages, slot: MessageSlot) {
        messages.slots[slot.index()].next = None;
        let first = match self.ends {
            None => slot,
            Some((first, last)) => {
                messages.slots[last.index()].next = Some(slot);
                first
            }
        };
        self.ends = Some((first, slot));
    }

    /// Takes the next packet of the first message, which must exist. After its last packet, the
    /// message leaves the queue.
    #[inline]
    pub(crate) fn take(&mut self, messages: &mut Messages, now: Time) -> Packet {
        let (first, last) = self.ends.expect("what is picked waits");
        let (packet, is_last) = messages.next_packet(first, now);
        if is_last {
            self.ends = messages.slots[first.index()].next.map(|next| (next, last));
        }
        packet
    }

    #[inline]
    pub(crate) fn pop_front(&mut self, messages: &Messages) -> Option<MessageSlot> {
        let (first, last) = self.ends?;
        self.ends = messages.slots[first.index()].next.map(|next| (next, last));
        Some(first)
    }
}
