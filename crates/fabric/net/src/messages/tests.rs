use super::*;
use crate::{ClassId, MessageNumber};
use gingham_topology::EndpointId;

pub(super) fn insert(messages: &mut Messages, id: usize, payload_bytes: u32) -> MessageSlot {
    let message = Message {
        number: MessageNumber::new(id),
        class: ClassId::new(0),
        source: EndpointId::new(0),
        destination: EndpointId::new(1),
        payload_bytes,
        created: Time::ZERO,
        flow: None,
    };
    let (priority, vc_class) = (Priority::default(), VcClass(0));
    let conformance = Conformance::Conforming;
    messages.insert(Outgoing { message, priority, vc_class, longest_bytes: 10, conformance })
}

fn start(messages: &mut Messages, slot: MessageSlot, from: u64) -> Vec<(u32, bool)> {
    let mut packets = Vec::new();
    for instant in from.. {
        let (packet, is_last) = messages.next_packet(slot, Time::from_ps(instant));
        packets.push((packet.payload_bytes, packet.is_first));
        if is_last {
            break;
        }
    }
    packets
}

fn arrival(payload_bytes: u32, arrived: u64) -> Arrival {
    Arrival {
        payload_bytes,
        wire_bytes: u64::from(payload_bytes) + 4,
        hops: 2,
        in_transit_hosts: 0,
        head_arrived: Time::from_ps(arrived - 10),
        arrived: Time::from_ps(arrived),
    }
}

#[test]
fn message_is_delivered_by_its_last_arriving_packet() {
    let mut messages = Messages::default();
    let (a, b) = (insert(&mut messages, 0, 25), insert(&mut messages, 1, 8));
    assert_eq!(start(&mut messages, a, 5), [(10, true), (10, false), (5, false)]);
    assert_eq!(start(&mut messages, b, 6), [(8, true)]);
    assert_eq!(messages.arrive(a, &arrival(10, 40)), None);
    assert_eq!(messages.arrive(a, &arrival(5, 50)), None);
    let other = messages.arrive(b, &arrival(8, 55)).unwrap();
    assert_eq!((other.message.number.index(), other.packets, other.wire_bytes), (1, 1, 12));
    let whole = messages.arrive(a, &arrival(10, 60)).unwrap();
    assert_eq!((whole.packets, whole.wire_bytes, whole.entered), (3, 25 + 12, Time::from_ps(5)));
    assert_eq!((whole.head_arrived, whole.delivered), (Time::from_ps(50), Time::from_ps(60)));
    let slots = [2, 3, 4].map(|id| insert(&mut messages, id, 11).index());
    assert_eq!(slots, [0, 1, 2]);
    assert_eq!(messages.unsent.len(), 3);
}

#[test]
fn message_is_lost_with_its_first_packet_and_frees_its_slot_with_the_last() {
    let mut messages = Messages::default();
    let (a, b) = (insert(&mut messages, 0, 25), insert(&mut messages, 1, 8));
    start(&mut messages, a, 5);
    start(&mut messages, b, 6);
    assert_eq!(messages.arrive(a, &arrival(10, 40)), None);
    assert!(messages.lose(a, 10), "its first loss");
    assert!(messages.lose(b, 8));
    assert_eq!(insert(&mut messages, 2, 8).index(), b.index());
    assert_eq!(messages.arrive(a, &arrival(5, 60)), None);
    assert_eq!(insert(&mut messages, 3, 25).index(), a.index());
    assert_eq!(messages.unsent.len(), 1);
    start(&mut messages, a, 70);
    assert_eq!(messages.arrive(a, &arrival(20, 80)), None);
    assert!(messages.arrive(a, &arrival(5, 90)).is_some());
    let c = insert(&mut messages, 4, 15);
    start(&mut messages, c, 100);
    assert_eq!([10, 5].map(|bytes| messages.lose(c, bytes)), [true, false]);
    assert_eq!(insert(&mut messages, 5, 1).index(), c.index());
}

#[test]
fn queues_sharing_storage_keep_their_order() {
    let mut messages = Messages::default();
    let slots: Vec<MessageSlot> = (0..6).map(|id| insert(&mut messages, id, 1)).collect();
    let mut queues = [Queue::default(); 2];
    for (index, slot) in slots.iter().enumerate() {
        queues[index % 2].push_back(&mut messages, *slot);
    }
    assert_eq!(queues.map(Queue::front), [Some(slots[0]), Some(slots[1])]);
    let mut drained = |queue: &mut Queue| {
        std::iter::from_fn(|| queue.pop_front(&messages)).map(MessageSlot::index).collect()
    };
    let drained: [Vec<usize>; 2] = queues.each_mut().map(&mut drained);
    assert_eq!(drained, [[0, 2, 4], [1, 3, 5]]);
    assert!(queues[0].is_empty());
    queues[0].push_back(&mut messages, slots[3]);
    assert_eq!(queues[0].pop_front(&messages), Some(slots[3]));
    assert_eq!(queues[0].pop_front(&messages), None);
}
