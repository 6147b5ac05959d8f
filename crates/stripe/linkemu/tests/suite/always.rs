//! Properties of random channels and packets.

use crate::common::probability;
use gingham_kernel::{Rate, Span, Time};
use gingham_linkemu::{
    Channel, Competing, Counters, DropReason, Fate, GilbertElliott, Loss, Outage, Parameters,
    Policer, QueueBound, Reordering, Spacing,
};
use proptest::prelude::*;

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// Plain implementation of a queue with exact fractions of time, in ps times the rate.
struct Obvious {
    rate: u128,
    room: u128,
    idle_at: u128,
}

impl Obvious {
    fn backlog(&self, now_ps: u64) -> u128 {
        self.idle_at.saturating_sub(u128::from(now_ps) * self.rate).div_ceil(PS_PER_SECOND)
    }

    fn take(&mut self, now_ps: u64, bytes: u32) -> Option<u128> {
        if self.backlog(now_ps) + u128::from(bytes) > self.room {
            return None;
        }
        self.idle_at =
            self.idle_at.max(u128::from(now_ps) * self.rate) + u128::from(bytes) * PS_PER_SECOND;
        Some(self.idle_at.div_ceil(self.rate))
    }
}

/// Rate, queue limit, and packets as (ps since the last, bytes); the load is above the rate, below
/// it, or arrives at once.
fn loads() -> impl Strategy<Value = (u64, u64, Vec<(u64, u32)>)> {
    (1_u64..20_000_000_000, 1_u64..20_000).prop_flat_map(|(rate, room)| {
        let pause = 0..=2 * 1_000 * 1_000_000_000_000 / rate;
        let pause = prop_oneof![Just(0), pause];
        (Just(rate), Just(room), prop::collection::vec((pause, 1_u32..2_000), 1..80))
    })
}

fn jitters() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 0..100_000_000_000_u64]
}

fn chances() -> impl Strategy<Value = Loss> {
    let chance = || (0.0..=1.0_f64).prop_map(probability);
    let bursts =
        (chance(), 0.01..=1.0_f64, chance(), chance()).prop_map(|(to_bad, to_good, good, bad)| {
            let to_good = probability(to_good);
            Loss::Bursts(GilbertElliott { to_bad, to_good, loss_good: good, loss_bad: bad })
        });
    prop_oneof![Just(Loss::None), chance().prop_map(Loss::Independent), bursts]
}

fn outages() -> impl Strategy<Value = Vec<Outage>> {
    prop::collection::btree_set(0..100_000_000_u64, 0..8).prop_map(|instants| {
        let instants: Vec<_> = instants.into_iter().map(Time::from_ps).collect();
        instants.chunks_exact(2).map(|pair| Outage { from: pair[0], until: pair[1] }).collect()
    })
}

fn bounds() -> impl Strategy<Value = QueueBound> {
    prop_oneof![Just(QueueBound::Bytes(5_000)), Just(QueueBound::Time(Span::from_ns(5_000)))]
}

fn policers() -> impl Strategy<Value = Option<Policer>> {
    let some = (1..1_000_000_000_u64, 1_u64..5_000).prop_map(|(rate, burst_bytes)| Policer {
        rate: Rate::from_bytes_per_second(rate),
        burst_bytes,
    });
    prop::option::of(some)
}

fn competitors() -> impl Strategy<Value = Vec<Competing>> {
    let one = (1_000_000..1_000_000_000_u64, 1_u32..2_000, any::<bool>(), 0..100_000_000_u64);
    let one = one.prop_map(|(rate, packet_bytes, even, from_ps)| Competing {
        rate: Rate::from_bytes_per_second(rate),
        packet_bytes,
        spacing: if even { Spacing::Even } else { Spacing::Poisson },
        from: Time::from_ps(from_ps),
        until: Time::from_ps(100_000_001),
    });
    prop::collection::vec(one, 0..3)
}

/// Random parameters and packets, at one byte per ns.
fn everything() -> impl Strategy<Value = (Parameters, Vec<(u64, u32)>)> {
    let chance = || 0.0..=0.5_f64;
    let spans = (0..10_000_000_u64, 0..10_000_000_u64, 1..20_000_000_u64);
    let packets = prop::collection::vec((0..2_000_000_u64, 1_u32..2_000), 1..100);
    let entry = (bounds(), policers(), competitors());
    ((chance(), chance(), chance()), spans, chances(), outages(), packets, entry).prop_map(
        |((noise, duplication, held), (delay, jitter, span), loss, outages, packets, entry)| {
            let (queue, policer, competing) = entry;
            let rate = Rate::from_bytes_per_second(1_000_000_000);
            let parameters = Parameters {
                jitter: Span::from_ps(jitter),
                loss,
                bit_errors: probability(noise / 5_000.0),
                duplication: probability(duplication),
                reordering: Reordering {
                    probability: probability(held),
                    span: Span::from_ps(span),
                },
                outages,
                queue,
                policer,
                competing,
                ..Parameters::clean(rate, 5_000, Span::from_ps(delay))
            };
            (parameters, packets)
        },
    )
}

fn build(parameters: Parameters) -> Channel {
    Channel::new(parameters, 1, "east").expect("parameters that make sense")
}

fn fates(channel: &mut Channel, packets: &[(u64, u32)]) -> Vec<(Time, Fate)> {
    let bound = channel.parameters().queue;
    // With a limit in time, a packet is accepted whatever its own length.
    let longest_bytes = if matches!(bound, QueueBound::Time(_)) { 2_000 } else { 0 };
    let bound_bytes = bound.bytes_at(channel.parameters().rate) + longest_bytes;
    let mut now = Time::ZERO;
    let mut fates = Vec::new();
    for (pause_ps, bytes) in packets {
        now += Span::from_ps(*pause_ps);
        fates.push((now, channel.offer(now, *bytes)));
        assert!(channel.backlog_bytes(now) <= bound_bytes);
    }
    fates
}

proptest! {
    #[test]
    fn queue_matches_reference_model((rate, room, packets) in loads()) {
        let mut channel =
            build(Parameters::clean(Rate::from_bytes_per_second(rate), room, Span::from_ps(3)));
        let mut obvious = Obvious { rate: rate.into(), room: room.into(), idle_at: 0 };
        let mut now_ps = 0;
        for (pause_ps, bytes) in packets {
            now_ps += pause_ps;
            let now = Time::from_ps(now_ps);
            prop_assert_eq!(u128::from(channel.backlog_bytes(now)), obvious.backlog(now_ps));
            let end = match channel.offer(now, bytes) {
                Fate::Arrives(arrival) => Some(u128::from(arrival.at.as_ps()) - 3),
                Fate::Dropped(DropReason::QueueFull) => None,
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            };
            prop_assert_eq!(end, obvious.take(now_ps, bytes));
        }
    }

    /// The bytes that arrive after a packet fit the time since then, plus the jitter and the ps of
    /// rounding.
    #[test]
    fn throughput_never_exceeds_the_rate((rate, room, packets) in loads(), jitter_ps in jitters()) {
        let clean = Parameters::clean(Rate::from_bytes_per_second(rate), room, Span::ZERO);
        let mut channel = build(Parameters { jitter: Span::from_ps(jitter_ps), ..clean });
        let fates = fates(&mut channel, &packets);
        let arrived: Vec<_> = fates.iter().zip(&packets)
            .filter_map(|((_, fate), (_, bytes))| Some((fate.arrivals().next()?.at, *bytes)))
            .collect();
        for (first, (from, _)) in arrived.iter().enumerate() {
            let mut bytes = 0_u128;
            for (to, more) in &arrived[first + 1..] {
                bytes += u128::from(*more);
                let span_ps = u128::from(to.since(*from).as_ps() + jitter_ps) + 1;
                prop_assert!(bytes * PS_PER_SECOND <= u128::from(rate) * span_ps);
            }
        }
    }

    #[test]
    fn order_is_kept_and_delay_is_bounded((parameters, packets) in everything()) {
        let mut channel = build(parameters.clone());
        let spans = [parameters.jitter, parameters.reordering.span, Span::from_ns(5_000), Span::from_ns(2_000)];
        let longest = parameters.delay + spans.into_iter().sum();
        let mut last = Time::ZERO;
        for (offered, fate) in fates(&mut channel, &packets) {
            for arrival in fate.arrivals() {
                let way = arrival.at.since(offered);
                prop_assert!(way > parameters.delay && way <= longest);
                if !arrival.held_back {
                    prop_assert!(arrival.at >= last);
                    last = arrival.at;
                }
            }
        }
    }

    /// RFC 2697: between two packets that pass there are tokens for all bytes except a burst.
    #[test]
    fn policed_throughput_is_burst_plus_rate((rate, _, packets) in loads(), burst_bytes in 1_u64..5_000) {
        let police = Policer { rate: Rate::from_bytes_per_second(rate), burst_bytes };
        let wide = Parameters::clean(Rate::from_bytes_per_second(u64::MAX), 1 << 40, Span::ZERO);
        let mut channel = build(Parameters { policer: Some(police), ..wide });
        let fates = fates(&mut channel, &packets);
        let passed: Vec<_> = fates.iter().zip(&packets)
            .filter(|((_, fate), _)| fate.arrivals().next().is_some())
            .map(|((at, _), (_, bytes))| (*at, u128::from(*bytes))).collect();
        for (first, (from, _)) in passed.iter().enumerate() {
            let mut bytes = 0;
            for (to, more) in &passed[first..] {
                bytes += more;
                let earned = u128::from(to.since(*from).as_ps()) * u128::from(rate);
                prop_assert!(bytes * PS_PER_SECOND <= u128::from(burst_bytes) * PS_PER_SECOND + earned);
            }
        }
    }

    #[test]
    fn nothing_arrives_in_an_outage((parameters, packets) in everything()) {
        let mut channel = build(parameters.clone());
        for (_, fate) in fates(&mut channel, &packets) {
            for arrival in fate.arrivals() {
                let inside = |outage: &Outage| outage.from <= arrival.at && arrival.at < outage.until;
                prop_assert!(!parameters.outages.iter().any(inside));
            }
        }
    }

    #[test]
    fn every_copy_is_counted_once((parameters, packets) in everything()) {
        let mut channel = build(parameters);
        let fates = fates(&mut channel, &packets);
        let arrivals: Vec<_> = fates.iter().flat_map(|(_, fate)| fate.arrivals()).collect();
        let Counters { offered, duplicated, arrived, corrupted, held_back, policed, queue_full, outage, lost, too_long, competing, competing_dropped } = channel.counters();
        prop_assert_eq!(offered, packets.len() as u64);
        prop_assert_eq!(offered + duplicated, arrived + policed + queue_full + outage + lost + too_long);
        prop_assert!(competing_dropped <= competing);
        prop_assert_eq!(arrived, arrivals.len() as u64);
        prop_assert_eq!(corrupted, arrivals.iter().filter(|arrival| arrival.is_corrupted()).count() as u64);
        prop_assert_eq!(held_back, arrivals.iter().filter(|arrival| arrival.held_back).count() as u64);
    }
}
