//! Load sharing by causal schedulers (Adiseshu, Parulkar and Varghese 1996, section 3).

use std::collections::VecDeque;

use gingham_fairq::{
    Causal, GeneralisedRoundRobin, Number, Randomised, Round, RoundRobin, SurplusRoundRobin,
};
use proptest::prelude::*;

const LONGEST_BYTES: u32 = 1_500;

const fn number(round: u32, deficit_bytes: u32) -> Number {
    Number { round: Round::new(round), deficit_bytes }
}

/// The paper gives the length of a (550) and the sum of d and e (600). The other lengths are ours:
/// b and c exactly use up their remaining 450.
const FIGURE_5: [(char, usize, u32); 6] =
    [('a', 0, 550), ('d', 1, 200), ('e', 1, 400), ('b', 0, 200), ('c', 0, 250), ('f', 1, 400)];

/// The deficit counters of the figure plus the next quantum: -50 is 450 of round 2, -100 is 400.
const AFTER: [[Number; 2]; 6] = [
    [number(2, 450), number(1, 500)],
    [number(2, 450), number(1, 300)],
    [number(2, 450), number(2, 400)],
    [number(2, 250), number(2, 400)],
    [number(3, 500), number(2, 400)],
    [number(3, 500), number(3, 500)],
];

#[test]
fn figures_5_and_6_have_the_deficits_of_the_paper() {
    let mut scheduler = SurplusRoundRobin::<2>::new(500, &[500, 500]).unwrap();
    for ((name, channel, length_bytes), after) in FIGURE_5.into_iter().zip(AFTER) {
        assert_eq!(scheduler.current(), channel, "packet {name}");
        scheduler.charge(length_bytes);
        assert_eq!([scheduler.number(0), scheduler.number(1)], after, "after {name}");
    }
    assert_eq!((scheduler.round(), scheduler.current()), (Round::new(3), 0));
}

#[test]
fn deficit_of_exactly_zero_ends_the_turn() {
    let mut scheduler = SurplusRoundRobin::<2>::new(500, &[500, 500]).unwrap();
    scheduler.charge(499);
    assert_eq!((scheduler.current(), scheduler.number(0)), (0, number(1, 1)));
    scheduler.charge(1);
    assert_eq!((scheduler.current(), scheduler.number(0)), (1, number(2, 500)));
}

#[test]
fn round_robin_cycles_through_channels() {
    let mut scheduler = RoundRobin::try_new(3).unwrap();
    assert_eq!(channels_of(&mut scheduler, &[9, 1, 7, 7, 7]), [0, 1, 2, 0, 1]);
}

#[test]
fn equal_packets_and_quanta_reduce_surplus_rr_to_round_robin() {
    let mut surplus = SurplusRoundRobin::<4>::new(100, &[100; 4]).unwrap();
    let mut plain = RoundRobin::try_new(4).unwrap();
    let lengths = [100; 50];
    assert_eq!(channels_of(&mut surplus, &lengths), channels_of(&mut plain, &lengths));
}

/// Random words of SplitMix64.
fn words(seed: u64) -> impl FnMut() -> u64 + Clone {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}

#[test]
fn randomised_scheduler_shares_bytes_evenly_on_average() {
    let mut scheduler = Randomised::new(4, words(7)).unwrap();
    let lengths: Vec<u32> =
        (0..40_000).map(|packet| if packet % 2 == 0 { 1_000 } else { 200 }).collect();
    let mut sent_bytes = [0_u32; 4];
    for (channel, length) in channels_of(&mut scheduler, &lengths).into_iter().zip(&lengths) {
        sent_bytes[channel] += length;
    }
    // Variance 20,000 (1000^2 + 200^2) 3/16: five standard deviations are 312,000.
    for bytes in sent_bytes {
        assert!(bytes.abs_diff(6_000_000) < 312_000, "{sent_bytes:?}");
    }
}

fn channels_of(scheduler: &mut impl Causal, lengths: &[u32]) -> Vec<usize> {
    let send = |&length_bytes| {
        let channel = scheduler.current();
        scheduler.charge(length_bytes);
        channel
    };
    lengths.iter().map(send).collect()
}

/// Theorem 3.1, and 4.1 without loss: packets of the load-sharing channels, put into the queues of
/// fair queueing, come out in their original order.
fn assert_execution_comes_back<S: Causal>(mut sharing: S, mut queueing: S, lengths: &[u32]) {
    let mut queues = vec![VecDeque::new(); sharing.channels()];
    for (packet, channel) in channels_of(&mut sharing, lengths).into_iter().enumerate() {
        queues[channel].push_back(packet);
    }
    for (packet, &length_bytes) in lengths.iter().enumerate() {
        let pulled = queues[queueing.current()].pop_front();
        assert_eq!(pulled, Some(packet), "the order of the input");
        queueing.charge(length_bytes);
    }
    assert_eq!(sharing.current(), queueing.current());
}

fn quanta() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(LONGEST_BYTES..=4 * LONGEST_BYTES, 1..=16)
}

fn lengths() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(1..=LONGEST_BYTES, 0..400)
}

proptest! {
    #[test]
    fn theorem_3_1_surplus_round_robin(quanta in quanta(), lengths in lengths()) {
        let scheduler = SurplusRoundRobin::<16>::new(LONGEST_BYTES, &quanta).unwrap();
        assert_execution_comes_back(scheduler.clone(), scheduler, &lengths);
    }

    #[test]
    fn theorem_3_1_by_packets(
        packets in prop::collection::vec(1_u32..6, 1..=16),
        lengths in lengths(),
    ) {
        let scheduler = GeneralisedRoundRobin::<16>::new(&packets).unwrap();
        assert_execution_comes_back(scheduler.clone(), scheduler, &lengths);
        let scheduler = RoundRobin::try_new(packets.len()).unwrap();
        assert_execution_comes_back(scheduler.clone(), scheduler, &lengths);
    }

    #[test]
    fn theorem_3_1_randomised(count in 1_usize..=64, seed: u64, lengths in lengths()) {
        let scheduler = Randomised::new(count, words(seed)).unwrap();
        assert_execution_comes_back(scheduler.clone(), scheduler, &lengths);
    }

    /// Lemma 3.3, `|bytes - K quantum| <= longest + 2 largest quantum`, at every packet; and the
    /// stricter bound at the end of every round: at least K quanta, and less than a longest packet
    /// more.
    #[test]
    fn lemma_3_3_bytes_follow_the_quanta(quanta in quanta(), lengths in lengths()) {
        let mut scheduler = SurplusRoundRobin::<16>::new(LONGEST_BYTES, &quanta).unwrap();
        let largest = i64::from(*quanta.iter().max().unwrap());
        let mut sent_bytes = vec![0_i64; quanta.len()];
        for length in lengths {
            let before = scheduler.round();
            sent_bytes[scheduler.current()] += i64::from(length);
            scheduler.charge(length);
            let rounds = i64::from(before.get() - 1);
            let ended = scheduler.round() != before;
            for (sent, quantum) in sent_bytes.iter().zip(&quanta) {
                let within = sent - rounds * i64::from(*quantum);
                prop_assert!(within.abs() <= i64::from(LONGEST_BYTES) + 2 * largest);
                let surplus = within - i64::from(*quantum);
                prop_assert!(!ended || (0..i64::from(LONGEST_BYTES)).contains(&surplus));
            }
        }
    }

    /// The number of a channel's next packet depends only on the bytes sent on it. This also holds
    /// for lengths above the quantum, which no end of a stripe sends.
    #[test]
    fn numbers_have_a_closed_form(
        quanta in quanta(),
        lengths in prop::collection::vec(0..=3 * LONGEST_BYTES, 0..400),
    ) {
        let mut scheduler = SurplusRoundRobin::<16>::new(LONGEST_BYTES, &quanta).unwrap();
        let mut sent_bytes = vec![0; quanta.len()];
        for length in lengths {
            sent_bytes[scheduler.current()] += length;
            scheduler.charge(length);
            for (channel, (sent, quantum)) in sent_bytes.iter().zip(&quanta).enumerate() {
                let closed = number(sent / quantum + 1, quantum - sent % quantum);
                prop_assert_eq!(scheduler.number(channel), closed);
            }
        }
    }
}
