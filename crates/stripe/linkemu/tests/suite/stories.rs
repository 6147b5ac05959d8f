//! Hand-traced scenarios, exact to the ps.

use crate::common::{channel, clean, offer, offer_all, probability};
use gingham_kernel::{Rate, Span, Time};
use gingham_linkemu::{
    Counters, DropReason, Fate, GilbertElliott, Loss, Outage, Parameters, Probability, Reordering,
};

const QUEUE_FULL: Result<Vec<u64>, DropReason> = Err(DropReason::QueueFull);
const CUT: Result<Vec<u64>, DropReason> = Err(DropReason::Outage);
const LOST: Result<Vec<u64>, DropReason> = Err(DropReason::Lost);

#[test]
fn packets_are_serialised_at_the_rate_and_overflow_is_dropped() {
    let mut channel = channel(clean(300));
    // Sent from 0 to 100 and from 100 to 250 ns. 60 bytes more would be 310; 50 are exactly 300.
    let found = offer_all(&mut channel, &[(0, 100), (0, 150), (0, 60), (0, 50)]);
    assert_eq!(found, [Ok(vec![105_000]), Ok(vec![255_000]), QUEUE_FULL, Ok(vec![305_000])]);
    assert_eq!(channel.backlog_bytes(Time::from_ps(9_999)), 291);
    assert_eq!(offer(&mut channel, 9_999, 10), QUEUE_FULL);
    assert_eq!(offer(&mut channel, 10_000, 10), Ok(vec![315_000]));
    assert_eq!(channel.backlog_bytes(Time::from_ps(309_999)), 1);
    assert_eq!(channel.backlog_bytes(Time::from_ps(310_000)), 0);
    assert_eq!(offer(&mut channel, 400_000, 1), Ok(vec![406_000]));
    assert_eq!(offer(&mut channel, 500_000, 301), QUEUE_FULL);
    let counted = Counters { offered: 8, arrived: 5, queue_full: 3, ..Counters::default() };
    assert_eq!(channel.counters(), counted);
}

/// A packet above the MTU still takes its time in the queue.
#[test]
fn packets_above_the_mtu_are_dropped() {
    let mut channel = channel(Parameters { mtu_bytes: Some(100), ..clean(1_000) });
    let too_long = Err(DropReason::TooLong);
    assert_eq!(offer_all(&mut channel, &[(0, 101), (0, 100)]), [too_long, Ok(vec![206_000])]);
    channel.set_mtu(Some(50));
    assert_eq!(offer(&mut channel, 300_000, 51), Err(DropReason::TooLong));
    channel.set_mtu(None);
    assert_eq!(offer(&mut channel, 400_000, 500), Ok(vec![905_000]));
    let counted = Counters { offered: 4, arrived: 2, too_long: 2, ..Counters::default() };
    assert_eq!(channel.counters(), counted);
}

#[test]
fn fractional_time_is_rounded_up_without_accumulating() {
    // 3 GB/s: 333 1/3 ps per byte.
    let mut thirds =
        channel(Parameters { rate: Rate::from_bytes_per_second(3_000_000_000), ..clean(10) });
    let found = offer_all(&mut thirds, &[(0, 1), (0, 1), (0, 1), (0, 1)]);
    assert_eq!(found, [Ok(vec![5_334]), Ok(vec![5_667]), Ok(vec![6_000]), Ok(vec![6_334])]);
    assert_eq!(offer(&mut thirds, 1_333, 1), Ok(vec![6_667]));
    let mut anew = thirds.clone();
    assert_eq!(offer(&mut thirds, 1_666, 1), Ok(vec![7_000]));
    assert_eq!(offer(&mut anew, 1_667, 1), Ok(vec![7_001]));
}

#[test]
fn jitter_delays_and_keeps_the_order() {
    let mut channel = channel(Parameters { jitter: Span::from_ps(20_000), ..clean(1_000) });
    // Draws computed in Python: 5397, 15186, 925, 16134, 11587 and 17123 ps. The packets end at
    // 4000, 8000, ... 24000 and would arrive at 14397, 28186, 17925, 37134, 36587 and 46123: the
    // third and the fifth wait for the packet before.
    let found = offer_all(&mut channel, &[(0, 4); 6]);
    let arrivals: Vec<_> = found.into_iter().map(|fate| fate.expect("it arrives")[0]).collect();
    assert_eq!(arrivals, [14_397, 28_186, 28_186, 37_134, 37_134, 46_123]);
}

#[test]
fn duplicate_is_queued_behind_its_packet_if_there_is_room() {
    let mut channel = channel(Parameters { duplication: Probability::ALWAYS, ..clean(300) });
    let found = offer_all(&mut channel, &[(0, 100), (0, 40), (0, 15), (0, 6)]);
    let twice = |first, second| Ok(vec![first, second]);
    assert_eq!(found[..2], [twice(105_000, 205_000), twice(245_000, 285_000)]);
    assert_eq!(found[2..], [Ok(vec![300_000]), QUEUE_FULL]);
    let counted =
        Counters { offered: 4, duplicated: 4, arrived: 5, queue_full: 3, ..Counters::default() };
    assert_eq!(channel.counters(), counted);
}

#[test]
fn drop_reason_of_two_lost_copies_is_that_of_the_first() {
    let loss = Loss::Independent(Probability::ALWAYS);
    let mut channel = channel(Parameters { loss, duplication: Probability::ALWAYS, ..clean(10) });
    assert_eq!(offer(&mut channel, 0, 10), LOST);
    assert_eq!((channel.counters().lost, channel.counters().queue_full), (1, 1));
}

#[test]
fn loss_state_changes_before_a_packet_and_lost_ones_take_time() {
    let bursts = GilbertElliott {
        to_bad: Probability::ALWAYS,
        to_good: Probability::ALWAYS,
        loss_good: Probability::NEVER,
        loss_bad: Probability::ALWAYS,
    };
    let mut alternating = channel(Parameters { loss: Loss::Bursts(bursts), ..clean(1_000) });
    let found = offer_all(&mut alternating, &[(0, 10); 4]);
    assert_eq!(found, [LOST, Ok(vec![25_000]), LOST, Ok(vec![45_000])]);
    // A duplicate has the state of its packet.
    let twice = Parameters { duplication: Probability::ALWAYS, ..alternating.parameters().clone() };
    let found = offer_all(&mut channel(twice), &[(0, 10); 2]);
    assert_eq!(found, [LOST, Ok(vec![35_000, 45_000])]);
}

#[test]
fn independent_loss_follows_its_draws() {
    // Computed in Python: .920, .911, .375, .049, .091, .285, .776 and .196.
    let mut lossy =
        channel(Parameters { loss: Loss::Independent(probability(0.25)), ..clean(1_000) });
    let found = offer_all(&mut lossy, &[(0, 1); 8]);
    let lost: Vec<_> = found.iter().map(Result::is_err).collect();
    assert_eq!(lost, [false, false, false, true, true, false, false, true]);
    assert_eq!((lossy.counters().lost, lossy.counters().arrived), (3, 5));
}

#[test]
fn delayed_packet_arrives_later_and_delays_no_other() {
    let held = Reordering { probability: Probability::ALWAYS, span: Span::from_ps(7_000) };
    let mut channel = channel(Parameters { reordering: held, ..clean(1_000) });
    assert_eq!(offer_all(&mut channel, &[(0, 10), (0, 20)]), [Ok(vec![22_000]), Ok(vec![42_000])]);
    assert_eq!(channel.counters().held_back, 2);
}

#[test]
fn certain_bit_errors_flip_the_first_bit() {
    let mut channel = channel(Parameters { bit_errors: Probability::ALWAYS, ..clean(1_000) });
    let Fate::Arrives(arrival) = channel.offer(Time::ZERO, 10) else { panic!("nothing is lost") };
    assert_eq!((arrival.flipped_bit, arrival.is_corrupted()), (Some(0), true));
    assert_eq!(channel.counters().corrupted, 1);
}

#[test]
fn outage_drops_arrivals_while_the_queue_continues() {
    let outage = |from, until| Outage { from: Time::from_ps(from), until: Time::from_ps(until) };
    let outages = vec![outage(100_000, 200_000), outage(298_000, 298_001)];
    let mut channel = channel(Parameters { outages, ..clean(1_000) });
    assert_eq!(offer_all(&mut channel, &[(0, 90), (90_000, 5)]), [Ok(vec![95_000]), CUT]);
    let found = offer_all(&mut channel, &[(150_000, 10), (150_000, 45), (150_000, 10)]);
    assert_eq!(found, [CUT, CUT, Ok(vec![220_000])]);
    assert_eq!(offer_all(&mut channel, &[(290_000, 1), (296_000, 1)]), [Ok(vec![296_000]), CUT]);
    assert_eq!(offer(&mut channel, 298_001, 1), Ok(vec![304_001]));
    assert_eq!(channel.counters().outage, 4);
}

#[test]
fn packet_sent_as_an_outage_ends_arrives() {
    let outages = vec![Outage { from: Time::ZERO, until: Time::from_ps(10_000) }];
    let mut channel = channel(Parameters { outages, ..clean(1_000) });
    assert_eq!(offer_all(&mut channel, &[(0, 10), (0, 1)]), [CUT, Ok(vec![16_000])]);
}

#[test]
fn packet_delayed_into_an_outage_is_dropped() {
    let held = Reordering { probability: Probability::ALWAYS, span: Span::from_ps(100_000) };
    let outages = vec![Outage { from: Time::from_ps(50_000), until: Time::from_ps(60_000) }];
    let mut channel = channel(Parameters { reordering: held, outages, ..clean(1_000) });
    assert_eq!(offer_all(&mut channel, &[(0, 10), (60_000, 10)]), [CUT, Ok(vec![175_000])]);
}

#[test]
#[should_panic(expected = "in the order of time")]
fn time_does_not_run_backwards() {
    let mut channel = channel(clean(1_000));
    let _ = offer_all(&mut channel, &[(10, 1), (9, 1)]);
}

#[test]
fn rate_change_applies_to_the_backlog_and_keeps_the_order() {
    let mut channel = channel(clean(300));
    assert_eq!(
        offer_all(&mut channel, &[(0, 100), (0, 100)]),
        [Ok(vec![105_000]), Ok(vec![205_000])]
    );
    channel.set_rate(Time::from_ps(150_000), Rate::from_bytes_per_second(500_000_000));
    assert_eq!(channel.backlog_bytes(Time::from_ps(150_000)), 50);
    assert_eq!(offer(&mut channel, 150_000, 50), Ok(vec![355_000]));
    // At the higher rate, new packets do not overtake the one scheduled for 355 ns.
    channel.set_rate(Time::from_ps(300_000), Rate::from_bytes_per_second(2_000_000_000));
    let found = offer_all(&mut channel, &[(300_000, 65), (300_000, 10), (300_000, 10)]);
    assert_eq!(found, [Ok(vec![355_000]), Ok(vec![355_000]), Ok(vec![360_000])]);
    assert_eq!(channel.parameters().rate, Rate::from_bytes_per_second(2_000_000_000));
}

#[test]
fn loss_change_applies_to_the_next_packet() {
    let mut channel = channel(clean(300));
    channel.set_loss(Loss::Independent(Probability::ALWAYS));
    assert_eq!(offer(&mut channel, 0, 10), LOST);
    channel.set_loss(Loss::None);
    assert_eq!(offer(&mut channel, 0, 10), Ok(vec![25_000]));
}
