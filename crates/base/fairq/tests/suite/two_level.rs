//! InfiniBand's two tables under load: shares and maximum waits.

use gingham_fairq::{Arbiter, Head, Ready, Slot, TwoLevelTables};
use proptest::prelude::*;

const QUEUES: usize = 5;
const LONGEST_BYTES: u32 = 2_048;

fn slots(weights: &[u8], first_queue: u8) -> Vec<Slot> {
    (first_queue..).zip(weights).map(|(queue, &weight)| Slot { queue, weight }).collect()
}

fn heads(lengths: [u32; QUEUES]) -> [Head; QUEUES] {
    lengths.map(|length_bytes| Head { length_bytes, arrival_ps: 0 })
}

fn counts(arbiter: &mut TwoLevelTables, lengths: [u32; QUEUES], packets: u32) -> [u32; QUEUES] {
    let mut counts = [0; QUEUES];
    for _ in 0..packets {
        let served = arbiter.serve(&Ready::new(&[0b11111], &heads(lengths)));
        counts[served.expect("somebody has a weight")] += 1;
    }
    counts
}

/// Packets of high priority between two of low priority, under backlog.
///
/// The limit is 64 `n` units, and a packet of `L` bytes takes `ceil(L / 64)`; low priority gets
/// `L_low` of each `k L_high + L_low` bytes.
fn high_packets_a_turn(high_limit: u8, high_bytes: u32) -> u32 {
    match high_limit {
        0 => 1,
        limit => (u32::from(limit) * 64).div_ceil(high_bytes.div_ceil(64)),
    }
}

proptest! {
    #[test]
    fn low_priority_share_matches_the_high_limit(
        high_limit in 0_u8..255,
        high_bytes in 1..=LONGEST_BYTES,
        low_bytes in 1..=LONGEST_BYTES,
        high_weight in 1_u8..,
        low_weight in 1_u8..,
    ) {
        let (high, low) = (slots(&[high_weight], 0), slots(&[low_weight], 1));
        let mut arbiter = TwoLevelTables::new(QUEUES, &high, &low, high_limit).unwrap();
        let lengths = [high_bytes, low_bytes, 0, 0, 0];
        let high_packets = high_packets_a_turn(high_limit, high_bytes);
        for _ in 0..3 {
            prop_assert_eq!(counts(&mut arbiter, lengths, high_packets), [high_packets, 0, 0, 0, 0]);
            prop_assert_eq!(counts(&mut arbiter, lengths, 1), [0, 1, 0, 0, 0]);
        }
    }

    /// A turn of weight `w` is `ceil(w / u)` packets of `u` units; if `u` divides `w`, shares equal
    /// the weights.
    #[test]
    fn table_shares_by_weights(
        weights in prop::array::uniform5(1_u8..),
        lengths in prop::array::uniform5(1..=LONGEST_BYTES),
    ) {
        let mut arbiter = TwoLevelTables::new(QUEUES, &[], &slots(&weights, 0), 0).unwrap();
        let turn: [u32; QUEUES] = core::array::from_fn(|queue| {
            u32::from(weights[queue]).div_ceil(lengths[queue].div_ceil(64))
        });
        let round = turn.iter().sum::<u32>();
        prop_assert_eq!(counts(&mut arbiter, lengths, 4 * round), turn.map(|packets| 4 * packets));
    }

    /// Queue 0 has a slot in the table of low priority and is always eligible. Between two of its
    /// packets each other slot of low priority has at most one turn, with at most one packet per
    /// unit. Before each packet of low priority, high priority sends its limit and less than a
    /// longest packet more.
    #[test]
    fn wait_of_a_weighted_low_queue_is_bounded(
        high_limit in 0_u8..4,
        weights in prop::array::uniform4(0_u8..6),
        decisions in prop::collection::vec(
            (0_u64..1 << QUEUES, prop::array::uniform5(1..=LONGEST_BYTES)), 0..600,
        ),
    ) {
        let units = |bytes: u32| bytes.div_ceil(64);
        let high = slots(&weights, 1);
        let low = [slots(&[2], 0), slots(&weights, 1)].concat();
        let mut arbiter = TwoLevelTables::new(QUEUES, &high, &low, high_limit).unwrap();
        let longest = units(LONGEST_BYTES);
        let low_packets: u32 = weights.iter().map(|weight| u32::from(*weight)).sum();
        let high_units = (u32::from(high_limit) * 64).max(1) + longest;
        let bound = low_packets * (longest + high_units) + high_units;
        let mut waited = 0;
        for (eligible, lengths) in decisions {
            let ready = [eligible | 1];
            let served = arbiter.serve(&Ready::new(&ready, &heads(lengths))).unwrap();
            waited = if served == 0 { 0 } else { waited + units(lengths[served]) };
            prop_assert!(waited <= bound, "{} units of {}", waited, bound);
        }
    }

    /// A queue is served whenever one with a weight is eligible, and only such a queue.
    #[test]
    fn any_weighted_eligible_queue_is_served(
        weights in prop::collection::vec((0_u8..15, 0_u8..3, any::<bool>()), 1..64),
        high_limit in any::<u8>(),
        sets in prop::collection::vec(0_u64..1 << 16, 0..100),
    ) {
        let table = |is_high| {
            let of = weights.iter().filter(|slot| slot.2 == is_high);
            of.map(|&(queue, weight, _)| Slot { queue, weight }).collect::<Vec<_>>()
        };
        let arbiter = TwoLevelTables::new(16, &table(true), &table(false), high_limit);
        prop_assume!(arbiter.is_ok());
        let mut arbiter = arbiter.unwrap();
        for set in sets {
            let can = set & arbiter.served();
            let served = arbiter.serve(&Ready::alike(&[set]));
            prop_assert_eq!(served.is_some(), can != 0);
            prop_assert!(served.is_none_or(|queue| can >> queue & 1 == 1));
            prop_assert!(can >> 15 == 0 || served == Some(15));
        }
    }
}

/// Tests InfiniBand's usual packets: 2,048 bytes of high priority and 256 bytes of low priority.
#[test]
fn high_limit_shares_match_the_closed_form() {
    let share = |high_limit| {
        let high_bytes = f64::from(high_packets_a_turn(high_limit, 2_048) * 2_048);
        256.0 / (high_bytes + 256.0)
    };
    // One packet: 256 of 2,304 bytes. 4,096 bytes: 256 of 4,352. 10 times 4,096: 256 of 41,216.
    assert!((share(0) - 1.0 / 9.0).abs() < 1e-12);
    assert!((share(1) - 1.0 / 17.0).abs() < 1e-12);
    assert!((share(10) - 1.0 / 161.0).abs() < 1e-12);
}
