use super::*;
use crate::TokenBucket;
use crate::{ClassId, MessageId, REFILL_BYTES};
use gingham_kernel::Span;
use gingham_topology::EndpointId;
use proptest::prelude::*;

fn message(id: usize, payload_bytes: u32) -> Message {
    Message {
        id: MessageId::new(id),
        class: ClassId::new(0),
        source: EndpointId::new(0),
        destination: EndpointId::new(1),
        payload_bytes,
        created: Time::ZERO,
        flow: None,
    }
}

fn level(level: u8) -> Priority {
    Priority::new(level).unwrap()
}

/// Takes turns until nothing is left: (message, payload, whether it is the first packet).
fn drain(adapter: &mut Adapter, reassembly: &mut Reassembly) -> Vec<(usize, u32, bool)> {
    let mut sent = Vec::new();
    while let Turn::Send(packet) = adapter.take(0, Time::ZERO, reassembly) {
        let message = reassembly.message(packet.assembly).id.index();
        sent.push((message, packet.payload_bytes, packet.is_first));
    }
    sent
}

#[test]
fn a_message_is_cut_into_full_segments_and_a_rest() {
    let (mut adapter, mut reassembly) = (Adapter::new(level(0)), Reassembly::default());
    adapter.offer(message(0, 250), level(0), 100);
    adapter.offer(message(1, 200), level(0), 100);
    adapter.offer(message(2, 7), level(0), u32::MAX);
    let sent = drain(&mut adapter, &mut reassembly);
    let of_first = [(0, 100, true), (0, 100, false), (0, 50, false)];
    assert_eq!(sent[..3], of_first);
    assert_eq!(sent[3..], [(1, 100, true), (1, 100, false), (2, 7, true)]);
}

#[test]
fn a_higher_level_goes_between_segments_and_a_level_keeps_its_order() {
    let (mut adapter, mut reassembly) = (Adapter::new(level(7)), Reassembly::default());
    adapter.offer(message(0, 30), level(0), 10);
    let first = adapter.take(0, Time::ZERO, &mut reassembly);
    assert!(matches!(first, Turn::Send(packet) if packet.payload_bytes == 10));
    for (id, priority) in [(1, 3), (2, 7), (3, 3), (4, 0)] {
        adapter.offer(message(id, 5), level(priority), u32::MAX);
    }
    let order: Vec<_> =
        drain(&mut adapter, &mut reassembly).iter().map(|sent| (sent.0, sent.1)).collect();
    assert_eq!(order, [(2, 5), (1, 5), (3, 5), (0, 10), (0, 10), (4, 5)]);
}

#[test]
fn packets_wait_by_the_lanes_on_which_they_may_leave() {
    let lanes = [0b0011, 0b1000, 0b0011].map(LaneSet::from_bits);
    let mut adapter = Adapter::with_lanes(level(1), &lanes);
    assert!(adapter.groups().eq([lanes[0], lanes[1]]));
    let groups = [0, 1, 2].map(|vc_class| adapter.group_of(VcClass(vc_class)));
    assert_eq!(groups, [0, 1, 0]);
    for (id, vc_class) in [(0, 1), (1, 2), (2, 0)] {
        let message = message(id, 10 + u32::from(vc_class));
        let conforming = Conformance::Conforming;
        adapter.put(message, conforming, level(vc_class % 2), VcClass(vc_class), 100);
    }
    let mut reassembly = Reassembly::default();
    let mut next = |group| {
        let next = adapter.next(group, Time::ZERO);
        (next, adapter.take(group, Time::ZERO, &mut reassembly))
    };
    // VC classes 2 and 0 share a group, in the order in which their messages came; VC class 1
    // has its own.
    for (group, payload_bytes, vc_class) in [(0, 12, 2), (1, 11, 1), (0, 10, 0)] {
        let (seen, Turn::Send(packet)) = next(group) else { panic!("a packet waits") };
        assert_eq!(seen, Next::Packet { payload_bytes, created: Time::ZERO });
        assert_eq!((packet.payload_bytes, packet.vc_class.0), (payload_bytes, vc_class));
    }
    assert_eq!(next(0), (Next::Nothing, Turn::Nothing));
}

/// An adapter of three classes, each of a level of its own or not, with the buckets of those
/// that wait.
#[derive(Clone, Debug)]
struct Setting {
    levels: [u8; 3],
    /// Time of a token in picoseconds, and the burst.
    buckets: [Option<(u64, u32)>; 3],
}

/// Who waits, in order: class, payload that is left, and longest packet.
type Listed = (usize, u32, u32);

fn setting() -> impl Strategy<Value = Setting> {
    let bucket = prop::option::of((1_u64..40, 10_u32..60));
    (prop::array::uniform3(0_u8..3), prop::array::uniform3(bucket))
        .prop_map(|(levels, buckets)| Setting { levels, buckets })
}

/// What was taken of a class, and when: what is there follows from all of it, by the
/// definition.
fn tokens((token_ps, burst): (u64, u32), taken: &[(u64, u32)], now: u64) -> u64 {
    let full = u64::from(burst) * token_ps;
    let (mut there, mut since) = (full, 0);
    for (at, bytes) in taken {
        there = (there + at - since).min(full) - u64::from(*bytes) * token_ps;
        since = *at;
    }
    (there + now - since).min(full) / token_ps
}

impl Setting {
    fn adapter(&self) -> Adapter {
        let policer = |(token_ps, burst): (u64, u32)| Policer {
            bucket: TokenBucket::full(Span::from_ps(token_ps * REFILL_BYTES), burst),
            excess: Excess::Delay,
        };
        let policers = self.buckets.map(|bucket| bucket.map(policer)).into();
        Adapter { policers, ..Adapter::new(level(2)) }
    }

    /// The first message of each level, from the highest on, as a place in the list.
    fn firsts(&self, waiting: &[Listed]) -> impl Iterator<Item = usize> {
        let first = |level| waiting.iter().position(|listed| self.levels[listed.0] == level);
        [2, 1, 0].map(first).into_iter().flatten()
    }

    fn may_go(&self, listed: Listed, taken: &[Vec<(u64, u32)>; 3], now: u64) -> bool {
        let (class, left, longest) = listed;
        let needed = u64::from(left.min(longest));
        self.buckets[class].is_none_or(|bucket| tokens(bucket, &taken[class], now) >= needed)
    }
}

proptest! {
    /// Each turn is what the definition says: the highest level whose first packet finds its
    /// tokens, and if there is none the first instant at which one does.
    #[test]
    fn a_turn_goes_to_the_highest_level_that_may(
        setting in setting(),
        steps in prop::collection::vec((0_u64..400, 0_usize..4, 1_u32..120, 1_u32..=10), 1..60),
    ) {
        let (mut adapter, mut reassembly) = (setting.adapter(), Reassembly::default());
        let (mut waiting, mut taken) = (Vec::<Listed>::new(), [const { Vec::new() }; 3]);
        let mut now = 0;
        for (span, class, bytes, longest) in steps {
            if class < 3 {
                let offered = Message { class: ClassId::new(class), ..message(0, bytes) };
                adapter.offer(offered, level(setting.levels[class]), longest);
                waiting.push((class, bytes, longest));
            }
            now += span;
            let goes = setting.firsts(&waiting).find(|place| setting.may_go(waiting[*place], &taken, now));
            match (adapter.take(0, Time::from_ps(now), &mut reassembly), goes) {
                (Turn::Send(packet), Some(place)) => {
                    let (class, left, longest) = &mut waiting[place];
                    let expected = (*class, (*left).min(*longest));
                    prop_assert_eq!((packet.class.index(), packet.payload_bytes), expected);
                    *left -= packet.payload_bytes;
                    taken[*class].push((now, packet.payload_bytes));
                    waiting.retain(|listed| listed.1 > 0);
                }
                (Turn::At(time), None) => {
                    let at = time.as_ps();
                    let any_at = |now| setting.firsts(&waiting).any(|place| setting.may_go(waiting[place], &taken, now));
                    prop_assert!(at > now && any_at(at) && !any_at(at - 1));
                }
                (Turn::Nothing, None) => prop_assert!(waiting.is_empty()),
                (turn, goes) => prop_assert!(false, "{:?}, but {:?}", turn, goes),
            }
        }
    }
}
