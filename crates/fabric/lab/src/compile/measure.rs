//! Compilation of the measurement.
//!
//! Stop rules that no run of this length could meet are refused here, not after hours of
//! simulation.

use super::network::Links;
use crate::check::{Check, Sentence, refuse, when, within};
use crate::scenario::{Measure, PERCENTILES_DEFAULT, ScenarioSource, Stop};
use gingham_kernel::{Span, Time};
use gingham_net::traffic::{MessagePlan, SourcePlan};
use gingham_net::{ClassPlan, MeasurePlan, Plan, Quantity, StopPlan};
use std::ops::{Bound, Range, RangeInclusive};

/// Longest allowed run, far below 2^64 ps so that later times of packets in flight also fit into 64
/// bits.
pub(crate) const TIME_MAX: Span = Span::from_ps(1_000_000 * 1_000_000_000_000);

const SECTIONS: u64 = 64;
const SECTIONS_FOR_INTERVAL: u64 = 20;
const SAMPLES: RangeInclusive<u64> = 1..=10_000_000;
const STEPS_MAX: u64 = 100_000;
const TREES_MAX: u64 = 10_000_000;
const PERCENTILES_MAX: usize = 100;
/// Ratio of `stop.messages` to the expected number of messages above which the rule is out of
/// reach.
const MARGIN: f64 = 2.0;
const MARGIN_MESSAGES: f64 = 1_000.0;

pub(crate) fn stop(stop: &Stop) -> StopPlan {
    StopPlan {
        time: Time::ZERO + stop.time,
        warm_up: stop.warm_up.map(|warm_up| Time::ZERO + warm_up),
        relative_width: stop.relative_width,
        quantity: stop.quantity.unwrap_or_default(),
        messages: stop.messages,
        follow: stop.follow(),
    }
}

pub(crate) fn of_stop<'a>() -> [Check<&'a Stop>; 7] {
    [
        refuse("time", |it| {
            let is_allowed = (Span::from_ps(1)..=TIME_MAX).contains(&it.time);
            when!(!is_allowed, "a run lasts from 1 ps to {TIME_MAX}")
        }),
        refuse("follow", |it| {
            when!(it.follow() > TIME_MAX, "messages are followed for at most {TIME_MAX}")
        }),
        refuse("messages", |it| {
            when!(it.messages == Some(0), "a run of no messages measures nothing")
        }),
        refuse("warm_up", |it| {
            let (warm_up, time) = (it.warm_up?, it.time);
            when!(
                warm_up >= time || warm_up > share(it, SECTIONS - 1),
                "the warm-up of {warm_up} leaves nothing of a run of {time} to measure"
            )
        }),
        refuse("warm_up", |it| {
            let warm_up = it.warm_up?;
            let latest = share(it, SECTIONS - SECTIONS_FOR_INTERVAL);
            when!(
                it.relative_width.is_some() && warm_up > latest,
                "a warm-up of {warm_up} leaves too little of a run of {} for an interval, so that \
                 stop.relative_width can never be met; an interval needs a third of the run",
                it.time
            )
        }),
        refuse("relative_width", |it| {
            within!(
                it.relative_width?,
                (Bound::Excluded(0.0), Bound::Excluded(1.0)),
                "the half-width of an interval as a fraction of the mean is above 0 and below 1, \
                 such as 0.02"
            )
        }),
        refuse("quantity", |it| {
            when!(
                it.quantity.is_some() && it.relative_width.is_none(),
                "selects the mean for stop.relative_width, which is not given"
            )
        }),
    ]
}

fn share(stop: &Stop, sections: u64) -> Span {
    Span::from_ps(stop.time.as_ps() / SECTIONS * sections)
}

pub(crate) fn measure(measure: &Measure) -> MeasurePlan {
    MeasurePlan {
        messages: measure.messages,
        sample_size: usize::try_from(measure.sample_size).expect("64-bit platform"),
        step: measure.step,
        flows: measure.flows,
        tree_step: measure.congestion.as_ref().map(|congestion| congestion.step),
    }
}

pub(crate) fn of_measure<'a>() -> [Check<&'a Measure>; 3] {
    [
        refuse("sample_size", |it| {
            when!(
                !SAMPLES.contains(&it.sample_size),
                "a sample holds from 1 to {} messages, not {}; for none or all of them say \
                 so in measure.messages",
                SAMPLES.end(),
                it.sample_size
            )
        }),
        refuse("step", |it| wrong_step(it.source, it.step?)),
        refuse("congestion.step", |it| wrong_step(it.source, it.congestion.as_ref()?.step)),
    ]
}

pub(crate) fn wrong_step(source: &ScenarioSource, step: Span) -> Option<Sentence> {
    let time = source.scenario.stop.time;
    let allowed = Span::from_ps(1)..=time;
    let out_of_range =
        within!(step, allowed, "a step lasts from 1 ps to the time of the run, {time}");
    out_of_range.or_else(|| {
        let steps = time.div_ceil(step);
        when!(
            steps > STEPS_MAX,
            "a run of {time} has {steps} steps of {step}, and {STEPS_MAX} are kept at the most: \
             make a step at least {}",
            Span::from_ps(time.as_ps().div_ceil(STEPS_MAX))
        )
    })
}

pub(crate) fn of_plan<'a>() -> [Check<&'a Plan>; 1] {
    [refuse("measure.congestion.step", |it| {
        let (step, time) = (it.measure.tree_step?, it.source.scenario.stop.time);
        let (samples, channels) = (time.div_ceil(step), it.channels.len() as u64);
        when!(
            samples * channels > TREES_MAX,
            "a run of {time} with a sample of trees every {step} takes {samples} samples of {channels} channels, and each may be the root of a tree; at most {TREES_MAX} trees are kept: make a step at least {}",
            Span::from_ps(time.as_ps().div_ceil(TREES_MAX / channels))
        )
    })]
}

pub(crate) fn percentiles(measure: &Measure) -> Vec<f64> {
    let mut percentiles = measure.percentiles.clone();
    percentiles.sort_by(f64::total_cmp);
    percentiles
}

pub(crate) fn of_percentiles<'a>() -> [Check<&'a Measure>; 2] {
    [
        refuse("percentiles", |it| {
            let count = it.percentiles.len();
            within!(count, ..=PERCENTILES_MAX, "at most {PERCENTILES_MAX} percentiles")
        }),
        refuse("percentiles", |it| {
            let wrong = |place| wrong_percentile(it.source, &it.percentiles, place);
            (0..it.percentiles.len()).find_map(|place| Some(wrong(place)?.under(place.to_string())))
        }),
    ]
}

fn wrong_percentile(source: &ScenarioSource, asked: &[f64], place: usize) -> Option<Sentence> {
    let percent = asked[place];
    let allowed = (Bound::Excluded(0.0), Bound::Excluded(100.0));
    let out_of_range = within!(percent, allowed, "a percentile is above 0 and below 100");
    let twice = || {
        let is_twice = asked[..place].contains(&percent);
        when!(is_twice, "the {percent}th percentile is there twice")
    };
    // Default percentiles are not checked, because a percentile without enough messages is omitted.
    let too_few = || {
        let messages = source.scenario.stop.messages.filter(|_| *asked != PERCENTILES_DEFAULT)?;
        let needed = needed_messages(percent);
        when!(
            needed > messages,
            "the {percent}th percentile needs {needed} messages, and stop.messages ends the run \
             after {messages}"
        )
    };
    out_of_range.or_else(twice).or_else(too_few)
}

/// Returns the sample size with one expected message beyond the percentile.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1")]
fn needed_messages(percent: f64) -> u64 {
    // The subtraction cancels the rounding error of a decimal fraction in binary.
    (100.0 / (100.0 - percent) - 1e-6).ceil() as u64
}

pub(crate) fn of_messages<'a>() -> [Check<(Links<'a>, &'a [ClassPlan])>; 1] {
    [refuse("stop.messages", |it| {
        let (stop, (links, classes)) = (&it.source.scenario.stop, it.of);
        let (wanted, window) = (stop.messages?, stop.warm_up.unwrap_or(Span::ZERO)..stop.time);
        let expected = classes.iter().flat_map(|class| {
            let span_ps = overlap_ps(&class.all_active(), &window);
            let byte_ps = |source: &SourcePlan| links.byte_ps(source.endpoint);
            class.sources.iter().map(move |of| messages_expected(of, byte_ps(of), span_ps))
        });
        let expected: f64 = expected.sum();
        #[expect(clippy::cast_precision_loss, reason = "a bound with a margin")]
        let is_out_of_reach = wanted as f64 > MARGIN * expected + MARGIN_MESSAGES;
        when!(
            is_out_of_reach,
            "in {} these classes create about {expected:.0} messages, so that {wanted} can never be \
             reached: raise stop.time, or want fewer",
            window.end - window.start
        )
    })]
}

fn overlap_ps(active: &Range<Time>, window: &Range<Span>) -> u64 {
    let from = active.start.as_ps().max(window.start.as_ps());
    active.end.as_ps().min(window.end.as_ps()).saturating_sub(from)
}

/// Returns the expected number of messages from a source in `span_ps`. For backlogged sources, this
/// is the number of messages that the link carries.
#[expect(clippy::cast_precision_loss, reason = "a bound with a margin")]
fn messages_expected(source: &SourcePlan, byte_ps: f64, span_ps: u64) -> f64 {
    let span_ps = span_ps as f64;
    match &source.messages {
        MessagePlan::Drawn(drawn) => {
            let payload = drawn.lengths.mean_bytes();
            let interval = drawn.arrivals.interval_mean_ps(payload, byte_ps);
            span_ps / interval.unwrap_or(payload * byte_ps)
        }
        // Links limit the number of replies.
        MessagePlan::Replies(replies) => span_ps / (replies.lengths.mean_bytes() * byte_ps),
        MessagePlan::Stream(stream) => span_ps * stream.data.messages_per_ps(),
        MessagePlan::Scheduled(schedule) => schedule.len() as f64,
    }
}

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
    fn percentile_needs_one_message_beyond_it() {
        let needed = [50.0, 90.0, 99.0, 99.9, 99.99].map(needed_messages);
        assert_eq!(needed, [2, 10, 100, 1_000, 10_000]);
    }
}
