//! Surplus round robin at a receiver (Adiseshu, Parulkar and Varghese 1996, section 5).

use std::collections::VecDeque;

use gingham_fairq::{Causal, Change, Number, Round, SchedulerError, Standing, SurplusRoundRobin};
use proptest::prelude::*;

const LONGEST_BYTES: u32 = 1_500;

type Scheduler = SurplusRoundRobin<8>;

const fn number(round: u32, deficit_bytes: u32) -> Number {
    Number { round: Round::new(round), deficit_bytes }
}

fn set_number(
    scheduler: &mut Scheduler,
    channel: usize,
    next: Number,
) -> Result<(), SchedulerError> {
    let standing = Standing { next, ..scheduler.standing(channel) };
    scheduler.set_standing(channel, standing)
}

const fn change(round: u32, quantum_bytes: u32) -> Change {
    Change { from: Round::new(round), quantum_bytes }
}

#[derive(Clone, Copy, Debug)]
enum Item {
    Data { packet: usize, length_bytes: u32 },
    Marker(Standing),
}

struct Pair {
    sender: Scheduler,
    receiver: Scheduler,
    channels: Vec<VecDeque<Item>>,
    sent: usize,
    delivered: Vec<usize>,
}

impl Pair {
    fn new(scheduler: Scheduler) -> Self {
        let count = scheduler.channels();
        Self {
            sender: scheduler.clone(),
            receiver: scheduler,
            channels: vec![VecDeque::new(); count],
            sent: 0,
            delivered: Vec::new(),
        }
    }

    fn send(&mut self, length_bytes: u32, lost: bool) {
        self.sent += 1;
        if !lost {
            let item = Item::Data { packet: self.sent, length_bytes };
            self.channels[self.sender.current()].push_back(item);
        }
        self.sender.charge(length_bytes);
    }

    fn mark(&mut self, channel: usize) {
        let marker = Item::Marker(self.sender.standing(channel));
        self.channels[channel].push_back(marker);
    }

    /// Receives as in the paper: takes packets from the current channel until it is empty.
    fn receive(&mut self) {
        while let Some(item) = self.channels[self.receiver.current()].pop_front() {
            match item {
                Item::Data { packet, length_bytes } => {
                    self.delivered.push(packet);
                    self.receiver.charge(length_bytes);
                }
                Item::Marker(standing) => {
                    let channel = self.receiver.current();
                    self.receiver.set_standing(channel, standing).expect("one of the sender's");
                }
            }
        }
    }
}

/// Packets are equal, quanta are one packet, and packet 7 is lost; a marker with G = 7 is sent on
/// the first channel before round 7.
#[test]
fn figures_8_to_13_match_the_paper() {
    let mut pair = Pair::new(Scheduler::new(100, &[100, 100]).unwrap());
    for packet in 1..=14 {
        if packet == 13 {
            pair.mark(0);
        }
        pair.send(100, packet == 7);
    }
    pair.receive();
    assert_eq!(pair.delivered, [1, 2, 3, 4, 5, 6, 9, 8, 11, 10, 12, 13, 14]);
}

#[test]
fn channel_ahead_of_the_round_is_skipped_until_its_round() {
    let mut receiver = Scheduler::new(100, &[100; 3]).unwrap();
    set_number(&mut receiver, 1, number(3, 40)).unwrap();
    let mut order = Vec::new();
    for _ in 0..7 {
        order.push((receiver.round().get(), receiver.current()));
        receiver.charge(100);
    }
    assert_eq!(order, [(1, 0), (1, 2), (2, 0), (2, 2), (3, 0), (3, 1), (3, 2)]);
    // 40 - 100 + 100: the overdraft is paid back in round 4.
    assert_eq!(receiver.number(1), number(4, 40));
}

#[test]
fn current_channel_is_skipped_when_its_marker_is_ahead() {
    let mut receiver = Scheduler::new(100, &[100; 2]).unwrap();
    set_number(&mut receiver, 0, number(2, 100)).unwrap();
    assert_eq!((receiver.round(), receiver.current()), (Round::new(1), 1));
}

#[test]
fn round_jumps_to_the_nearest_if_all_channels_are_ahead() {
    let mut receiver = Scheduler::new(100, &[100; 3]).unwrap();
    set_number(&mut receiver, 2, number(1_000_000_007, 9)).unwrap();
    set_number(&mut receiver, 1, number(1_000_000_000, 7)).unwrap();
    set_number(&mut receiver, 0, number(1_000_000_001, 8)).unwrap();
    assert_eq!((receiver.round(), receiver.current()), (Round::new(1_000_000_000), 1));
    receiver.charge(7);
    assert_eq!((receiver.round(), receiver.current()), (Round::new(1_000_000_001), 0));
}

#[test]
fn channel_behind_the_round_catches_up() {
    let mut receiver = Scheduler::starting_at(Round::new(10), 100, &[100; 2]).unwrap();
    set_number(&mut receiver, 1, number(8, 50)).unwrap();
    let mut order = Vec::new();
    for _ in 0..6 {
        order.push((receiver.round().get(), receiver.current()));
        receiver.charge(100);
    }
    // Channel 1: numbers 8, 9 and 10 before it is ahead of round 10.
    assert_eq!(order, [(10, 0), (10, 1), (10, 1), (10, 1), (11, 0), (11, 1)]);
}

#[test]
fn invalid_packet_numbers_are_refused() {
    let mut receiver = Scheduler::new(100, &[100, 300]).unwrap();
    let before = receiver.clone();
    let outside = |channel, deficit_bytes, quantum_bytes| {
        Err(SchedulerError::DeficitOutside { channel, deficit_bytes, quantum_bytes })
    };
    assert_eq!(set_number(&mut receiver, 0, number(5, 0)), outside(0, 0, 100));
    assert_eq!(set_number(&mut receiver, 0, number(5, 101)), outside(0, 101, 100));
    assert_eq!(set_number(&mut receiver, 1, number(5, 301)), outside(1, 301, 300));
    let nowhere = Err(SchedulerError::NoSuchChannel { channel: 2, count: 2 });
    assert_eq!(set_number(&mut receiver, 2, number(1, 1)), nowhere);
    let small = |channel, quantum_bytes| {
        Err(SchedulerError::QuantumTooSmall { channel, quantum_bytes, longest_bytes: 100 })
    };
    let standing = Standing { quantum_bytes: 99, ..receiver.standing(1) };
    assert_eq!(receiver.set_standing(1, standing), small(1, 99));
    let standing = Standing { coming: Some(change(9, 98)), ..receiver.standing(1) };
    assert_eq!(receiver.set_standing(1, standing), small(1, 98));
    assert_eq!(receiver, before);
}

#[test]
fn quanta_change_at_the_announced_round() {
    let mut scheduler = Scheduler::new(90, &[100, 100]).unwrap();
    scheduler.change(0, change(3, 300)).unwrap();
    scheduler.change(1, change(3, 150)).unwrap();
    let mut order = Vec::new();
    while scheduler.round() != Round::new(4) {
        order.push(scheduler.current());
        scheduler.charge(90);
    }
    // Each: 100, 10, -80 | 20, -70 | then 230, 140, 50, -40 of the 300, and 80, -10 of the 150.
    assert_eq!(order, [0, 0, 1, 1, 0, 1, 0, 0, 0, 1]);
    assert_eq!((scheduler.number(0), scheduler.number(1)), (number(4, 260), number(4, 140)));
    assert_eq!((scheduler.standing(0).quantum_bytes, scheduler.standing(0).coming), (300, None));
}

#[test]
fn invalid_quantum_change_is_refused() {
    let mut scheduler = Scheduler::new(100, &[100, 100]).unwrap();
    let nowhere = Err(SchedulerError::NoSuchChannel { channel: 2, count: 2 });
    assert_eq!(scheduler.change(2, change(2, 200)), nowhere);
    let reached = Err(SchedulerError::RoundReached { channel: 0, from: Round::FIRST });
    assert_eq!(scheduler.change(0, change(1, 200)), reached);
    let (channel, quantum_bytes, longest_bytes) = (1, 99, 100);
    let small = Err(SchedulerError::QuantumTooSmall { channel, quantum_bytes, longest_bytes });
    assert_eq!(scheduler.change(1, change(2, 99)), small);
    assert_eq!(scheduler, Scheduler::new(100, &[100, 100]).unwrap());
    scheduler.change(0, change(2, 200)).unwrap();
    scheduler.change(0, change(3, 300)).unwrap();
    assert_eq!(scheduler.standing(0).coming, Some(change(3, 300)));
}

#[test]
fn channel_can_be_removed_and_readded() {
    let mut scheduler = Scheduler::new(100, &[100; 3]).unwrap();
    scheduler.change(1, change(2, 0)).unwrap();
    let mut order = Vec::new();
    for packet in 0..10 {
        if packet == 4 {
            let back = Standing::beginning(Round::new(4), 100);
            assert_eq!(scheduler.standing(1), Standing::out(Round::new(2)));
            scheduler.set_standing(1, back).unwrap();
        }
        order.push(scheduler.current());
        scheduler.charge(100);
    }
    assert_eq!(order, [0, 1, 2, 0, 2, 0, 2, 0, 1, 2]);
}

/// The overdraft of a channel that goes out is forgiven.
#[test]
fn immediate_removal_ends_the_turn_of_a_channel() {
    let mut scheduler = Scheduler::new(100, &[100; 3]).unwrap();
    scheduler.charge(50);
    scheduler.set_standing(0, Standing::out(Round::new(1))).unwrap();
    assert_eq!((scheduler.current(), scheduler.round()), (1, Round::new(1)));
    scheduler.set_standing(2, Standing::out(Round::new(1))).unwrap();
    (0..3).for_each(|_| scheduler.charge(100));
    assert_eq!((scheduler.current(), scheduler.round()), (1, Round::new(4)));
}

#[test]
fn last_channel_cannot_be_removed() {
    let mut scheduler = Scheduler::new(100, &[100; 2]).unwrap();
    scheduler.change(1, change(2, 0)).unwrap();
    scheduler.set_standing(0, Standing::out(Round::new(1))).unwrap();
    let last = Err(SchedulerError::LastChannel { channel: 1 });
    assert_eq!(scheduler.set_standing(1, Standing::out(Round::new(1))), last);
    (0..3).for_each(|_| scheduler.charge(100));
    assert_eq!(scheduler.standing(1), Standing::beginning(Round::new(4), 100));
}

/// The channel is overdrawn by 50 at the end of round 1.
#[test]
fn skipped_channel_resumes_with_the_quantum_of_its_round() {
    let mut scheduler = Scheduler::new(100, &[100; 2]).unwrap();
    scheduler.change(0, change(5, 300)).unwrap();
    scheduler.charge(50);
    scheduler.skip_to(0, Round::new(7)).unwrap();
    assert_eq!(scheduler.standing(0), Standing::beginning(Round::new(7), 300));
    assert_eq!(scheduler.current(), 1);
}

#[test]
fn unreachable_state_is_not_sound() {
    let mut scheduler = Scheduler::new(100, &[100; 2]).unwrap();
    (0..5).for_each(|_| scheduler.charge(70));
    assert!(scheduler.is_sound(10));
    set_number(&mut scheduler, 0, number(23, 1)).unwrap();
    assert!(!scheduler.is_sound(10) && scheduler.is_sound(30));
}

/// Length of a packet, and random numbers that decide its loss, a marker after it, and the marker's
/// loss.
type Sent = (u32, u8, u8, u8);

fn story(packets: usize) -> impl Strategy<Value = Vec<Sent>> {
    prop::collection::vec((1..=LONGEST_BYTES, any::<u8>(), any::<u8>(), any::<u8>()), 0..packets)
}

fn quanta() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(LONGEST_BYTES..=4 * LONGEST_BYTES, 1..=8)
}

fn change_all(scheduler: &mut Scheduler, from: Round, quanta: &[u32]) {
    for (channel, &quantum_bytes) in quanta.iter().enumerate() {
        scheduler.change(channel, Change { from, quantum_bytes }).expect("a quantum of a test");
    }
}

/// First round of a test, sometimes shortly before the numbers wrap.
fn first_round() -> impl Strategy<Value = Round> {
    prop_oneof![Just(Round::FIRST), (0_u32..40).prop_map(|rounds| Round::new(u32::MAX - rounds))]
}

proptest! {
    /// Theorem 5.1: once errors stop, order is exact as soon as every channel has delivered a
    /// marker, and no packet waits. Covers loss up to 100 %, of markers too, rounds that wrap, and
    /// changing quanta.
    #[test]
    fn theorem_5_1_markers_restore_order(
        first in first_round(),
        quanta in quanta(),
        new in prop::array::uniform8(LONGEST_BYTES..=4 * LONGEST_BYTES),
        change_after in prop::option::of(1_u32..60),
        loss in 0_u8..=255,
        lossy in story(200),
        clean in story(100),
    ) {
        let mut scheduler = Scheduler::starting_at(first, LONGEST_BYTES, &quanta).unwrap();
        if let Some(rounds) = change_after {
            change_all(&mut scheduler, first.plus(rounds), &new[..quanta.len()]);
        }
        let mut pair = Pair::new(scheduler);
        for (length, lost, marks, marker_lost) in lossy {
            pair.send(length, lost < loss);
            let channel = usize::from(marks) % (2 * quanta.len());
            if channel < quanta.len() && marker_lost >= loss {
                pair.mark(channel);
            }
            pair.receive();
        }
        (0..quanta.len()).for_each(|channel| pair.mark(channel));
        let last_before = pair.sent;
        for (length, ..) in clean {
            pair.send(length, false);
        }
        // Completes the last round; the receiver then waits for no empty channel.
        (0..quanta.len()).for_each(|channel| pair.mark(channel));
        pair.receive();
        let after: Vec<_> =
            pair.delivered.iter().copied().filter(|packet| *packet > last_before).collect();
        let expected: Vec<_> = (last_before + 1..=pair.sent).collect();
        prop_assert_eq!(after, expected);
        let mut waiting = pair.channels.iter().flatten();
        prop_assert!(waiting.all(|item| matches!(item, Item::Marker(_))));
        prop_assert_eq!(pair.receiver.round(), pair.sender.round());
    }

    /// Both ends change quanta at one round and stay in step.
    #[test]
    fn quantum_change_keeps_both_ends_synchronised(
        first in first_round(),
        old in prop::array::uniform4(LONGEST_BYTES..=6_000),
        new in prop::array::uniform4(LONGEST_BYTES..=6_000),
        sent in story(300),
    ) {
        let mut pair = Pair::new(Scheduler::starting_at(first, LONGEST_BYTES, &old).unwrap());
        let from = first.plus(4);
        change_all(&mut pair.sender, from, &new);
        change_all(&mut pair.receiver, from, &new);
        for (length, ..) in sent {
            pair.send(length, false);
        }
        pair.receive();
        prop_assert!(pair.delivered.iter().copied().eq(1..=pair.sent));
        prop_assert_eq!(&pair.sender, &pair.receiver);
    }

    /// Whatever numbers arrive, in any state, the receiver chooses a channel that is not ahead.
    #[test]
    fn any_markers_leave_a_channel_not_ahead_of_the_round(
        quanta in quanta(),
        foreign in prop::collection::vec((0_usize..8, any::<u32>(), 1..=LONGEST_BYTES, 0..=9_000_u32), 0..60),
    ) {
        let mut receiver = Scheduler::new(LONGEST_BYTES, &quanta).unwrap();
        for (channel, round, deficit, length) in foreign {
            let round = Round::new(round);
            let next = Number { round, deficit_bytes: deficit.max(1) };
            let standing = Standing { next, quantum_bytes: 9_000, coming: None };
            let standing = if deficit == 0 { Standing::out(round) } else { standing };
            let taken = receiver.set_standing(channel, standing);
            prop_assert!(channel < quanta.len() || taken.is_err());
            prop_assert!(taken.is_ok() || deficit == 0 || channel >= quanta.len());
            receiver.charge(length);
            let current = receiver.standing(receiver.current());
            prop_assert!(current.is_in() && !current.next.round.is_after(receiver.round()));
        }
    }
}
