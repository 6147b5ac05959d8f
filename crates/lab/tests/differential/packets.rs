//! Whole packets: the lanes, classes and paths of a random scenario of virtual lanes, over switches
//! whose every figure is drawn.

use crate::case::pick;
use gingham_kernel::{Purpose, Span, Stream};
use gingham_model::traffic::SourcePlan;
use gingham_model::{
    Among, Arbitration, BLOCK_BYTES, ClassPlan, OvertakingPlan, PacketsPlan, Plan, Read,
    SegmentationPlan, Switching,
};
use std::sync::Arc;

/// No packet has more payload.
const LONGEST_BYTES: u32 = 2_500;

/// The plan on a network of whole packets.
pub(crate) fn with_whole_packets(plan: &Plan, seed: u64) -> Plan {
    let mut draw = Stream::new(seed, "whole packets", Purpose::Shuffle);
    let mut plan = plan.clone();
    for channel in &mut plan.channels {
        channel.flit = channel.bytes.of(1);
        channel.slack = None;
    }
    shorten(&mut plan.classes, &mut draw);
    let longest = longest_bytes(&plan.classes);
    let overhead_bytes = pick(&mut draw, &[0, 1, 20, 26]);
    let byte = plan.channels.iter().map(|channel| channel.flit).max().unwrap_or(Span::from_ps(1));
    let bytes = |count: u64| Span::from_ps(byte.as_ps() * count);
    let needed = (longest + overhead_bytes).div_ceil(BLOCK_BYTES);
    let mut block = |lane: usize| {
        let more = pick(&mut draw, &[0, 0, 1, 2, needed, 3 * needed]);
        if lane < plan.lanes.count.into() { needed + more } else { 0 }
    };
    let buffer_blocks = std::array::from_fn(&mut block);
    let packets = PacketsPlan {
        overhead_bytes,
        forwarding_delay: byte + bytes(pick(&mut draw, &[0, 0, 7, 40, 500])),
        head_interval: bytes(pick(&mut draw, &[0, 0, 1, 30, 400])),
        buffer_blocks,
        read: if draw.below(3) == 0 { Read::One } else { Read::Any },
        overtaking: OvertakingPlan {
            at_most: pick(&mut draw, &[0, 1, 1, 4]),
            among: if draw.below(3) == 0 { Among::AnyOutput } else { Among::SameOutput },
        },
        credit_delay: bytes(pick(&mut draw, &[0, 0, 1, 33, 300])),
        pauses: None,
        arbitration: match draw.below(5) {
            0 => Arbitration::RoundRobin,
            1 => Arbitration::StrictPriority,
            _ => Arbitration::OldestFirst,
        },
    };
    plan.switching = Switching::Packets(Arc::new(packets));
    plan
}

/// Cuts the messages of classes where packets may be too long.
fn shorten(classes: &mut [ClassPlan], draw: &mut Stream) {
    if longest_bytes(classes) <= LONGEST_BYTES {
        return;
    }
    for class in classes {
        class.segmentation = SegmentationPlan::Fixed(pick(draw, &[64, 100, 256, LONGEST_BYTES]));
        // Its bucket may be smaller.
        class.policing = None;
    }
}

/// The most payload of a packet, over whatever path is the worst, of whichever class it is sent as.
fn longest_bytes(classes: &[ClassPlan]) -> u32 {
    let of_class = |class: &ClassPlan| class.sources.iter().map(longest_message).max();
    let message = classes.iter().filter_map(of_class).max().unwrap_or(1);
    let packets = classes.iter().map(|class| message.min(longest_packet(class)));
    let answers = classes.iter().filter_map(|class| Some(class.window?.answer.payload_bytes));
    packets.chain(answers).max().unwrap_or(1)
}

fn longest_message(source: &SourcePlan) -> u32 {
    *source.payload_bytes().end()
}

fn longest_packet(class: &ClassPlan) -> u32 {
    let over = |switches| class.longest_packet_bytes(|| switches);
    match &class.segmentation {
        // A list need not grow with the switches.
        SegmentationPlan::ByHops(list) => (1..=list.len()).map(over).max().expect("not empty"),
        _ => over(usize::MAX),
    }
}
