//! Compiles the protocol options of sender and receiver.

use crate::plan::{Plan, Reception};
use crate::scenario::{
    Channel, Control, Order, Quanta, Repair, Reports, Restore, Rule, ScenarioSource, Scheduler,
    Send, Sizes, Tells,
};
use core::num::NonZeroU8;
use core::time::Duration;
use gingham_input::InputError;
use gingham_kernel::{Span, Time};
use gingham_stripe::{
    BbrPlan, Charge, ControlPlan, Controlled, Guarantee, MESSAGE_BYTES_MAX, MarkerPlan,
    OrderOptions, ReceiverOptions, RepairPlan, RepairRequests, ReportPlan, SenderOptions,
    SharePlan, SizePlan, TAG_BYTES_MAX, Thousandths,
};

/// Default size of a channel's reorder buffer in packets, as in the daemon.
const RESTORED_PACKETS: usize = 2_048;
/// Maximum packets per buffer, which bounds the memory of all channels together.
const PACKETS_MAX: u64 = 1 << 20;

pub(super) fn check_choice(source: &ScenarioSource) -> Result<(), InputError> {
    let scenario = &source.scenario;
    if scenario.order() == Order::Free
        && let Some(key) = scenario.bound_by()
    {
        let message = "plays no part where `stripe.order` is \"free\": leave it out, or set \
                       `stripe.order = \"strict\"`";
        return Err(source.refuse(&key, message));
    }
    let (control, usual) = (&scenario.stripe.control, Control::default());
    if *control != usual && !scenario.has_windows() {
        let message = "nothing is controlled here: set `stripe.order = \"free\"`, `stripe.window = true` or \
                       `stripe.quanta = \"follow\"`, or leave it out";
        return Err(source.refuse("stripe.control", message));
    }
    let of_bbr = [
        (
            "stripe.control.loss_threshold",
            Control { loss_threshold: usual.loss_threshold, ..control.clone() },
        ),
        ("stripe.control.headroom", Control { headroom: usual.headroom, ..control.clone() }),
    ];
    match of_bbr.iter().find(|(_, default)| control.by != Rule::Bbr && default != control) {
        None => Ok(()),
        Some((key, _)) => Err(source.refuse(
            key,
            "plays no part but for BBR: leave it out, or set `stripe.control.by = \"bbr\"`",
        )),
    }
}

pub(super) fn check_policies(source: &ScenarioSource) -> Result<(), InputError> {
    let scenario = &source.scenario;
    let is_free = scenario.order() == Order::Free;
    for (index, channel) in scenario.channel.iter().enumerate() {
        if channel.priority != NonZeroU8::MIN && !is_free {
            let message = "channels take turns where `stripe.order` is \"strict\": leave it out, or set \
                           `stripe.order = \"free\"`";
            return Err(source.refuse(&format!("channel.{index}.priority"), message));
        }
        if channel.cap.is_some() && !scenario.has_windows() {
            let message = "nothing paces packets here: leave it out, or set `stripe.order = \"free\"` or \
                           `stripe.window = true`";
            return Err(source.refuse(&format!("channel.{index}.cap"), message));
        }
    }
    for (index, one) in scenario.source.iter().enumerate() {
        let message = match one.send {
            Send::Fastest if !is_free => {
                "channels take turns where `stripe.order` is \"strict\": leave it out, or set \
                 `stripe.order = \"free\"`"
            }
            Send::Redundant if scenario.repair().is_none() => {
                "copies are retransmissions, which need repair: leave it out, or set `stripe.repair = {}`"
            }
            _ => continue,
        };
        return Err(source.refuse(&format!("source.{index}.send"), message));
    }
    Ok(())
}

pub(super) fn check(source: &ScenarioSource, reception: Reception) -> Result<(), InputError> {
    let stripe = &source.scenario.stripe;
    let is_repaired = source.scenario.repair().is_some();
    let asked = [
        ("stripe.quanta", stripe.quanta == Quanta::Follow),
        ("stripe.window", stripe.window),
        ("stripe.credits", stripe.credits),
        ("stripe.guaranteed", stripe.guaranteed),
        ("stripe.repair", is_repaired),
        ("stripe.sizes", stripe.sizes.is_some()),
        ("stripe.restore", stripe.restore.is_some()),
        ("stripe.resets", !stripe.resets.is_empty()),
    ];
    if let Some((key, _)) = asked.iter().find(|(_, asked)| *asked)
        && reception != Reception::Logical
    {
        let message = "needs the whole protocol: leave it out, or set `stripe.reception = \"logical\"` and \
                       `stripe.markers.send = true`";
        return Err(source.refuse(key, message));
    }
    let tags = [("stripe.repair", is_repaired), ("stripe.restore", stripe.restore.is_some())];
    if let Some((key, _)) = tags.iter().find(|(_, asked)| *asked && !source.scenario.has_tags()) {
        let message = "only where packets carry tags: set `stripe.guaranteed = true`, or `stripe.order = \"free\"`";
        return Err(source.refuse(key, message));
    }
    if stripe.silence == Span::ZERO && source.scenario.is_held_back() {
        let message = "credits and windows wait for reports, so a channel that sends none must go out some time: \
                       expected more than \"0 s\"";
        return Err(source.refuse("stripe.silence", message));
    }
    let changes = |channel: &Channel| !channel.quanta.is_empty();
    if let Some(index) = source.scenario.channel.iter().position(changes)
        && (reception != Reception::Logical || stripe.scheduler != Scheduler::SurplusRoundRobin)
    {
        let message = "quanta change by the whole protocol: leave them out, or set `stripe.scheduler = \"surplus-round-robin\"`, \
             `stripe.reception = \"logical\"` and `stripe.markers.send = true`";
        return Err(source.refuse(&format!("channel.{index}.quanta"), message));
    }
    Ok(())
}

pub(super) fn check_room(source: &ScenarioSource, plan: &Plan) -> Result<(), InputError> {
    check_buffer(source, plan)?;
    let channels = plan.links.len() as u64;
    let stripe = &source.scenario.stripe;
    let rooms = [
        ("stripe.repair.packets", source.scenario.repair().map_or(0, |repair| repair.packets)),
        ("stripe.restore.packets", stripe.restore.map_or(0, |restore| restore.packets)),
    ];
    match rooms.iter().find(|(_, packets)| packets * channels > PACKETS_MAX) {
        None => Ok(()),
        Some((key, _)) => {
            let each = PACKETS_MAX / channels;
            let message = format!("expected at most {each} packets with {channels} channels");
            Err(source.refuse(key, message))
        }
    }
}

pub(super) fn restore(source: &ScenarioSource) -> Result<Option<OrderOptions>, InputError> {
    let Some(restore) = source.scenario.stripe.restore else {
        let adaptive = OrderOptions {
            wait: Duration::from_nanos(Restore::default().wait.as_ps() / 1_000),
            packets_max: RESTORED_PACKETS,
            adapts: true,
        };
        return Ok((source.scenario.order() == Order::Free).then_some(adaptive));
    };
    Ok(Some(OrderOptions {
        wait: some_time(source, "stripe.restore.wait", restore.wait)?,
        packets_max: packets(source, "stripe.restore.packets", restore.packets)?,
        adapts: false,
    }))
}

pub(super) fn resets(source: &ScenarioSource) -> Vec<Time> {
    let mut resets: Vec<_> =
        source.scenario.stripe.resets.iter().map(|at| Time::ZERO + *at).collect();
    resets.sort_unstable();
    resets
}

pub(super) fn sender(
    source: &ScenarioSource,
    channels: usize,
) -> Result<SenderOptions, InputError> {
    let stripe = &source.scenario.stripe;
    let repair = source.scenario.repair().map(|repair| -> Result<_, InputError> {
        let packets = packets(source, "stripe.repair.packets", repair.packets)?;
        Ok(RepairPlan { packets, tries_max: repair.tries })
    });
    Ok(SenderOptions {
        markers: markers(source, channels)?,
        credits: stripe.credits.then(|| charge(source)),
        order: order(source),
        control: source.scenario.has_windows().then(|| control(source)).transpose()?,
        shares: (stripe.quanta == Quanta::Follow).then(SharePlan::default),
        silence: silence(source)?,
        repair: repair.transpose()?,
        sizes: stripe.sizes.map(|given| sizes(source, given)).transpose()?,
        ..SenderOptions::default()
    })
}

/// Returns the plan for packet size probing; the largest probe is the longest packet with the
/// longest tag.
fn sizes(source: &ScenarioSource, given: Sizes) -> Result<SizePlan, InputError> {
    let stripe = &source.scenario.stripe;
    let whole = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
    let max = whole(stripe.longest_packet.0.saturating_add(TAG_BYTES_MAX as u64));
    let raise = Duration::from_nanos(given.raise.as_ps() / 1_000);
    let (base, least) = (whole(given.base.0), MESSAGE_BYTES_MAX as u64);
    if u64::from(base) < least || base > max {
        let message =
            format!("expected {least} B, a message, to {max} B, the longest packet with its tag");
        return Err(source.refuse("stripe.sizes.base", message));
    }
    if raise.is_zero() {
        return Err(source.refuse("stripe.sizes.raise", "expected a nanosecond or more"));
    }
    Ok(SizePlan { base, max, headers: 0, raise })
}

fn order(source: &ScenarioSource) -> gingham_stripe::Order {
    match source.scenario.order() {
        Order::Strict => gingham_stripe::Order::Strict,
        Order::Free => gingham_stripe::Order::Free,
    }
}

fn control(source: &ScenarioSource) -> Result<ControlPlan, InputError> {
    let control = &source.scenario.stripe.control;
    let longest = source.scenario.stripe.longest_packet;
    if control.window_max.is_some_and(|most| most.0 < longest.0) {
        let message =
            format!("below the longest packet, so that none could go: expected at least {longest}");
        return Err(source.refuse("stripe.control.window_max", message));
    }
    let by = match control.by {
        Rule::Bbr => Controlled::Bbr(BbrPlan {
            loss_threshold: thousandths(
                source,
                "stripe.control.loss_threshold",
                control.loss_threshold,
            )?,
            headroom: thousandths(source, "stripe.control.headroom", control.headroom)?,
            seed: source.scenario.seed,
        }),
        Rule::Cubic => Controlled::Cubic,
        // Placeholder: the sender sets the rate of each channel later.
        Rule::Fixed => Controlled::FixedRate(u64::from(u32::MAX)),
    };
    let window_bytes_max = control.window_max.map(|most| most.0);
    Ok(ControlPlan { by, window_bytes_max, ..ControlPlan::default() })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
fn thousandths(source: &ScenarioSource, key: &str, share: f64) -> Result<Thousandths, InputError> {
    if (0.0..1.0).contains(&share) {
        Ok(Thousandths((share * 1_000.0).round() as u64))
    } else {
        Err(source.refuse(key, "expected a share from 0 to below 1"))
    }
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
    let idle_interval_max =
        some_time(source, "stripe.markers.idle_interval_max", markers.idle_interval_max)?;
    Ok(MarkerPlan {
        every_rounds: markers.every_rounds,
        before_channel: before - 1,
        interval,
        idle_interval_max,
    })
}

pub(super) fn receiver(source: &ScenarioSource) -> Result<ReceiverOptions, InputError> {
    let stripe = &source.scenario.stripe;
    let reports = stripe.reports.or_else(|| source.scenario.is_held_back().then(Reports::default));
    let reports = reports.map(|reports| report_plan(source, reports)).transpose()?;
    let guaranteed = source.scenario.has_tags().then(|| -> Result<_, InputError> {
        let repair = source.scenario.repair().map(|repair| requests(source, repair)).transpose()?;
        Ok(Guarantee { repair })
    });
    // A marker that carries only a round number often seems to be late.
    let late_in_a_row_max = match stripe.markers.tells {
        Tells::Number => ReceiverOptions::default().late_in_a_row_max,
        Tells::Round => u32::MAX,
    };
    Ok(ReceiverOptions {
        late_in_a_row_max,
        buffer_bytes_max: stripe.buffer_packets.unwrap_or(stripe.buffer.0),
        charge: charge(source),
        wait: some_time(source, "stripe.wait", stripe.wait)?,
        reports,
        order: order(source),
        guaranteed: guaranteed.transpose()?,
        ..ReceiverOptions::default()
    })
}

const fn charge(source: &ScenarioSource) -> Charge {
    match source.scenario.stripe.buffer_packets {
        None => Charge::BYTES,
        Some(_) => Charge::PACKETS,
    }
}

fn check_buffer(source: &ScenarioSource, plan: &Plan) -> Result<(), InputError> {
    let longest = u32::try_from(source.scenario.stripe.longest_packet.0).unwrap_or(u32::MAX);
    let possible = plan.receiver.buffer_bytes(plan.links.len(), longest);
    if possible.contains(&plan.receiver.buffer_bytes_max) {
        return Ok(());
    }
    let (key, unit) = match source.scenario.stripe.buffer_packets {
        None => ("stripe.buffer", "B"),
        Some(_) => ("stripe.buffer_packets", "packets"),
    };
    let (least, most) = possible.into_inner();
    let message =
        format!("expected {least} to {most} {unit}, the least for one packet of each channel");
    Err(source.refuse(key, message))
}

fn report_plan(source: &ScenarioSource, reports: Reports) -> Result<ReportPlan, InputError> {
    let interval = some_time(source, "stripe.reports.interval", reports.interval)?;
    Ok(ReportPlan { interval })
}

fn requests(source: &ScenarioSource, repair: Repair) -> Result<RepairRequests, InputError> {
    Ok(RepairRequests {
        wait: some_time(source, "stripe.repair.wait", repair.wait)?,
        again: some_time(source, "stripe.repair.again", repair.again)?,
    })
}

fn packets(source: &ScenarioSource, key: &str, packets: u64) -> Result<usize, InputError> {
    let few = usize::try_from(packets).ok().filter(|_| (1..=PACKETS_MAX).contains(&packets));
    few.ok_or_else(|| source.refuse(key, format!("expected 1 to {PACKETS_MAX} packets")))
}

fn some_time(source: &ScenarioSource, key: &str, span: Span) -> Result<Duration, InputError> {
    if span < Span::from_ps(1_000) {
        return Err(source.refuse(key, "expected at least 1 ns"));
    }
    Ok(Duration::from_nanos(span.as_ps() / 1_000))
}
