//! Queues of messages, as lists through their places.

use super::Messages;
use crate::{MessageSlot, Packet, PathSet};
use gingham_kernel::Time;

/// Messages in the order in which they came.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Queue {
    /// The first and the last.
    ends: Option<(MessageSlot, MessageSlot)>,
}

impl Queue {
    /// Nothing.
    pub(crate) const EMPTY: Self = Self { ends: None };

    /// Whether there is nothing in it.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.ends.is_none()
    }

    /// The first.
    #[inline]
    pub(crate) fn front(self) -> Option<MessageSlot> {
        self.ends.map(|(first, _)| first)
    }

    /// Puts a message that is in no queue behind all others.
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

    /// The next packet of the first, which starts at `now`; there is one. The last one takes its
    /// message out.
    #[inline]
    pub(crate) fn take(&mut self, messages: &mut Messages, path_set: PathSet, now: Time) -> Packet {
        let (first, last) = self.ends.expect("what is picked waits");
        let (packet, is_last) = messages.next_packet(first, now, path_set);
        if is_last {
            self.ends = messages.slots[first.index()].next.map(|next| (next, last));
        }
        packet
    }

    /// Takes the first out.
    #[inline]
    pub(crate) fn pop_front(&mut self, messages: &Messages) -> Option<MessageSlot> {
        let (first, last) = self.ends?;
        self.ends = messages.slots[first.index()].next.map(|next| (next, last));
        Some(first)
    }
}
