//! Closed forms of impairments, within five standard errors.

use crate::common::{APART_PS, channel, clean, offer, probability, sparse};
use gingham_kernel::Span;
use gingham_linkemu::{Arrival, Fate, GilbertElliott, Loss, Parameters, Probability, Reordering};

const COUNT: u64 = 200_000;
const COUNT_REAL: f64 = 200_000.0;

#[track_caller]
fn assert_count(found: u64, mean: f64, variance: f64) {
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let off = (found as f64 - mean).abs();
    assert!(off < 5.0 * variance.sqrt(), "{found}, expected {mean} +- {}", variance.sqrt());
}

#[track_caller]
fn assert_share(found: u64, of: f64, share: f64) {
    assert_count(found, of * share, of * share * (1.0 - share));
}

fn arrivals(fates: &[Fate]) -> Vec<Arrival> {
    fates.iter().flat_map(|fate| fate.arrivals()).collect()
}

fn mean(numbers: &[u64]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let (sum, count) = (numbers.iter().sum::<u64>() as f64, numbers.len() as f64);
    sum / count
}

#[test]
fn independent_loss_is_binomial_and_memoryless() {
    let tenth = Loss::Independent(probability(0.1));
    let mut lossy = channel(Parameters { loss: tenth, ..clean(10_000) });
    let lost: Vec<_> =
        sparse(&mut lossy, COUNT, 100).iter().map(|fate| arrivals(&[*fate]).is_empty()).collect();
    assert_share(lossy.counters().lost, COUNT_REAL, 0.1);
    // Two losses in a row: p^2 of the pairs. Neighbouring pairs share a packet: the variance of a
    // pair is p^2 + 2 p^3 - 3 p^4.
    let pairs = lost.windows(2).filter(|pair| pair[0] && pair[1]).count();
    assert_count(pairs as u64, COUNT_REAL * 0.01, COUNT_REAL * (0.01 + 0.002 - 0.000_3));
}

fn bursts(to_bad: f64, to_good: f64, loss_good: f64, loss_bad: f64) -> Parameters {
    let bursts = GilbertElliott {
        to_bad: probability(to_bad),
        to_good: probability(to_good),
        loss_good: probability(loss_good),
        loss_bad: probability(loss_bad),
    };
    Parameters { loss: Loss::Bursts(bursts), ..clean(10_000) }
}

#[test]
fn mean_loss_burst_length_is_the_inverse_of_to_good() {
    let mut bursty = channel(bursts(0.02, 0.25, 0.0, 1.0));
    let fates = sparse(&mut bursty, COUNT, 100);
    // The states' correlation falls by 1 - .02 - .25 = .73 per packet, which multiplies the
    // variance of their sum by (1 + .73) / (1 - .73).
    let bad = 2.0 / 27.0;
    assert_count(
        bursty.counters().lost,
        COUNT_REAL * bad,
        COUNT_REAL * bad * (1.0 - bad) * 1.73 / 0.27,
    );
    let mut lengths = vec![0_u64];
    for fate in fates {
        let last = lengths.last_mut().expect("one to begin with");
        match fate {
            Fate::Dropped(_) => *last += 1,
            _ if *last > 0 => lengths.push(0),
            _ => {}
        }
    }
    lengths.pop();
    // Some 3,700 bursts of geometric length, with mean 4 and standard deviation sqrt(.75) / .25 =
    // 3.46.
    let error = 3.46 / 3_700.0_f64.sqrt();
    assert!((mean(&lengths) - 4.0).abs() < 5.0 * error, "{} of {}", mean(&lengths), lengths.len());
}

#[test]
fn loss_rates_of_both_states_apply() {
    let mut bursty = channel(bursts(0.02, 0.25, 0.01, 0.5));
    let _ = sparse(&mut bursty, COUNT, 100);
    let bad = 2.0 / 27.0;
    let share = bad * 0.5 + (1.0 - bad) * 0.01;
    let of_draws = bad * 0.5 * 0.5 + (1.0 - bad) * 0.01 * 0.99;
    let of_states = 0.49 * 0.49 * bad * (1.0 - bad) * 1.73 / 0.27;
    assert_count(bursty.counters().lost, COUNT_REAL * share, COUNT_REAL * (of_draws + of_states));
}

#[test]
fn packet_corruption_follows_the_bit_error_rate() {
    let mut noisy = channel(Parameters { bit_errors: probability(1e-5), ..clean(10_000) });
    let bits: Vec<_> = arrivals(&sparse(&mut noisy, COUNT, 1_000))
        .iter()
        .filter_map(|arrival| arrival.flipped_bit)
        .collect();
    // 1 - (1 - 1e-5)^8000 = .076884. The first damaged bit, a truncated geometric number, has the
    // mean (1 - e) / e - n (1 - e)^n / (1 - (1 - e)^n) = 3946, and a standard deviation below 8000
    // / sqrt(12), that of a uniform one.
    assert_share(noisy.counters().corrupted, COUNT_REAL, 0.076_884);
    assert!(bits.iter().all(|bit| *bit < 8_000));
    let error = 8_000.0 / (12.0 * COUNT_REAL * 0.076_884).sqrt();
    assert!((mean(&bits) - 3_946.0).abs() < 5.0 * error, "{}", mean(&bits));
}

#[test]
fn jitter_is_uniform_and_reaches_both_ends() {
    let mut shaky = channel(Parameters { jitter: Span::from_ps(9), ..clean(10_000) });
    let mut counts = [0_u64; 10];
    for (number, arrival) in (0..).zip(arrivals(&sparse(&mut shaky, COUNT, 100))) {
        let jitter_ps = arrival.at.as_ps() - number * APART_PS - 105_000;
        counts[usize::try_from(jitter_ps).expect("a small number")] += 1;
    }
    for count in counts {
        assert_share(count, COUNT_REAL, 0.1);
    }
}

#[test]
fn duplication_and_reordering_are_independent() {
    let reordering = Reordering { probability: probability(0.2), span: Span::from_ps(1) };
    let mut odd =
        channel(Parameters { reordering, duplication: probability(0.3), ..clean(10_000) });
    let fates = sparse(&mut odd, COUNT, 100);
    assert_share(odd.counters().duplicated, COUNT_REAL, 0.3);
    let held = |arrival: &Arrival| arrival.held_back;
    let firsts: Vec<_> = fates.iter().filter_map(|fate| fate.arrivals().next()).collect();
    assert_share(firsts.iter().filter(|first| held(first)).count() as u64, COUNT_REAL, 0.2);
    let both = fates.iter().filter(|fate| fate.arrivals().filter(held).count() == 2).count();
    assert_share(both as u64, COUNT_REAL, 0.3 * 0.04);
}

#[test]
fn backlog_is_sent_at_the_rate() {
    let mut busy = channel(Parameters { duplication: Probability::NEVER, ..clean(1_500_000) });
    let last = (0..1_000).map(|_| offer(&mut busy, 0, 1_500)).last().expect("a thousand");
    assert_eq!(last, Ok(vec![1_500_005_000]));
}
