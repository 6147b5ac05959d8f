//! Compilation of the measurement: the window, its stop rules and the data kept.
//!
//! Settings that can never be satisfied are refused here with their key, rather than after hours of
//! simulation: a rule that no run of this length could meet, a percentile without enough messages.

use crate::error::LabError;
use crate::scenario::{PERCENTILES_DEFAULT, ScenarioSource, Stop};
use gingham_input::InputError;
use gingham_kernel::{Span, Time};
use gingham_net::traffic::{MessagePlan, SourcePlan};
use gingham_net::{ClassPlan, MeasurePlan, Plan, Quantity, StopPlan};
use gingham_topology::EndpointId;
use std::ops::Range;

/// Longest run, far below the limit of 64 bits of picoseconds, so that packets in flight fit.
pub(crate) const TIME_MAX: Span = Span::from_ps(1_000_000 * 1_000_000_000_000);

/// Number of sections of a run that lasts its whole time.
const SECTIONS: u64 = 64;
/// Number of sections that an interval needs.
const SECTIONS_FOR_INTERVAL: u64 = 20;
const SAMPLE_MAX: u64 = 10_000_000;
const STEPS_MAX: u64 = 100_000;
const LOOK_KEY: &str = "measure.congestion.step";
/// Limit on the trees of a run, summed over all searches.
const TREES_MAX: u64 = 10_000_000;
const PERCENTILES_MAX: usize = 100;
/// Factor on the expected messages above which `stop.messages` is out of reach, beyond
/// `MARGIN_MESSAGES`.
const MARGIN: f64 = 2.0;
const MARGIN_MESSAGES: f64 = 1_000.0;

type Checked<T> = Result<T, LabError>;

/// Refuses a value, at its key.
fn refuse<T>(source: &ScenarioSource, key: &str, message: impl std::fmt::Display) -> Checked<T> {
    Err(InputError::at(&source.tree, key, message).into())
}

/// Returns the rules for the end of the window.
pub(crate) fn stop(source: &ScenarioSource) -> Checked<StopPlan> {
    let stop = &source.scenario.stop;
    if stop.time == Span::ZERO || stop.time > TIME_MAX {
        return refuse(source, "stop.time", format!("a run lasts from 1 ps to {TIME_MAX}"));
    }
    if stop.follow() > TIME_MAX {
        let message = format!("messages are followed for at most {TIME_MAX}");
        return refuse(source, "stop.follow", message);
    }
    if stop.messages == Some(0) {
        return refuse(source, "stop.messages", "a run of no messages measures nothing");
    }
    check_warm_up(source, stop)?;
    check_width(source, stop)?;
    Ok(StopPlan {
        time: Time::ZERO + stop.time,
        warm_up: stop.warm_up.map(|warm_up| Time::ZERO + warm_up),
        relative_width: stop.relative_width,
        quantity: stop.quantity.unwrap_or_default(),
        messages: stop.messages,
        follow: stop.follow(),
    })
}

fn check_warm_up(source: &ScenarioSource, stop: &Stop) -> Checked<()> {
    let Some(warm_up) = stop.warm_up else { return Ok(()) };
    let share = |sections: u64| Span::from_ps(stop.time.as_ps() / SECTIONS * sections);
    if warm_up >= stop.time || warm_up > share(SECTIONS - 1) {
        let message =
            format!("the warm-up of {warm_up} leaves nothing of a run of {} to measure", stop.time);
        return refuse(source, "stop.warm_up", message);
    }
    if stop.relative_width.is_some() && warm_up > share(SECTIONS - SECTIONS_FOR_INTERVAL) {
        let message = format!(
            "a warm-up of {warm_up} leaves too little of a run of {} for an interval, so that \
             stop.relative_width can never be met; an interval needs a third of the run",
            stop.time
        );
        return refuse(source, "stop.warm_up", message);
    }
    Ok(())
}

fn check_width(source: &ScenarioSource, stop: &Stop) -> Checked<()> {
    match stop.relative_width {
        Some(width) if !(width > 0.0 && width < 1.0) => {
            let message = format!(
                "the half-width of an interval as a fraction of the mean is above 0 and below 1, \
                 such as 0.02, not {width}"
            );
            refuse(source, "stop.relative_width", message)
        }
        None if stop.quantity.is_some() => {
            let message = "says which mean stop.relative_width is about, which is not given";
            refuse(source, "stop.quantity", message)
        }
        _ => Ok(()),
    }
}

/// Returns the data to keep.
pub(crate) fn measure(source: &ScenarioSource) -> Checked<MeasurePlan> {
    let measure = &source.scenario.measure;
    if !(1..=SAMPLE_MAX).contains(&measure.sample_size) {
        let message = format!(
            "a sample holds from 1 to {SAMPLE_MAX} messages, not {}; for none or all of them say \
             so in measure.messages",
            measure.sample_size
        );
        return refuse(source, "measure.sample_size", message);
    }
    if let Some(step) = measure.step {
        check_step(source, "measure.step", step)?;
    }
    if let Some(congestion) = &measure.congestion {
        check_step(source, LOOK_KEY, congestion.step)?;
    }
    Ok(MeasurePlan {
        messages: measure.messages,
        sample_size: usize::try_from(measure.sample_size).expect("64-bit platform"),
        step: measure.step,
        flows: measure.flows,
        look: measure.congestion.as_ref().map(|congestion| congestion.step),
    })
}

/// Refuses searches for congestion trees that could find more trees than are kept, with each
/// channel as the root of one.
pub(crate) fn check_looks(source: &ScenarioSource, plan: &Plan) -> Checked<()> {
    let Some(step) = plan.measure.look else { return Ok(()) };
    let (time, channels) = (source.scenario.stop.time, plan.channels.len() as u64);
    let looks = time.div_ceil(step);
    if looks * channels <= TREES_MAX {
        return Ok(());
    }
    let enough = Span::from_ps(time.as_ps().div_ceil(TREES_MAX / channels));
    let message = format!(
        "a run of {time} that looks every {step} looks {looks} times at {channels} channels, each of which may be the root of a \
         tree, and {TREES_MAX} trees are kept at the most: make a step at least {enough}"
    );
    refuse(source, LOOK_KEY, message)
}

/// Refuses a step longer than the run, or with too many steps in it.
pub(crate) fn check_step(source: &ScenarioSource, key: &str, step: Span) -> Checked<()> {
    let time = source.scenario.stop.time;
    if step == Span::ZERO || step > time {
        let message = format!("a step lasts from 1 ps to the time of the run, {time}, not {step}");
        return refuse(source, key, message);
    }
    let steps = time.div_ceil(step);
    if steps > STEPS_MAX {
        let enough = Span::from_ps(time.as_ps().div_ceil(STEPS_MAX));
        let message = format!(
            "a run of {time} has {steps} steps of {step}, and {STEPS_MAX} are kept at the most: \
             make a step at least {enough}"
        );
        return refuse(source, key, message);
    }
    Ok(())
}

/// Returns the requested percentiles, in ascending order.
pub(crate) fn percentiles(source: &ScenarioSource) -> Checked<Vec<f64>> {
    let asked = &source.scenario.measure.percentiles;
    if asked.len() > PERCENTILES_MAX {
        let message = format!("at most {PERCENTILES_MAX} percentiles, not {}", asked.len());
        return refuse(source, "measure.percentiles", message);
    }
    for (index, percent) in asked.iter().enumerate() {
        let key = format!("measure.percentiles.{index}");
        if !(*percent > 0.0 && *percent < 100.0) {
            let message = format!("a percentile is above 0 and below 100, not {percent}");
            return refuse(source, &key, message);
        }
        if asked[..index].contains(percent) {
            return refuse(source, &key, format!("the {percent}th percentile is there twice"));
        }
        // The default list is not checked: percentiles without enough messages are left out.
        if let Some(messages) = source.scenario.stop.messages
            && asked[..] != PERCENTILES_DEFAULT
            && needed_messages(*percent) > messages
        {
            let message = format!(
                "the {percent}th percentile needs {} messages, and stop.messages ends the run \
                 after {messages}",
                needed_messages(*percent)
            );
            return refuse(source, &key, message);
        }
    }
    let mut percentiles = asked.clone();
    percentiles.sort_by(f64::total_cmp);
    Ok(percentiles)
}

/// Returns the number of messages with one of them beyond the percentile.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1")]
fn needed_messages(percent: f64) -> u64 {
    // The subtraction cancels the rounding error of a decimal fraction in binary.
    (100.0 / (100.0 - percent) - 1e-6).ceil() as u64
}

/// Refuses a number of messages that these classes do not create in the time of the run.
pub(crate) fn check_messages(
    source: &ScenarioSource,
    byte_ps: impl Fn(EndpointId) -> f64,
    classes: &[ClassPlan],
) -> Checked<()> {
    let stop = &source.scenario.stop;
    let Some(wanted) = stop.messages else { return Ok(()) };
    let window = stop.warm_up.unwrap_or(Span::ZERO)..stop.time;
    let expected: f64 = classes
        .iter()
        .flat_map(|class| class.sources.iter().map(move |source| (class, source)))
        .map(|(class, source)| {
            let byte_ps = byte_ps(source.endpoint);
            messages_expected(source, byte_ps, overlap_ps(&class.all_active(), &window))
        })
        .sum();
    #[expect(clippy::cast_precision_loss, reason = "a bound with a margin")]
    if wanted as f64 <= MARGIN * expected + MARGIN_MESSAGES {
        return Ok(());
    }
    let message = format!(
        "in {} these classes create about {expected:.0} messages, so that {wanted} can never be \
         reached: raise stop.time, or want fewer",
        Span::from_ps(window.end.as_ps() - window.start.as_ps())
    );
    refuse(source, "stop.messages", message)
}

/// Returns the time that a class sends within the window, in picoseconds.
fn overlap_ps(active: &Range<Time>, window: &Range<Span>) -> u64 {
    let from = active.start.as_ps().max(window.start.as_ps());
    active.end.as_ps().min(window.end.as_ps()).saturating_sub(from)
}

/// Returns the expected number of messages of a source in `span_ps`; for a backlogged one, the
/// number that its link carries.
#[expect(clippy::cast_precision_loss, reason = "a bound with a margin")]
fn messages_expected(source: &SourcePlan, byte_ps: f64, span_ps: u64) -> f64 {
    match &source.messages {
        MessagePlan::Scheduled(messages) => messages.len() as f64,
        // At most the number of messages that links carry.
        MessagePlan::Replies(replies) => span_ps as f64 / (replies.lengths.mean_bytes() * byte_ps),
        MessagePlan::Stream(stream) => span_ps as f64 * stream.data.messages_per_ps(),
        MessagePlan::Drawn(drawn) => {
            let payload = drawn.lengths.mean_bytes();
            let busy_ps = payload * byte_ps;
            span_ps as f64 / drawn.arrivals.interval_mean_ps(payload, byte_ps).unwrap_or(busy_ps)
        }
    }
}

/// Returns the name in scenarios.
pub(crate) const fn quantity_name(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Latency => "latency",
        Quantity::NetworkLatency => "network-latency",
        Quantity::HeadLatency => "head-latency",
        Quantity::AcceptedLoad => "accepted-load",
        Quantity::Hops => "hops",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_one_message_beyond_it() {
        let needed = [50.0, 90.0, 99.0, 99.9, 99.99].map(needed_messages);
        assert_eq!(needed, [2, 10, 100, 1_000, 10_000]);
    }
}
