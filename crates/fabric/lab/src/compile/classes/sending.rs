//! How hosts send the messages of a class: priority and segmentation.

use super::context::ClassContext;
use super::lengths::payload;
use crate::compile::gathered::Gathered;
use crate::compile::longest::sent_as;
use crate::compile::written::first_written;
use crate::error::LabError;
use crate::scenario::{INFINIBAND_PACKET_MAX, ScenarioSource};
use gingham_kernel::Bytes;
use gingham_net::{Plan, Priority, Segmentation, SegmentationPlan};

/// A priority, or why it is none.
pub(crate) fn priority_of(written: i64) -> Result<Priority, String> {
    u8::try_from(written).ok().and_then(Priority::new).ok_or_else(|| {
        let highest = Priority::LEVELS - 1;
        format!("a priority lies from 0, the lowest, to {highest}, not {written}")
    })
}

/// The priority that is written under a key.
pub(crate) fn level(
    context: &ClassContext<'_>,
    key: &str,
    written: i64,
) -> Result<Priority, LabError> {
    priority_of(written).map_err(|message| context.error(key, message).into())
}

pub(crate) fn segmentation(
    context: &ClassContext<'_>,
    gathered: &mut Gathered,
) -> Result<SegmentationPlan, LabError> {
    let Some(segmentation) = &context.class.segmentation else {
        return Ok(SegmentationPlan::None);
    };
    match segmentation {
        Segmentation::None => Ok(SegmentationPlan::None),
        Segmentation::Fixed(bytes) => {
            let key = "segmentation.fixed";
            check_packet_payload(context, key, *bytes)?;
            Ok(SegmentationPlan::Fixed(segment(context, key, *bytes)?))
        }
        Segmentation::Adaptive(adaptive) => {
            let bytes = match adaptive.per_switch {
                Some(bytes) => bytes,
                None => buffer(context, gathered),
            };
            let bytes = segment(context, "segmentation.adaptive", bytes)?;
            Ok(bounded(bytes, context.links.parameters.links.packet_max))
        }
        Segmentation::ByHops(list) => segments_by_hops(context, list),
    }
}

/// What one switch holds of a packet: its slack buffer, or the shallowest of the class's lanes.
fn buffer(context: &ClassContext<'_>, gathered: &mut Gathered) -> Bytes {
    let held_bytes = context.links.kind.held_bytes[context.index];
    note_grown_buffers(context, held_bytes, gathered);
    Bytes(held_bytes)
}

/// Where cables need more than the network's buffer there is more than one capacity to choose
/// from.
fn note_grown_buffers(context: &ClassContext<'_>, counted: u64, gathered: &mut Gathered) {
    let largest = context.links.largest_buffer_bytes();
    let Some(largest) = largest.filter(|largest| *largest > counted) else { return };
    context.note(
        gathered,
        format!(
            "adaptive segments count {counted} B a switch, the buffer of the network; long or fast cables made \
             some grow up to {largest} B, which segmentation = {{ adaptive = \"{largest} B\" }} would count"
        ),
    );
}

fn segments_by_hops(
    context: &ClassContext<'_>,
    list: &[Bytes],
) -> Result<SegmentationPlan, LabError> {
    if list.is_empty() {
        let message =
            "a list by hops begins with the longest segment over one switch; none is given";
        return Err(context.error("segmentation.by-hops", message).into());
    }
    let numbered = |(index, bytes): (usize, &Bytes)| {
        let key = format!("segmentation.by-hops.{index}");
        check_packet_payload(context, &key, *bytes)?;
        segment(context, &key, *bytes)
    };
    let list = list.iter().enumerate().map(numbered).collect::<Result<_, _>>()?;
    Ok(SegmentationPlan::ByHops(list))
}

/// Rejects packets whose payload exceeds the maximum of the network.
pub(crate) fn check_packet_payload(
    context: &ClassContext<'_>,
    key: &str,
    bytes: Bytes,
) -> Result<(), LabError> {
    let max = context.links.parameters.links.packet_max;
    let Some(max) = max.filter(|max| bytes > *max) else { return Ok(()) };
    Err(context.error(key, packet_max_message(context.source, bytes, max)).into())
}

fn segment(context: &ClassContext<'_>, key: &str, bytes: Bytes) -> Result<u32, LabError> {
    payload(bytes.0).ok_or_else(|| {
        let message = format!("a segment carries from 1 B to 1024 MiB of payload, not {bytes}");
        context.error(key, message).into()
    })
}

/// The segmentation that gives each switch on the route `per_switch` bytes, up to the longest packet
/// of the network.
fn bounded(per_switch: u32, max: Option<Bytes>) -> SegmentationPlan {
    match max.and_then(|max| u32::try_from(max.0).ok()) {
        None => SegmentationPlan::PerSwitch(per_switch),
        Some(longest) if per_switch >= longest => SegmentationPlan::Fixed(longest),
        Some(longest) => SegmentationPlan::PerSwitchUpTo { per_switch, longest },
    }
}

/// Rejects a limit that leaves packets no payload, or exceeds the longest path MTU of InfiniBand.
pub(crate) fn check_limit(source: &ScenarioSource, max: Option<Bytes>) -> Result<(), LabError> {
    let network = &source.scenario.network;
    let is_infiniband = network.preset().is_infiniband();
    match max {
        Some(Bytes(0)) => {
            let message = "a packet carries at least 1 B of payload, not 0 B; for packets of any \
                           length leave packet_max out";
            Err(source.refuse("network.packet_max", message).into())
        }
        Some(max) if is_infiniband && max > INFINIBAND_PACKET_MAX => {
            let message = format!(
                "{} has packets of at most {INFINIBAND_PACKET_MAX} of payload, the longest path MTU of InfiniBand, not \
                 {max}",
                network.preset().name()
            );
            Err(source.refuse("network.packet_max", message).into())
        }
        _ => Ok(()),
    }
}

/// The subject and verb of a sentence on the longest packets.
fn whose_limit(source: &ScenarioSource) -> String {
    let network = &source.scenario.network;
    match network.packet_max {
        Some(_) => "network.packet_max allows".to_owned(),
        None => format!("{} has", network.preset().name()),
    }
}

/// A cure for packets above the limit `max`, or to raise the limit if the technology allows it.
fn or_raised(source: &ScenarioSource, max: Bytes, cure: String) -> String {
    let is_infiniband = source.scenario.network.preset().is_infiniband();
    if is_infiniband && max == INFINIBAND_PACKET_MAX {
        return cure;
    }
    format!("{cure}, or raise network.packet_max")
}

fn packet_max_message(source: &ScenarioSource, bytes: Bytes, max: Bytes) -> String {
    let whose = whose_limit(source);
    let carries = match bytes {
        Bytes(bytes) if bytes >= u64::from(u32::MAX) => "may be of any length".to_owned(),
        bytes => format!("carries {bytes}"),
    };
    let cure =
        or_raised(source, max, format!("cut messages with segmentation = {{ fixed = \"{max}\" }}"));
    format!("a packet {carries}, and {whose} packets of at most {max} of payload: {cure}")
}

/// Rejects classes whose messages are not segmented into packets of a length that the network
/// allows.
pub(crate) fn check_packet_max(
    source: &ScenarioSource,
    plan: &Plan,
    max: Option<Bytes>,
) -> Result<(), LabError> {
    let Some(max) = max else { return Ok(()) };
    check_probes(source, plan, max)?;
    for (index, class) in plan.classes.iter().enumerate() {
        let messages = class.sources.iter().map(|source| *source.payload_bytes().end());
        let Some(message) = messages.max() else { continue };
        let packets = sent_as(plan, class).map(|other| other.longest_anywhere_bytes(message));
        let packet = Bytes(packets.max().unwrap_or(0).into());
        if packet > max {
            let key = format!("traffic.{index}.segmentation");
            return Err(source.refuse(&key, packet_max_message(source, packet, max)).into());
        }
    }
    Ok(())
}

/// Rejects probes of admission control that carry more than a packet may.
fn check_probes(source: &ScenarioSource, plan: &Plan, max: Bytes) -> Result<(), LabError> {
    let Some(admission) = &plan.admission else { return Ok(()) };
    let probe = Bytes(admission.payload_bytes.into());
    if probe <= max {
        return Ok(());
    }
    let length = "network.admission.length";
    let message = format!(
        "probes of admission control carry {probe}, and {} packets of at most {max} of payload: {}",
        whose_limit(source),
        or_raised(source, max, format!("let {length} be shorter"))
    );
    Err(source.refuse(first_written(source, &[length, "network.packet_max"]), message).into())
}
