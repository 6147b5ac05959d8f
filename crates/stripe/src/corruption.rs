//! Self-stabilisation: every word of either end is written over, and order is exact again in time.
//!
//! The bound, as the specification of the protocol has it: twice the sum of the wait, the late
//! markers that are put up with, the wait for a reset, two round trips, and the longest pause
//! between resets that are asked for.

#[path = "../tests/protocol/pair.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "it serves the tests of the protocol, and is seen from here too"
)]
mod pair;

use std::time::Duration;

use proptest::prelude::*;

use crate::{
    Charge, ControlPlan, Guarantee, ReceiverOptions, RepairPlan, RepairRequests, SenderOptions,
    SharePlan, SizePlan,
};
use pair::{LONGEST_BYTES, Pair, Scheduler, Words, milliseconds};

const DELAY_MS_MAX: u32 = 50;

/// The lower half of a word.
pub(crate) fn word(words: &mut dyn FnMut() -> u64) -> u32 {
    u32::try_from(words() & u64::from(u32::MAX)).expect("half a word")
}

/// Its lowest byte.
pub(crate) fn byte(words: &mut dyn FnMut() -> u64) -> u8 {
    u8::try_from(words() & u64::from(u8::MAX)).expect("a byte")
}

/// All of it, as far as an index goes.
pub(crate) fn index(words: &mut dyn FnMut() -> u64) -> usize {
    usize::try_from(words()).unwrap_or(usize::MAX)
}

/// Whether a part is written over: where all are, one that is found and ends in a reset hides the
/// others.
pub(crate) fn is_hit(words: &mut dyn FnMut() -> u64) -> bool {
    words().is_multiple_of(2)
}

/// Words of all sizes: any at all, and such as might be right.
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
    fn whatever_is_written_over_order_is_exact_in_time(
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
        // Wait 100 ms, 8 late markers each 20 ms, a reset 500 ms, two round trips, 16 times 100 ms.
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
