//! Compiles the channel selection, and derives default quanta from rates.

use core::num::NonZeroU8;

use crate::plan::{Plan, Reception, SourceKind, Spread};
use crate::scenario::{ScenarioSource, Scheduler};
use gingham_fairq::GeneralisedRoundRobin;
use gingham_input::InputError;
use gingham_kernel::{Rate, Span};

pub(super) const CHANNELS_MAX: usize = gingham_fairq::CHANNELS_MAX;

const GENERALISED: &str = "stripe.scheduler.generalised-round-robin";

pub(super) fn spread(source: &ScenarioSource) -> Result<Spread, InputError> {
    let scenario = &source.scenario;
    let count = scenario.channel.len();
    if !(1..=CHANNELS_MAX).contains(&count) {
        let message = format!("expected 1 to {CHANNELS_MAX} channels, found {count}");
        return Err(source.refuse("channel", message));
    }
    Ok(match &scenario.stripe.scheduler {
        Scheduler::SurplusRoundRobin => Spread::Surplus,
        Scheduler::RoundRobin => Spread::Packets(vec![1; count]),
        Scheduler::GeneralisedRoundRobin(given) if given.packets.is_empty() => {
            let rates: Vec<_> =
                scenario.channel.iter().map(|channel| channel.rate.bytes_per_second()).collect();
            let most = NonZeroU8::new(given.slowest_packets_max).ok_or_else(|| {
                source.refuse(&format!("{GENERALISED}.slowest_packets_max"), "expected at least 1")
            })?;
            let closest = GeneralisedRoundRobin::<CHANNELS_MAX>::by_rates(&rates, most)
                .map_err(|error| source.refuse("channel", error))?;
            Spread::Packets((0..count).map(|channel| closest.packets(channel)).collect())
        }
        Scheduler::GeneralisedRoundRobin(given) => {
            packets(source, &given.packets)?;
            Spread::Packets(given.packets.clone())
        }
        Scheduler::Randomised => Spread::Randomised,
        Scheduler::ShortestQueue => Spread::ShortestQueue,
        Scheduler::AddressHash => Spread::AddressHash,
    })
}

fn packets(source: &ScenarioSource, packets: &[u32]) -> Result<(), InputError> {
    let key = format!("{GENERALISED}.packets");
    let count = source.scenario.channel.len();
    if packets.len() != count {
        let message = format!("expected a number for each of {count} channels");
        return Err(source.refuse(&key, message));
    }
    match packets.iter().position(|packets| *packets == 0) {
        Some(index) => Err(source.refuse(&format!("{key}.{index}"), "expected at least 1 packet")),
        None => Ok(()),
    }
}

/// Returns a quantum proportional to the rate; the slowest channel gets the longest packet. `None`
/// if the quantum exceeds 32 bits.
pub(super) fn quantum(rate: Rate, slowest: Rate, longest_bytes: u32) -> Option<u32> {
    let (rate, slowest) =
        (u128::from(rate.bytes_per_second()), u128::from(slowest.bytes_per_second()));
    u32::try_from((rate * u128::from(longest_bytes) + slowest / 2) / slowest).ok()
}

pub(super) fn notes(source: &ScenarioSource, plan: &Plan) -> Vec<String> {
    let mut notes = Vec::new();
    if plan.reception == Reception::Unmarked && plan.links.iter().any(|link| !link.is_lossless()) {
        notes.push(
            "without markers the first loss puts the receiver out of step for good".to_owned(),
        );
    }
    let transport = |kind: &SourceKind| matches!(kind, SourceKind::Transport { .. });
    if plan.spread == Spread::AddressHash && plan.sources.len() == 1 {
        notes.push("all packets of one source hash to one channel".to_owned());
    }
    if plan.sources.iter().any(|one| transport(&one.kind))
        && plan.entry.limit_bytes() < 4 * u64::from(plan.longest_bytes)
    {
        notes.push("the queue before the sender has room for fewer than 4 packets".to_owned());
    }
    notes.extend(wait_below_skew(source, plan));
    notes
}

/// Returns a warning if the wait does not exceed the skew, as the receiver would repeatedly lose
/// synchronisation.
fn wait_below_skew(source: &ScenarioSource, plan: &Plan) -> Option<String> {
    let wait = source.scenario.stripe.wait;
    let skew = skew(plan);
    (plan.reception != Reception::None && wait <= skew).then(|| {
        let enough = Span::from_ps(skew.as_ps().saturating_mul(2));
        format!(
            "`stripe.wait` of {wait} does not exceed the skew of {skew} between channels, so the receiver skips \
             packets that are still in flight: stripe.wait = \"{enough}\" waits for them"
        )
    })
}

fn skew(plan: &Plan) -> Span {
    let latest = plan.links.iter().map(|link| link.forth.delay + link.forth.jitter).max();
    let earliest = plan.links.iter().map(|link| link.forth.delay).min();
    match (latest, earliest) {
        (Some(latest), Some(earliest)) if plan.links.len() > 1 => {
            Span::from_ps(latest.as_ps() - earliest.as_ps())
        }
        _ => Span::ZERO,
    }
}
