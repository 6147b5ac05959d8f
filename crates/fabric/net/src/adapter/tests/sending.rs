//! Comparison of uncontrolled priority levels with a list-based model, and reassembly of packets
//! that arrive in any order.

use super::*;
use crate::Arrival;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
enum Step {
    Offer { level: u8, payload_bytes: u32, longest_bytes: u32 },
    Take,
}

fn step() -> impl Strategy<Value = Step> {
    let offer = (0..4_u8, 1..400_u32, prop_oneof![1..120_u32, Just(u32::MAX)]);
    let offer = offer.prop_map(|(level, payload_bytes, longest_bytes)| Step::Offer {
        level,
        payload_bytes,
        longest_bytes,
    });
    prop_oneof![1 => offer, 3 => Just(Step::Take)]
}

/// Waiting message: level, number, remaining payload bytes and maximum payload of a packet in
/// bytes.
type Listed = (u8, usize, u32, u32);

fn by_list(waiting: &mut Vec<Listed>) -> Option<(usize, u32)> {
    let highest = waiting.iter().map(|listed| listed.0).max()?;
    let place = waiting.iter().position(|listed| listed.0 == highest).unwrap();
    let (_, id, left, longest) = waiting[place];
    let payload_bytes = left.min(longest);
    waiting[place].2 -= payload_bytes;
    if waiting[place].2 == 0 {
        waiting.remove(place);
    }
    Some((id, payload_bytes))
}

fn sent(steps: &[Step], sender: &mut Sender) -> (Vec<Packet>, BTreeMap<usize, (u32, u32)>) {
    let (mut waiting, mut offered, mut packets) = (Vec::new(), BTreeMap::new(), Vec::new());
    let mut take = |sender: &mut Sender, waiting: &mut Vec<Listed>| {
        let expected = by_list(waiting);
        let Turn::Send(packet) = sender.take(0) else {
            assert_eq!(expected, None, "something waits");
            return false;
        };
        let Content::Data(slot) = packet.content else { panic!("a packet of a message") };
        let id = sender.messages.message(slot).number.index();
        assert_eq!(Some((id, packet.payload_bytes)), expected);
        packets.push(packet);
        true
    };
    for step in steps {
        match *step {
            Step::Offer { level, payload_bytes, longest_bytes } => {
                let id = offered.len();
                offered.insert(id, (payload_bytes, longest_bytes));
                waiting.push((level, id, payload_bytes, longest_bytes));
                offer(sender, id, payload_bytes, level, longest_bytes);
            }
            Step::Take => {
                take(sender, &mut waiting);
            }
        }
    }
    while take(sender, &mut waiting) {}
    (packets, offered)
}

proptest! {
    #[test]
    fn sender_matches_the_model_and_reassembly_ignores_order(
        steps in prop::collection::vec(step(), 0..80),
        order in prop::collection::vec(any::<u32>(), 4_000),
    ) {
        let mut sender = Sender::new(vec![class(3)]);
        let (packets, offered) = sent(&steps, &mut sender);
        let mut arriving: Vec<(u32, Packet)> =
            packets.iter().enumerate().map(|(n, packet)| (order[n % order.len()], *packet)).collect();
        arriving.sort_by_key(|(key, _)| *key);
        let mut delivered = BTreeMap::new();
        for (instant, (_, packet)) in (1..).zip(arriving) {
            let arrival = Arrival {
                payload_bytes: packet.payload_bytes,
                wire_bytes: u64::from(packet.payload_bytes) + 3,
                hops: 1,
                in_transit_hosts: 0,
                head_arrived: at(instant),
                arrived: at(instant),
            };
            let Content::Data(slot) = packet.content else { panic!("a packet of a message") };
            if let Some(delivery) = sender.messages.arrive(slot, &arrival) {
                prop_assert_eq!(delivery.delivered, at(instant));
                let id = delivery.message.number.index();
                prop_assert!(delivered.insert(id, (delivery.packets, delivery.wire_bytes)).is_none());
            }
        }
        prop_assert_eq!(delivered.len(), offered.len());
        for (id, (payload_bytes, longest_bytes)) in offered {
            let count = payload_bytes.div_ceil(longest_bytes);
            let wire_bytes = u64::from(payload_bytes) + 3 * u64::from(count);
            prop_assert_eq!(delivered[&id], (count, wire_bytes));
        }
    }
}
