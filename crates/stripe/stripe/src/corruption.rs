//! Self-stabilisation tests: after any part of the state is overwritten, exact packet order returns
//! within a time limit.

#[path = "../tests/protocol/pair.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "it serves the tests of the protocol, and is seen from here too"
)]
mod pair;

use std::collections::VecDeque;
use std::time::Duration;

use gingham_fairq::{Change, Round};
use proptest::prelude::*;

use crate::{
    Charge, ControlPlan, Departure, Epoch, Guarantee, Instant, ReceiverOptions, RepairPlan,
    RepairRequests, Report, SenderOptions, SharePlan, SizePlan, SizeState,
};
use pair::{LONGEST_BYTES, Pair, Scheduler, Words, milliseconds};

const DELAY_MS_MAX: u32 = 50;

pub(crate) trait Corrupt {
    fn corrupt(&mut self, words: &mut dyn FnMut() -> u64);
}

/// Implements `Corrupt` for a struct by overwriting the listed fields. An `Option` listed after the
/// semicolon is overwritten only if it is not `None`.
macro_rules! corrupt {
    ($type:ident $(<$parameter:ident>)?: $($field:tt),+ $(; $($optional:ident),+)?) => {
        impl $(<$parameter>)? crate::corruption::Corrupt for $type $(<$parameter>)? {
            fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
                $(crate::corruption::Corrupt::corrupt(&mut self.$field, words);)+
                $($(
                    if let Some(part) = &mut self.$optional {
                        crate::corruption::Corrupt::corrupt(part, words);
                    }
                )+)?
            }
        }
    };
}
pub(crate) use corrupt;

macro_rules! of_a_word {
    ($($type:ty = $of:expr,)+) => {
        $(impl Corrupt for $type {
            fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
                const OF: fn(u64) -> $type = $of;
                *self = OF(words());
            }
        })+
    };
}

of_a_word! {
    u8 = |word| word.to_le_bytes()[0],
    u32 = lower_half,
    u64 = |word| word,
    i64 = u64::cast_signed,
    usize = |word| usize::try_from(word).unwrap_or(usize::MAX),
    bool = |word| word.is_multiple_of(2),
    Duration = Duration::from_nanos,
    Instant = Instant::from_nanoseconds,
    Epoch = |word| Epoch::new(lower_half(word)),
    Round = |word| Round::new(lower_half(word)),
    SizeState = |word| match word % 4 {
        0 => SizeState::Base,
        1 => SizeState::Searching,
        2 => SizeState::SearchComplete,
        _ => SizeState::Error,
    },
}

fn lower_half(word: u64) -> u32 {
    u32::try_from(word & u64::from(u32::MAX)).expect("half a word")
}

corrupt!(Report: accounted_packets, received_packets, limit_bytes, lowered, held_ns, received_ago_ns,
    longest_bytes, coming_from, accounted_bytes, received_bytes, received_at, echo);
corrupt!(Departure: channel, since, sent_packets, next_sequence);
corrupt!(Change: from, quantum_bytes);

impl<T: Corrupt> Corrupt for [T] {
    fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        for one in self {
            one.corrupt(words);
        }
    }
}

impl<T: Corrupt, const COUNT: usize> Corrupt for [T; COUNT] {
    fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.as_mut_slice().corrupt(words);
    }
}

impl<T: Corrupt> Corrupt for Vec<T> {
    fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.as_mut_slice().corrupt(words);
    }
}

impl<T: Corrupt + Default> Corrupt for VecDeque<T> {
    fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.clear();
        self.resize_with(usize::try_from(words() % 5).expect("a small number"), T::default);
        for one in self {
            one.corrupt(words);
        }
    }
}

impl<T: Corrupt + Default> Corrupt for Option<T> {
    fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        let mut value = T::default();
        value.corrupt(words);
        *self = Some(value).filter(|_| !words().is_multiple_of(4));
    }
}

impl<A: Corrupt, B: Corrupt> Corrupt for (A, B) {
    fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.0.corrupt(words);
        self.1.corrupt(words);
    }
}

impl<A: Corrupt, B: Corrupt, C: Corrupt> Corrupt for (A, B, C) {
    fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.0.corrupt(words);
        self.1.corrupt(words);
        self.2.corrupt(words);
    }
}

/// Overwrites about half of the parts. If all were overwritten, one detected fault would cause a
/// reset and hide the other faults.
pub(crate) fn corrupt_some(parts: &mut [&mut dyn Corrupt], words: &mut dyn FnMut() -> u64) {
    for part in parts {
        if is_hit(words) {
            part.corrupt(words);
        }
    }
}

pub(crate) fn is_hit(words: &mut dyn FnMut() -> u64) -> bool {
    words().is_multiple_of(2)
}

fn random_word(words: &mut Words) -> u64 {
    match words.below(4) {
        0 => words.next(),
        1 => words.next() % (1 << 32),
        2 => words.next() % 5_000,
        _ => words.next() % 64,
    }
}

fn send_for(pair: &mut Pair, words: &mut Words, span: Duration) {
    let end = pair.now.after(span);
    while pair.now < end {
        pair.send(words.length_bytes());
        pair.run_for(Duration::from_micros(u64::from(words.below(4_000))));
    }
}

proptest! {
    #[test]
    fn order_recovers_in_time_from_arbitrary_state_corruption(
        seed: u64, channels in 1_usize..=8, of_sender: bool, of_receiver: bool, follows: [bool; 3],
        guarantees: [bool; 2], finds_sizes: bool,
    ) {
        let mut words = Words(seed);
        let quanta: Vec<_> = (0..channels).map(|_| LONGEST_BYTES + words.below(4_000)).collect();
        let scheduler = Scheduler::new(LONGEST_BYTES, &quanta).expect("options of a test");
        let delays: Vec<_> =
            (0..channels).map(|_| milliseconds(words.below(DELAY_MS_MAX).into())).collect();
        let guarantee = Guarantee { repair: guarantees[1].then(RepairRequests::default) };
        let receiver = ReceiverOptions {
            wait: milliseconds(100),
            guaranteed: guarantees[0].then_some(guarantee),
            ..ReceiverOptions::default()
        };
        let sender = SenderOptions {
            credits: follows[0].then(Charge::default),
            control: follows[1].then(ControlPlan::default),
            shares: (follows[1] && follows[2]).then(SharePlan::default),
            sizes: finds_sizes.then(SizePlan::default),
            repair: (guarantees[0] && guarantees[1]).then(RepairPlan::default),
            ..SenderOptions::default()
        };
        let mut pair = Pair::with(&scheduler, &delays, sender, receiver).seeded(seed);
        pair.loss_percent = words.below(10);
        send_for(&mut pair, &mut words, milliseconds(200));
        pair.loss_percent = 0;
        if of_sender {
            pair.sender.corrupt(&mut || random_word(&mut words));
        }
        if of_receiver {
            pair.receiver.corrupt(&mut || random_word(&mut words));
        }
        // Twice the sum of the receiver's wait (100 ms), 8 late markers 20 ms apart, the reset wait
        // (500 ms), two round trips, and 16 pauses of 100 ms between accepted reset requests (1,600
        // ms).
        let bound = 2 * milliseconds(100 + 8 * 20 + 500 + 4 * u64::from(DELAY_MS_MAX) + 1_600);
        send_for(&mut pair, &mut words, bound);
        let last = pair.sent;
        send_for(&mut pair, &mut words, milliseconds(300));
        pair.run_for(milliseconds(20 + u64::from(DELAY_MS_MAX)));
        prop_assert!(pair.sent > last, "nothing is taken for sending");
        let expected: Vec<u32> = (last + 1..=pair.sent).collect();
        prop_assert_eq!(pair.delivered_after(last), expected);
    }
}
