//! Policing: hand-traced drops.

use crate::common::{channel, clean, offer, offer_all};
use gingham_kernel::Rate;
use gingham_linkemu::{Channel, Counters, DropReason, Parameters, Policer, Probability};

const POLICED: Result<Vec<u64>, DropReason> = Err(DropReason::Policed);

/// A policer of a tenth of the rate, with bursts of 100 bytes.
fn policed(queue_bytes: u64) -> Channel {
    let rate = Rate::from_bytes_per_second(100_000_000);
    let policer = Some(Policer { rate, burst_bytes: 100 });
    channel(Parameters { policer, ..clean(queue_bytes) })
}

#[test]
fn burst_passes_and_then_packets_with_tokens() {
    let mut channel = policed(1_000);
    let found = offer_all(&mut channel, &[(0, 60), (0, 41), (0, 40)]);
    assert_eq!(found, [Ok(vec![65_000]), POLICED, Ok(vec![105_000])]);
    assert_eq!(offer(&mut channel, 9_999, 1), POLICED);
    assert_eq!(offer(&mut channel, 10_000, 1), Ok(vec![106_000]));
    let found = offer_all(&mut channel, &[(2_000_000, 101), (2_000_000, 100)]);
    assert_eq!(found, [POLICED, Ok(vec![2_105_000])]);
    let counted = Counters { offered: 7, arrived: 4, policed: 3, ..Counters::default() };
    assert_eq!(channel.counters(), counted);
}

#[test]
fn fractional_tokens_accumulate() {
    let mut channel = policed(1_000);
    assert!(offer(&mut channel, 0, 100).is_ok());
    for step in 1..=10 {
        assert_eq!(offer(&mut channel, step * 9_999, 10), POLICED);
    }
    assert_eq!(offer(&mut channel, 100_000, 10), Ok(vec![115_000]));
}

#[test]
fn packet_dropped_by_the_queue_uses_its_tokens() {
    let mut channel = policed(50);
    let found = offer_all(&mut channel, &[(0, 50), (0, 50), (0, 1)]);
    assert_eq!(found, [Ok(vec![55_000]), Err(DropReason::QueueFull), POLICED]);
}

#[test]
fn each_copy_uses_its_own_tokens() {
    let twice =
        Parameters { duplication: Probability::ALWAYS, ..policed(1_000).parameters().clone() };
    let mut channel = channel(twice);
    assert_eq!(offer(&mut channel, 0, 60), Ok(vec![65_000]));
    assert_eq!(offer(&mut channel, 0, 40), Ok(vec![105_000]));
    assert_eq!((channel.counters().policed, channel.counters().arrived), (2, 2));
}
