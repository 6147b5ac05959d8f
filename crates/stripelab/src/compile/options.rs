//! Options of both ends of the protocol.

use crate::plan::Reception;
use crate::scenario::{Quanta, Repair, Reports, ScenarioSource};
use core::time::Duration;
use gingham_input::InputError;
use gingham_kernel::Span;
use gingham_stripe::{
    FlightPlan, Guarantee, MarkerPlan, ReceiverOptions, RepairPlan, RepairRequests, ReportPlan,
    SenderOptions, SharePlan,
};

/// Buffers have room for this many packets at the most.
const PACKETS_MAX: u64 = 1 << 20;

/// Whether what the protocol alone can do is asked of it.
pub(super) fn check(source: &ScenarioSource, reception: Reception) -> Result<(), InputError> {
    let stripe = &source.scenario.stripe;
    let asked = [
        ("stripe.quanta", stripe.quanta == Quanta::Follow),
        ("stripe.window", stripe.window),
        ("stripe.credits", stripe.credits),
        ("stripe.guaranteed", stripe.guaranteed),
        ("stripe.repair", stripe.repair.is_some()),
    ];
    if let Some((key, _)) = asked.iter().find(|(_, asked)| *asked)
        && reception != Reception::Logical
    {
        let message = "needs the whole protocol: `reception = \"logical\"`, with markers";
        return Err(source.refuse(key, message));
    }
    if stripe.repair.is_some() && !stripe.guaranteed {
        let message = "only where the order is guaranteed: set `stripe.guaranteed = true`";
        return Err(source.refuse("stripe.repair", message));
    }
    Ok(())
}

/// Options of the sending end.
pub(super) fn sender(
    source: &ScenarioSource,
    channels: usize,
) -> Result<SenderOptions, InputError> {
    let stripe = &source.scenario.stripe;
    let repair = stripe.repair.map(|repair| -> Result<_, InputError> {
        let packets = packets(source, "stripe.repair.packets", repair.packets)?;
        Ok(RepairPlan { packets, tries_max: repair.tries })
    });
    Ok(SenderOptions {
        markers: markers(source, channels)?,
        credits: stripe.credits,
        flight: stripe.has_windows().then(FlightPlan::default),
        shares: (stripe.quanta == Quanta::Follow).then(SharePlan::default),
        silence: silence(source)?,
        repair: repair.transpose()?,
        ..SenderOptions::default()
    })
}

fn silence(source: &ScenarioSource) -> Result<Option<Duration>, InputError> {
    match source.scenario.stripe.silence {
        Span::ZERO => Ok(None),
        span => some_time(source, "stripe.silence", span).map(Some),
    }
}

fn markers(source: &ScenarioSource, channels: usize) -> Result<MarkerPlan, InputError> {
    let markers = &source.scenario.stripe.markers;
    if markers.every_rounds == 0 {
        let cure = "expected at least 1; `send = false` sends none";
        return Err(source.refuse("stripe.markers.every_rounds", cure));
    }
    let before = usize::try_from(markers.before_channel).unwrap_or(usize::MAX);
    if !(1..=channels).contains(&before) {
        let message = format!("there is no channel {before}: expected 1 to {channels}");
        return Err(source.refuse("stripe.markers.before_channel", message));
    }
    let interval = some_time(source, "stripe.markers.interval", markers.interval)?;
    Ok(MarkerPlan { every_rounds: markers.every_rounds, before_channel: before - 1, interval })
}

/// Options of the receiving end.
pub(super) fn receiver(source: &ScenarioSource) -> Result<ReceiverOptions, InputError> {
    let stripe = &source.scenario.stripe;
    let reports = stripe.reports.or_else(|| stripe.is_held_back().then(Reports::default));
    let reports = reports.map(|reports| report_plan(source, reports)).transpose()?;
    let guaranteed = stripe.guaranteed.then(|| -> Result<_, InputError> {
        let repair = stripe.repair.map(|repair| requests(source, repair)).transpose()?;
        Ok(Guarantee { repair })
    });
    Ok(ReceiverOptions {
        buffer_packets_max: packets(source, "stripe.buffer_packets", stripe.buffer_packets)?,
        wait: some_time(source, "stripe.wait", stripe.wait)?,
        reports,
        guaranteed: guaranteed.transpose()?,
        ..ReceiverOptions::default()
    })
}

fn report_plan(source: &ScenarioSource, reports: Reports) -> Result<ReportPlan, InputError> {
    if reports.every_packets == 0 {
        return Err(source.refuse("stripe.reports.every_packets", "expected at least 1"));
    }
    let interval = some_time(source, "stripe.reports.interval", reports.interval)?;
    Ok(ReportPlan { every_packets: reports.every_packets, interval })
}

fn requests(source: &ScenarioSource, repair: Repair) -> Result<RepairRequests, InputError> {
    Ok(RepairRequests {
        wait: some_time(source, "stripe.repair.wait", repair.wait)?,
        again: some_time(source, "stripe.repair.again", repair.again)?,
        copies_max: packets(
            source,
            "stripe.buffer_packets",
            source.scenario.stripe.buffer_packets,
        )?,
    })
}

fn packets(source: &ScenarioSource, key: &str, packets: u64) -> Result<usize, InputError> {
    let few = usize::try_from(packets).ok().filter(|_| (1..=PACKETS_MAX).contains(&packets));
    few.ok_or_else(|| source.refuse(key, format!("expected 1 to {PACKETS_MAX} packets")))
}

/// A span as the protocol counts it, in whole nanoseconds, of which there must be one.
fn some_time(source: &ScenarioSource, key: &str, span: Span) -> Result<Duration, InputError> {
    if span < Span::from_ps(1_000) {
        return Err(source.refuse(key, "expected at least 1 ns"));
    }
    Ok(Duration::from_nanos(span.as_ps() / 1_000))
}
