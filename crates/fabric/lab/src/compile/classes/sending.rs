//! Priority and segmentation of a class's messages.

use super::context::ClassContext;
use super::lengths::{PAYLOAD, checked_payload};
use crate::check::{Check, Sentence, check, note, refuse, say, when, within};
use crate::compile::gathered::Gathered;
use crate::compile::longest::sent_as;
use crate::compile::written::first_written;
use crate::error::LabError;
use crate::scenario::{INFINIBAND_PACKET_MAX, LinkParameters, ScenarioSource};
use gingham_kernel::Bytes;
use gingham_net::{Plan, Priority, Segmentation, SegmentationPlan};

pub(crate) fn priority_out_of_range(written: i64) -> Option<Sentence> {
    let highest = Priority::LEVELS - 1;
    let levels = 0..=i64::from(highest);
    within!(written, levels, "a priority lies from 0, the lowest, to {highest}")
}

pub(crate) fn checked_priority(written: i64) -> Priority {
    let level = u8::try_from(written).ok().and_then(Priority::new);
    level.expect("a check refuses priorities that are no level")
}

pub(super) fn of_priority<'a>() -> [Check<&'a ClassContext<'a>>; 1] {
    [refuse("priority", |it| priority_out_of_range(it.class.priority))]
}

fn of_segmentation<'a>() -> [Check<&'a ClassContext<'a>>; 2] {
    [
        refuse("segmentation", |it| match it.class.segmentation.as_ref()? {
            Segmentation::None => None,
            Segmentation::Fixed(bytes) => {
                Some(wrong_segment(it, *bytes)?.under("fixed".to_owned()))
            }
            Segmentation::Adaptive(adaptive) => {
                let bytes = adaptive.per_switch.unwrap_or_else(|| buffer(it));
                Some(segment_out_of_range(bytes)?.under("adaptive".to_owned()))
            }
            Segmentation::ByHops(list) if list.is_empty() => {
                let sentence = say!(
                    "a list by hops begins with the longest segment over one switch; none is given"
                );
                Some(sentence?.under("by-hops".to_owned()))
            }
            Segmentation::ByHops(list) => list.iter().enumerate().find_map(|(index, bytes)| {
                Some(wrong_segment(it, *bytes)?.under(format!("by-hops.{index}")))
            }),
        }),
        // Adaptive segments use one buffer size for all switches, but long or fast cables enlarge
        // some buffers.
        note(|it| {
            let Segmentation::Adaptive(adaptive) = it.class.segmentation.as_ref()? else {
                return None;
            };
            let largest =
                it.links.largest_buffer_bytes().filter(|_| adaptive.per_switch.is_none())?;
            let Bytes(counted) = buffer(it);
            when!(
                largest > counted,
                "adaptive segments count {counted} B a switch, the buffer of the network; long or fast cables made \
             some grow up to {largest} B, which segmentation = {{ adaptive = \"{largest} B\" }} would count"
            )
        }),
    ]
}

fn wrong_segment(context: &ClassContext<'_>, bytes: Bytes) -> Option<Sentence> {
    packet_too_long(context, bytes).or_else(|| segment_out_of_range(bytes))
}

fn segment_out_of_range(bytes: Bytes) -> Option<Sentence> {
    within!(bytes, PAYLOAD, "a segment carries from 1 B to 1024 MiB of payload")
}

pub(super) fn segmentation(
    context: &ClassContext<'_>,
    gathered: &mut Gathered,
) -> Result<SegmentationPlan, LabError> {
    check(&of_segmentation(), &context.subject(context), gathered)?;
    Ok(match &context.class.segmentation {
        None | Some(Segmentation::None) => SegmentationPlan::None,
        Some(Segmentation::Fixed(bytes)) => SegmentationPlan::Fixed(checked_payload(*bytes)),
        Some(Segmentation::Adaptive(adaptive)) => {
            let per_switch = adaptive.per_switch.unwrap_or_else(|| buffer(context));
            bounded(checked_payload(per_switch), context.links.parameters.links.packet_max)
        }
        Some(Segmentation::ByHops(list)) => {
            SegmentationPlan::ByHops(list.iter().copied().map(checked_payload).collect())
        }
    })
}

/// Returns the default payload of adaptive segments per switch on the route: the capacity of the
/// slack buffer, or the payload that fits into the class's shallowest lane.
fn buffer(context: &ClassContext<'_>) -> Bytes {
    Bytes(context.links.kind.held_bytes[context.index])
}

pub(crate) fn packet_too_long(context: &ClassContext<'_>, bytes: Bytes) -> Option<Sentence> {
    let max = context.links.parameters.links.packet_max?;
    when!(bytes > max, "{}", packet_max_message(context.source, bytes, max))
}

fn bounded(per_switch: u32, max: Option<Bytes>) -> SegmentationPlan {
    match max.and_then(|max| u32::try_from(max.0).ok()) {
        None => SegmentationPlan::PerSwitch(per_switch),
        Some(longest) if per_switch >= longest => SegmentationPlan::Fixed(longest),
        Some(longest) => SegmentationPlan::PerSwitchUpTo { per_switch, longest },
    }
}

pub(crate) fn of_limit<'a>() -> [Check<&'a LinkParameters>; 2] {
    [
        refuse("packet_max", |it| {
            when!(
                it.packet_max? == Bytes(0),
                "a packet carries at least 1 B of payload, not 0 B; for packets of any \
                 length leave packet_max out"
            )
        }),
        refuse("packet_max", |it| {
            let (max, preset) = (it.packet_max?, it.source.scenario.network.preset());
            when!(
                preset.is_infiniband() && max > INFINIBAND_PACKET_MAX,
                "{} has packets of at most {INFINIBAND_PACKET_MAX} of payload, the longest path MTU of InfiniBand, not \
                 {max}",
                preset.name()
            )
        }),
    ]
}

fn whose_limit(source: &ScenarioSource) -> String {
    let network = &source.scenario.network;
    match network.packet_max {
        Some(_) => "network.packet_max allows".to_owned(),
        None => format!("{} has", network.preset().name()),
    }
}

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

pub(crate) fn of_plan<'a>() -> [Check<&'a Plan>; 2] {
    [
        refuse("network.admission.length", |it| {
            let max = it.source.scenario.network.parameters().links.packet_max?;
            let probe = Bytes(it.admission.as_ref()?.payload_bytes.into());
            let length = "network.admission.length";
            let sentence = when!(
                probe > max,
                "probes of admission control carry {probe}, and {} packets of at most {max} of payload: {}",
                whose_limit(it.source),
                or_raised(it.source, max, format!("let {length} be shorter"))
            );
            Some(sentence?.at(first_written(it.source, &[length, "network.packet_max"])))
        }),
        refuse("traffic.*.segmentation", |it| {
            let max = it.source.scenario.network.parameters().links.packet_max?;
            it.classes.iter().enumerate().find_map(|(index, class)| {
                let messages = class.sources.iter().map(|source| *source.payload_bytes().end());
                let message = messages.max()?;
                let sent = sent_as(it.of, class).map(|other| other.longest_anywhere_bytes(message));
                let packet = Bytes(sent.max().unwrap_or(0).into());
                let too_long =
                    when!(packet > max, "{}", packet_max_message(it.source, packet, max));
                Some(too_long?.of_class(index))
            })
        }),
    ]
}
