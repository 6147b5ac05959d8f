//! Verdict on a run, and advice on the next step.

use super::summary::{Record, Verdict};
use crate::run::Engine;

/// Maximum half-width of the goodput's confidence interval in a converged run, as a fraction of the
/// goodput.
const WIDTH_MAX: f64 = 0.25;

pub(super) fn of(engine: &Engine, record: &Record) -> (Verdict, String) {
    if !engine.is_done() {
        let reason = if engine.now() < engine.meter().sections.start() {
            "the run was ended before the window began, so that it has no rates and no delays; a \
             shorter `stop.time` or `stop.warm_up` begins it sooner"
        } else {
            "the run was ended before its time; run it again for all of it"
        };
        return (Verdict::Interrupted, reason.to_owned());
    }
    if record.packets_offered == 0 {
        let reason = "no source gave a packet; look at the sources' `start` and `stop`";
        return (Verdict::Stalled, reason.to_owned());
    }
    if record.packets_delivered == 0 && record.packets_dropped_before == record.packets_offered {
        let reason = "every packet is longer than what the channels pass, as probes found; look at \
                      the sources' `packets`, the channels' `mtus` and `stripe.sizes`";
        return (Verdict::Stalled, reason.to_owned());
    }
    if record.packets_delivered == 0 {
        let reason = "nothing was delivered; look at the channels' `delay`, `loss` and `outages`";
        return (Verdict::Stalled, reason.to_owned());
    }
    let unique = record.packets_delivered - record.packets_duplicated;
    let left = record.packets_sent.saturating_sub(unique + record.packets_lost);
    if left > 0 {
        let reason = format!(
            "{left} packets were neither delivered nor lost when the run ended; a longer \
             `stop.follow` shows what becomes of them"
        );
        return (Verdict::Stalled, reason);
    }
    if record.delay_mean_ns.is_none() {
        let reason = "nothing was delivered in the window; a longer `stop.time` or a shorter \
                      `stop.warm_up` gives more";
        return (Verdict::NotConverged, reason.to_owned());
    }
    let (goodput, half) = (record.goodput_bits_per_s, record.goodput_half_width_bits_per_s);
    if half.is_none_or(|half| goodput.is_none_or(|goodput| half > WIDTH_MAX * goodput)) {
        let reason = "the goodput is known to a quarter at best, or not at all; a longer \
                      `stop.time` says more, and counts of packets hold all the same";
        return (Verdict::NotConverged, reason.to_owned());
    }
    (Verdict::Ok, "every packet sent was delivered or is known to be lost".to_owned())
}
