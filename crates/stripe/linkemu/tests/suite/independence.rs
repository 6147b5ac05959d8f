//! The draws of a packet depend only on its number; impairments do not affect each other.

use crate::common::{APART_PS, channel, clean, probability, sparse};
use gingham_kernel::{Span, Time};
use gingham_linkemu::{
    Arrival, Channel, DropReason, Fate, GilbertElliott, Loss, Outage, Parameters, Reordering,
};

/// All impairments, rare enough that each also occurs alone.
fn everything() -> Parameters {
    let bursts = GilbertElliott {
        to_bad: probability(0.05),
        to_good: probability(0.3),
        loss_good: probability(0.01),
        loss_bad: probability(0.7),
    };
    Parameters {
        jitter: Span::from_ps(1_000_000),
        loss: Loss::Bursts(bursts),
        bit_errors: probability(1e-3),
        duplication: probability(0.2),
        reordering: Reordering { probability: probability(0.1), span: Span::from_ps(50_000_000) },
        ..clean(1_000)
    }
}

fn first_copy(channel: &mut Channel, now_ps: u64) -> Result<(u64, Option<u64>), DropReason> {
    match channel.offer(Time::from_ps(now_ps), 100) {
        Fate::Dropped(reason) => Err(reason),
        Fate::Arrives(arrival) | Fate::ArrivesTwice(arrival, _) => {
            Ok((arrival.at.as_ps() - now_ps, arrival.flipped_bit))
        }
    }
}

#[test]
fn extra_packet_shifts_no_later_draw() {
    let sequence = |extra: Option<u64>| {
        let mut channel = channel(Parameters { duplication: probability(0.0), ..everything() });
        let mut fates = Vec::new();
        for number in 0..2_000 {
            if extra == Some(number) {
                // This packet is too long to be accepted and uses no draws after the queue.
                assert_eq!(
                    channel.offer(Time::from_ps(number * APART_PS), 1_001),
                    Fate::Dropped(DropReason::QueueFull)
                );
            } else {
                fates.push((number, first_copy(&mut channel, number * APART_PS)));
            }
        }
        fates
    };
    let mut usual = sequence(None);
    let other = sequence(Some(1_000));
    let _without_a_counterpart = usual.remove(1_000);
    assert_eq!(usual, other);
    let lost = usual.iter().filter(|(_, fate)| fate.is_err()).count();
    let damaged = usual.iter().filter(|(_, fate)| matches!(fate, Ok((_, Some(_))))).count();
    assert!(lost > 100 && damaged > 500, "{lost} {damaged}");
}

#[test]
fn duplication_does_not_affect_packets_that_do_not_queue() {
    let mut twice = channel(everything());
    let mut once = channel(Parameters { duplication: probability(0.0), ..everything() });
    let pairs = sparse(&mut twice, 2_000, 100).into_iter().zip(sparse(&mut once, 2_000, 100));
    for (twice, once) in pairs {
        match (twice, once) {
            // The packet, or its duplicate if the packet is lost.
            (Fate::Arrives(arrival), Fate::Arrives(alone)) => assert_eq!(arrival, alone),
            (Fate::ArrivesTwice(first, _), Fate::Arrives(alone)) => assert_eq!(first, alone),
            (Fate::Arrives(_) | Fate::Dropped(_), Fate::Dropped(_)) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(twice.counters().duplicated > 300);
}

#[test]
fn fates_depend_on_seed_and_direction_alone() {
    let fates = |seed, direction| {
        let mut channel = Channel::new(everything(), seed, direction).expect("it makes sense");
        sparse(&mut channel, 200, 100)
    };
    assert_eq!(fates(1, "east"), fates(1, "east"));
    assert_ne!(fates(1, "east"), fates(2, "east"));
    assert_ne!(fates(1, "east"), fates(1, "west"));
}

fn crowded(parameters: Parameters) -> Vec<Option<Arrival>> {
    let mut channel = channel(parameters);
    (0..2_000_u64)
        .map(|number| channel.offer(Time::from_ps(number * 50_000), 100).arrivals().next())
        .collect()
}

#[test]
fn impairments_do_not_move_other_arrivals() {
    let clean = Parameters { jitter: Span::from_ps(1_000_000), ..clean(1_000) };
    let outages =
        vec![Outage { from: Time::from_ps(20_000_000), until: Time::from_ps(30_000_000) }];
    let bad = Parameters { duplication: probability(0.0), outages, ..everything() };
    let mut kinds = [0; 3];
    for (alone, impaired) in crowded(clean).into_iter().zip(crowded(bad)) {
        match (alone, impaired) {
            (Some(alone), Some(held)) if held.held_back => {
                assert_eq!(held.at, alone.at + Span::from_ps(50_000_000));
                kinds[0] += 1;
            }
            (Some(alone), Some(impaired)) => {
                assert_eq!(impaired.at, alone.at);
                kinds[1] += 1;
            }
            (Some(_), None) => kinds[2] += 1,
            (None, None) => {}
            (None, Some(_)) => panic!("what the queue dropped cannot arrive"),
        }
    }
    assert!(kinds.iter().all(|kind| *kind > 50), "{kinds:?}");
}
