//! Arbiters under load: theorem 3.2, the causal forms under backlog, shares, and maximum waits.

use std::num::{NonZeroU32, NonZeroU64};

use gingham_fairq::{
    Arbiter, Causal, DeficitRoundRobin, FirstComeFirstServed, GeneralisedRoundRobin, Head,
    PassingOver, PriorityWeightedRoundRobin, Ready, RoundRobin, StrictPriority, SurplusRoundRobin,
    VirtualClock, WeightedRoundRobin,
};
use proptest::prelude::*;

const LONGEST_BYTES: u32 = 1_500;
const QUEUES: usize = 5;

type Decision = (u64, [u32; QUEUES]);

fn decisions() -> impl Strategy<Value = Vec<Decision>> {
    let decision = (0_u64..1 << QUEUES, prop::array::uniform5(1..=LONGEST_BYTES));
    prop::collection::vec(decision, 0..300)
}

fn quanta() -> impl Strategy<Value = [u32; QUEUES]> {
    prop::array::uniform5(LONGEST_BYTES..=4 * LONGEST_BYTES)
}

fn heads(lengths: [u32; QUEUES]) -> [Head; QUEUES] {
    lengths.map(|length_bytes| Head { length_bytes, arrival_ps: 0 })
}

fn surplus(quanta: &[u32]) -> SurplusRoundRobin<QUEUES> {
    SurplusRoundRobin::new(LONGEST_BYTES, quanta).expect("quanta that are long enough")
}

proptest! {
    #[test]
    fn backlogged_passing_over_matches_the_causal_scheduler(
        quanta in quanta(),
        lengths in prop::collection::vec(prop::array::uniform5(1..=LONGEST_BYTES), 0..300),
    ) {
        let mut causal = surplus(&quanta);
        let mut arbiter = PassingOver::new(causal.clone());
        for lengths in lengths {
            let expected = causal.current();
            causal.charge(lengths[expected]);
            prop_assert_eq!(arbiter.serve(&Ready::new(&[0b11111], &heads(lengths))), Some(expected));
            prop_assert_eq!(arbiter.scheduler(), &causal);
        }
    }

    /// Round robin is demand-slotted: the adapter of its causal form makes equal choices.
    #[test]
    fn passing_over_round_robin_matches_round_robin(decisions in decisions()) {
        let mut slotted = RoundRobin::try_new(QUEUES).unwrap();
        let mut adapted = PassingOver::new(slotted.clone());
        for (eligible, lengths) in decisions {
            let heads = heads(lengths);
            let eligible = [eligible];
        let ready = Ready::new(&eligible, &heads);
            prop_assert_eq!(slotted.serve(&ready), adapted.serve(&ready));
        }
    }

    /// Theorem 3.2: for a queue that is always backlogged, whatever the others do, the bytes after
    /// K rounds are within a longest packet and two quanta of K quanta. The stricter bound: at
    /// least K quanta, and less than a longest packet more.
    #[test]
    fn theorem_3_2_a_backlogged_queue_gets_its_quanta(quanta in quanta(), decisions in decisions()) {
        let mut arbiter = PassingOver::new(surplus(&quanta));
        let mut sent_bytes = 0_i64;
        for (eligible, lengths) in decisions {
            let before = arbiter.scheduler().round();
            let served = arbiter.serve(&Ready::new(&[eligible | 0b100], &heads(lengths))).unwrap();
            sent_bytes += if served == 2 { i64::from(lengths[2]) } else { 0 };
            let round = arbiter.scheduler().round();
            // The round may end by passing over queues; the bytes then sent belong to the new
            // round.
            let new_bytes = if served == 2 && before != round { i64::from(lengths[2]) } else { 0 };
            let due_bytes = i64::from(round.get() - 1) * i64::from(quanta[2]);
            let old_bytes = sent_bytes - new_bytes;
            if before != round {
                let largest = i64::from(*quanta.iter().max().unwrap());
                let surplus = old_bytes - due_bytes;
                prop_assert!(surplus.abs() <= i64::from(LONGEST_BYTES) + 2 * largest);
                prop_assert!((0..i64::from(LONGEST_BYTES)).contains(&surplus), "{}", surplus);
            }
        }
    }

    /// An eligible queue waits for at most a quantum and a longest packet of each other queue.
    #[test]
    fn byte_quanta_bound_the_wait(quanta in quanta(), decisions in decisions()) {
        let bound: u32 = quanta[1..].iter().map(|quantum| quantum + LONGEST_BYTES).sum();
        let mut deficit = DeficitRoundRobin::<QUEUES>::new(LONGEST_BYTES, &quanta).unwrap();
        let longest = longest_wait(&mut deficit, &decisions, |head| head.length_bytes);
        prop_assert!(longest <= bound, "deficit round robin: {} of {}", longest, bound);
        let mut surplus = PassingOver::new(surplus(&quanta));
        let longest = longest_wait(&mut surplus, &decisions, |head| head.length_bytes);
        prop_assert!(longest <= bound, "surplus round robin: {} of {}", longest, bound);
    }

    /// In packets: one turn of each other queue. Strict priority bounds only its highest level.
    #[test]
    fn turns_bound_the_wait(
        packets in prop::array::uniform5(1_u32..6),
        levels in prop::array::uniform4(0_usize..5),
        decisions in decisions(),
    ) {
        let weights = GeneralisedRoundRobin::<QUEUES>::new(&packets).unwrap();
        let bound = packets[1..].iter().sum();
        let mut weighted = WeightedRoundRobin::new(weights);
        prop_assert!(longest_wait(&mut weighted, &decisions, |_| 1) <= bound);
        let mut plain = RoundRobin::try_new(QUEUES).unwrap();
        prop_assert!(longest_wait(&mut plain, &decisions, |_| 1) <= 4);
        let [a, b, c, d] = levels;
        let mut strict = StrictPriority::<QUEUES>::new(&[4, a, b, c, d]).unwrap();
        let equals = levels.iter().filter(|level| **level == 4).count();
        prop_assert!(longest_wait(&mut strict, &decisions, |_| 1) as usize <= equals);
    }

    /// If levels yield after `n`, the level of an eligible queue with `k` above it, or a lower one,
    /// is served once in `(n + 1)^k`; a lower one at most once in a row; and the queue once per
    /// turn of each other queue of its level.
    #[test]
    fn yielding_levels_prevent_starvation(
        packets in prop::array::uniform5(1_u32..4),
        levels in prop::array::uniform5(0_usize..3),
        after in 1_u32..5,
        decisions in decisions(),
    ) {
        let yield_after = NonZeroU32::new(after);
        let mut arbiter =
            PriorityWeightedRoundRobin::<QUEUES>::new(&levels, &packets, yield_after).unwrap();
        let equals = (1..QUEUES).filter(|queue| levels[*queue] == levels[0]);
        let turns: u32 = equals.map(|queue| packets[queue]).sum();
        let above = (levels[0] + 1..3).filter(|level| levels.contains(level)).count();
        let bound = 2 * (turns + 1) * (after + 1).pow(u32::try_from(above).unwrap());
        prop_assert!(longest_wait(&mut arbiter, &decisions, |_| 1) < bound);
    }

    /// Under backlog each level is weighted round robin over its queues, whenever it has the turn.
    #[test]
    fn weights_share_within_a_level(
        packets in prop::array::uniform5(1_u32..6),
        levels in prop::array::uniform5(0_usize..3),
        after in 1_u32..5,
    ) {
        let yield_after = NonZeroU32::new(after);
        let mut arbiter =
            PriorityWeightedRoundRobin::<QUEUES>::new(&levels, &packets, yield_after).unwrap();
        let alone = WeightedRoundRobin::new(GeneralisedRoundRobin::<QUEUES>::new(&packets).unwrap());
        let mut each = [alone.clone(), alone.clone(), alone];
        for _ in 0..500 {
            let served = arbiter.serve(&Ready::alike(&[0b11111])).unwrap();
            let level = levels[served];
            let equals = (0..QUEUES).filter(|queue| levels[*queue] == level);
            let equals = [equals.fold(0, |set, queue| set | 1_u64 << queue)];
            prop_assert_eq!(each[level].serve(&Ready::alike(&equals)), Some(served));
        }
    }

    /// No head waits behind one that arrived later.
    #[test]
    fn earliest_arrival_is_always_served(arrivals in prop::array::uniform5(0_u64..9), eligible in 1_u64..32) {
        let heads = arrivals.map(|arrival_ps| Head { length_bytes: 1, arrival_ps });
        let eligible = [eligible];
        let ready = Ready::new(&eligible, &heads);
        let served = FirstComeFirstServed.serve(&ready).unwrap();
        prop_assert!(ready.has(served));
        prop_assert!(ready.queues().all(|queue| arrivals[served] <= arrivals[queue]));
    }

    /// Between two packets of a backlogged queue that takes t per packet, one that takes t' sends
    /// at most ceil(t / t') + 1.
    #[test]
    fn rates_bound_the_wait_of_virtual_clock(rates in prop::array::uniform5(1_u64..=1_000)) {
        let reserved = rates.map(|rate| NonZeroU64::new(rate * 1_000_000));
        let mut arbiter = VirtualClock::<QUEUES>::new(&reserved).unwrap();
        let mut waits = [[0; QUEUES]; QUEUES];
        for _ in 0..2_000 {
            let served = arbiter.serve(&Ready::new(&[0b11111], &heads([1_000; QUEUES]))).unwrap();
            for queue in 0..QUEUES {
                waits[queue][served] += 1;
                let bound = rates[served].div_ceil(rates[queue]) + 1;
                prop_assert!(queue == served || waits[queue][served] <= bound);
            }
            waits[served] = [0; QUEUES];
        }
    }
}

/// Maximum cost of the packets sent while queue 0, always eligible, waited.
fn longest_wait(
    arbiter: &mut impl Arbiter,
    decisions: &[Decision],
    cost: impl Fn(Head) -> u32,
) -> u32 {
    let (mut waited, mut longest) = (0, 0);
    for &(eligible, lengths) in decisions {
        let heads = heads(lengths);
        let served =
            arbiter.serve(&Ready::new(&[eligible | 1], &heads)).expect("queue 0 is eligible");
        waited = if served == 0 { 0 } else { waited + cost(heads[served]) };
        longest = longest.max(waited);
    }
    longest
}

fn counts(arbiter: &mut impl Arbiter, packets: usize) -> [usize; 3] {
    let heads = [Head { length_bytes: 1_000, arrival_ps: 0 }; 3];
    let mut counts = [0; 3];
    for _ in 0..packets {
        counts[arbiter.serve(&Ready::new(&[0b111], &heads)).expect("all are eligible")] += 1;
    }
    counts
}

#[test]
fn weights_share_one_two_four() {
    let weights = GeneralisedRoundRobin::<3>::new(&[1, 2, 4]).unwrap();
    let expected = [100, 200, 400];
    assert_eq!(counts(&mut WeightedRoundRobin::new(weights), 700), expected);
    let quanta = [1_000, 2_000, 4_000];
    let mut deficit = DeficitRoundRobin::<3>::new(1_000, &quanta).unwrap();
    assert_eq!(counts(&mut deficit, 700), expected);
    let surplus = SurplusRoundRobin::<3>::new(1_000, &quanta).unwrap();
    assert_eq!(counts(&mut PassingOver::new(surplus), 700), expected);
    // Stamps up to 400 us: 100 of 4 us, 200 of 2 us, 400 of 1 us.
    let rates = [250_000_000, 500_000_000, 1_000_000_000].map(NonZeroU64::new);
    assert_eq!(counts(&mut VirtualClock::<3>::new(&rates).unwrap(), 700), expected);
}

/// The lengths divide no quantum: shares are exact to within a quantum and a longest packet.
#[test]
fn quanta_share_bytes_for_any_packet_lengths() {
    let (quanta, lengths) = ([1_500, 3_000, 6_000], [64, 700, 1_500]);
    let heads = lengths.map(|length_bytes| Head { length_bytes, arrival_ps: 0 });
    let ready = Ready::new(&[0b111], &heads);
    let mut deficit = DeficitRoundRobin::<3>::new(LONGEST_BYTES, &quanta).unwrap();
    let mut surplus =
        PassingOver::new(SurplusRoundRobin::<3>::new(LONGEST_BYTES, &quanta).unwrap());
    for arbiter in [&mut deficit as &mut dyn Arbiter, &mut surplus] {
        let mut sent_bytes = [0_u32; 3];
        while sent_bytes[2] < 600_000 {
            let served = arbiter.serve(&ready).unwrap();
            sent_bytes[served] += lengths[served];
        }
        for (sent, due) in sent_bytes.into_iter().zip([150_000, 300_000, 600_000]) {
            assert!(sent.abs_diff(due) <= 6_000 + LONGEST_BYTES, "{sent_bytes:?}");
        }
    }
}
