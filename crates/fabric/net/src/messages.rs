//! Messages in progress, from creation to the arrival of the last byte.
//!
//! Queues are linked lists through the messages themselves ([`Queue`]), so that each message is
//! written once. The state of multi-packet messages and the stream of a message are stored
//! separately, so that a message fits into a cache line.
//!
//! Invariants: a slot is in use exactly while its message is in progress; a message is in at most
//! one queue.

mod queue;
#[cfg(test)]
mod tests;

pub(crate) use queue::Queue;

use crate::traffic::StreamPart;
use crate::{
    ClassId, Conformance, Content, Delivery, Message, MessageSlot, Next, Packet, PathId, Plan,
    Priority,
};
use gingham_kernel::Time;
use gingham_topology::routing::VcClass;

/// Complete arrival of a packet at its destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Payload of the packet in bytes.
    pub payload_bytes: u32,
    /// Wire bytes on the source's cable.
    pub wire_bytes: u64,
    /// Number of switches on the packet's path, counting each visit.
    pub hops: u16,
    /// Number of in-transit hosts that re-injected the packet.
    pub in_transit_hosts: u16,
    /// Time when the first flit had completely arrived at the destination.
    pub head_arrived: Time,
    /// Time when the last flit had completely arrived.
    pub arrived: Time,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub(crate) message: Message,
    pub(crate) priority: Priority,
    pub(crate) vc_class: VcClass,
    pub(crate) longest_bytes: u32,
    pub(crate) conformance: Conformance,
}

impl Outgoing {
    #[inline]
    pub(crate) fn new(
        plan: &Plan,
        message: Message,
        (class, conformance): (ClassId, Conformance),
        vc_class: VcClass,
    ) -> Self {
        let class = &plan.classes[class.index()];
        let switches = || plan.switches(message.source, message.destination);
        let longest_bytes = class.longest_packet_bytes(switches);
        Self { message, priority: class.priority, vc_class, longest_bytes, conformance }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Messages {
    slots: Vec<Slot>,
    free: Option<MessageSlot>,
    /// Source-side state of multi-packet messages, indexed by `Slot::segments`; the
    /// destination-side state is in `reassemblies`.
    unsent: Vec<Unsent>,
    reassemblies: Vec<Reassembly>,
    free_segments: Vec<u32>,
    parts: Vec<Option<StreamPart>>,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Slot {
    message: Message,
    entered: Time,
    posted: Time,
    next: Option<MessageSlot>,
    segments: Option<u32>,
    priority: Priority,
    vc_class: VcClass,
    conformance: Conformance,
}

const _: () = assert!(size_of::<Slot>() == 64, "a message under way is a cache line");

#[derive(Clone, Copy, Debug)]
struct Unsent {
    longest_bytes: u32,
    bytes: u32,
    /// Number of packets that have started but whose tails have not left.
    leaving: u32,
}

#[derive(Clone, Copy, Debug)]
struct Reassembly {
    left_bytes: u32,
    packets: u32,
    wire_bytes: u64,
    is_lost: bool,
}

impl Messages {
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub(crate) fn insert(&mut self, outgoing: Outgoing) -> MessageSlot {
        let Outgoing { message, priority, vc_class, longest_bytes, conformance } = outgoing;
        debug_assert!(longest_bytes > 0, "a packet carries payload");
        let is_segmented = message.payload_bytes > longest_bytes;
        let segments = is_segmented.then(|| self.segment(message.payload_bytes, longest_bytes));
        let (entered, posted, next) = (Time::ZERO, message.created, None);
        let slot =
            Slot { message, entered, posted, next, segments, priority, vc_class, conformance };
        if let Some(place) = self.free {
            self.free = self.slots[place.index()].next;
            self.slots[place.index()] = slot;
            return place;
        }
        self.slots.push(slot);
        MessageSlot::new(self.slots.len() - 1)
    }

    #[inline(never)]
    fn segment(&mut self, payload_bytes: u32, longest_bytes: u32) -> u32 {
        let unsent = Unsent { longest_bytes, bytes: payload_bytes, leaving: 0 };
        let left_bytes = payload_bytes;
        let reassembly = Reassembly { left_bytes, packets: 0, wire_bytes: 0, is_lost: false };
        if let Some(place) = self.free_segments.pop() {
            self.unsent[place as usize] = unsent;
            self.reassemblies[place as usize] = reassembly;
            return place;
        }
        self.unsent.push(unsent);
        self.reassemblies.push(reassembly);
        u32::try_from(self.unsent.len() - 1).expect("fewer than 2^32 messages are under way")
    }

    pub(crate) fn note_part(&mut self, slot: MessageSlot, part: StreamPart) {
        if self.parts.len() <= slot.index() {
            self.parts.resize(slot.index() + 1, None);
        }
        self.parts[slot.index()] = Some(part);
    }

    #[inline]
    pub(crate) fn part(&self, slot: MessageSlot) -> Option<StreamPart> {
        *self.parts.get(slot.index())?
    }

    #[inline]
    pub(crate) fn take_part(&mut self, slot: MessageSlot) -> Option<StreamPart> {
        self.parts.get_mut(slot.index())?.take()
    }

    pub(crate) fn message(&self, slot: MessageSlot) -> &Message {
        &self.slots[slot.index()].message
    }

    pub(crate) fn level_of(&self, slot: MessageSlot) -> (Priority, VcClass) {
        let Slot { priority, vc_class, .. } = self.slots[slot.index()];
        (priority, vc_class)
    }

    pub(crate) fn delay(&mut self, slot: MessageSlot) {
        self.slots[slot.index()].conformance = Conformance::Delayed;
    }

    pub(crate) fn is_unbegun(&self, slot: MessageSlot) -> bool {
        let Slot { message, segments, .. } = &self.slots[slot.index()];
        let unsent = |place: u32| self.unsent[place as usize].bytes;
        segments.is_none_or(|place| unsent(place) == message.payload_bytes)
    }

    pub(crate) fn post(&mut self, slot: MessageSlot, now: Time) {
        self.slots[slot.index()].posted = now;
    }

    #[inline]
    pub(crate) fn next_bytes(&self, slot: MessageSlot) -> u32 {
        let Slot { message, segments, .. } = &self.slots[slot.index()];
        segments.map_or(message.payload_bytes, |place| self.unsent[place as usize].next_bytes())
    }

    #[inline]
    pub(crate) fn next(&self, slot: MessageSlot) -> Next {
        let payload_bytes = self.next_bytes(slot);
        Next::Packet { payload_bytes, created: self.message(slot).created }
    }

    /// Starts the next packet at `now`, on its primary path. Returns the packet, and whether it is
    /// the last of its message.
    #[inline]
    pub(crate) fn next_packet(&mut self, slot: MessageSlot, now: Time) -> (Packet, bool) {
        let of = &mut self.slots[slot.index()];
        let (payload_bytes, is_first, is_last) = match of.segments {
            None => (of.message.payload_bytes, true, true),
            Some(place) => self.unsent[place as usize].take(of.message.payload_bytes),
        };
        if is_first {
            of.entered = now;
        }
        let packet = Packet {
            content: Content::Data(slot),
            class: of.message.class,
            flow: of.message.flow,
            source: of.message.source,
            destination: of.message.destination,
            payload_bytes,
            priority: of.priority,
            path_id: PathId::default(),
            vc_class: of.vc_class,
            is_first,
            is_last_of_stream: is_last && self.part(slot).is_some_and(|part| part.is_last),
            mark: false,
            is_bad: false,
        };
        (packet, is_last)
    }

    /// Records the departure of a packet's tail. Returns whether it is the message's last tail.
    pub(crate) fn leave(&mut self, slot: MessageSlot) -> bool {
        self.slots[slot.index()].segments.is_none_or(|place| {
            let of = &mut self.unsent[place as usize];
            of.leaving -= 1;
            of.leaving == 0 && of.bytes == 0
        })
    }

    #[inline]
    pub(crate) fn arrive(&mut self, slot: MessageSlot, arrival: &Arrival) -> Option<Delivery> {
        let of = &mut self.slots[slot.index()];
        let Slot { message, entered, posted, segments, conformance, .. } = *of;
        let (packets, wire_bytes) = match segments {
            None => {
                debug_assert_eq!(arrival.payload_bytes, message.payload_bytes, "it is whole");
                (1, arrival.wire_bytes)
            }
            Some(place) => {
                let whole = self.reassemblies[place as usize].arrive(arrival)?;
                self.free_segments.push(place);
                if self.reassemblies[place as usize].is_lost {
                    self.discard(slot);
                    return None;
                }
                whole
            }
        };
        of.next = self.free.replace(slot);
        Some(Delivery {
            message,
            posted,
            entered,
            head_arrived: arrival.head_arrived,
            delivered: arrival.arrived,
            hops: arrival.hops,
            in_transit_hosts: arrival.in_transit_hosts,
            packets,
            wire_bytes,
            conformance,
        })
    }

    /// Records the loss of a packet. Returns whether it is the message's first loss. Frees the slot
    /// once all packets have arrived or been lost.
    pub(crate) fn lose(&mut self, slot: MessageSlot, payload_bytes: u32) -> bool {
        let Some(place) = self.slots[slot.index()].segments else {
            self.discard(slot);
            return true;
        };
        let of = &mut self.reassemblies[place as usize];
        let is_first = !std::mem::replace(&mut of.is_lost, true);
        if of.settle(payload_bytes) {
            self.free_segments.push(place);
            self.discard(slot);
        }
        is_first
    }

    fn discard(&mut self, slot: MessageSlot) {
        self.take_part(slot);
        self.slots[slot.index()].next = self.free.replace(slot);
    }
}

impl Unsent {
    fn next_bytes(&self) -> u32 {
        self.bytes.min(self.longest_bytes)
    }

    fn take(&mut self, message_bytes: u32) -> (u32, bool, bool) {
        let is_first = self.bytes == message_bytes;
        let payload_bytes = self.next_bytes();
        self.bytes -= payload_bytes;
        self.leaving += 1;
        (payload_bytes, is_first, self.bytes == 0)
    }
}

impl Reassembly {
    fn arrive(&mut self, arrival: &Arrival) -> Option<(u32, u64)> {
        self.packets += 1;
        self.wire_bytes += arrival.wire_bytes;
        self.settle(arrival.payload_bytes).then_some((self.packets, self.wire_bytes))
    }

    fn settle(&mut self, payload_bytes: u32) -> bool {
        let left_bytes = self.left_bytes.checked_sub(payload_bytes);
        self.left_bytes = left_bytes.expect("no more arrives of a message than it has");
        self.left_bytes == 0
    }
}

#[cfg(test)]
pub(crate) fn of_a_test(count: usize) -> Messages {
    let mut messages = Messages::default();
    for id in 0..count {
        tests::insert(&mut messages, id, 1);
    }
    messages
}
