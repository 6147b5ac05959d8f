//! Whole packets: scenarios of virtual lanes over random switches.

use crate::case::{Case, pick};
use gingham_kernel::{Bytes, Purpose, Span, Stream, Time};
use gingham_lab::compile;
use gingham_net::traffic::SourcePlan;
use gingham_net::{
    Among, Arbitration, BLOCK_BYTES, ClassId, ClassPlan, CreditLossPlan, Fecn,
    InputOutputTriggered, InputTriggered, Marking, Naive, OutputTriggered, OvertakingPlan,
    PacketsPlan, PausesPlan, Plan, Read, Red, Scan, SegmentationPlan, Switching, Trigger,
    UtilisationTriggered,
};
use gingham_topology::{ChannelId, Fabric};
use std::collections::BTreeMap;
use std::sync::Arc;

const LONGEST_BYTES: u32 = 2_500;

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
    let mut packets = PacketsPlan {
        overhead_bytes,
        forwarding_delay: byte + bytes(pick(&mut draw, &[0, 0, 7, 40, 500])),
        head_interval: bytes(pick(&mut draw, &[0, 0, 1, 30, 400])),
        buffer_blocks,
        output_blocks: None,
        read: if draw.below(3) == 0 { Read::One } else { Read::Any },
        overtaking: OvertakingPlan {
            at_most: pick(&mut draw, &[0, 1, 1, 4]),
            among: if draw.below(3) == 0 { Among::AnyOutput } else { Among::SameOutput },
        },
        credit_delay: bytes(pick(&mut draw, &[0, 0, 1, 33, 300])),
        credit_loss: None,
        pauses: None,
        arbitration: match draw.below(5) {
            0 => Arbitration::RoundRobin,
            1 => Arbitration::StrictPriority,
            _ => Arbitration::OldestFirst,
        },
    };
    // Regression cases have credits.
    if seed % 4 == 1 {
        pause_lanes(&mut packets, &plan, longest, seed);
    }
    if seed.is_multiple_of(4) {
        packets.credit_loss = Some(lost_updates(&plan, seed));
    }
    // Regression cases have none.
    if matches!(seed % 16, 4..=6 | 11..=13) {
        give_outputs_buffers(&mut packets, plan.lanes.count, needed, seed);
    }
    if packets.output_blocks.is_none() && matches!(seed % 5, 2 | 4) {
        plan.marking = Some(marks_at_outputs(needed, &packets, seed));
    }
    plan.switching = Switching::Packets(Arc::new(packets));
    plan
}

fn marks_at_outputs(needed: u32, packets: &PacketsPlan, seed: u64) -> Marking {
    let mut draw = Stream::new(seed, "marks at outputs", Purpose::Shuffle);
    let scan = pick(&mut draw, &[Scan::Counters, Scan::Counters, Scan::Direct]);
    let counts_leaving = draw.below(3) > 0;
    let held = packets.buffer_blocks[0] / needed;
    let threshold = pick(&mut draw, &[0, 1, 2, held, held + 1, 3 * held]);
    let fill = pick(&mut draw, &[None, None, Some(1), Some(100), Some(u64::from(needed) * 64)]);
    let fill = fill.map(Bytes);
    let us = |count: u64| Span::from_ps(1_000_000 * count);
    let spare_blocked = pick(&mut draw, &[None, None, Some(us(1)), Some(us(100))]);
    let average = pick(&mut draw, &[None, None, Some(us(1)), Some(us(30))]);
    let of_fill = average.filter(|_| fill.is_some());
    match draw.below(7) {
        0 => Marking::Naive(Naive { fill, average: of_fill, spare_blocked }),
        1 => Marking::InputTriggered(InputTriggered {
            fill,
            average: of_fill,
            scan,
            counts_leaving,
            spare_blocked,
        }),
        2 => Marking::OutputTriggered(OutputTriggered {
            average,
            scan,
            counts_leaving,
            spare_blocked,
            ..OutputTriggered::new(threshold)
        }),
        3 => Marking::UtilisationTriggered(UtilisationTriggered {
            above: pick(&mut draw, &[0.1, 0.5, 0.9]),
            average: average.unwrap_or(us(5)),
        }),
        4 => Marking::Fecn(Fecn {
            threshold: pick(&mut draw, &[1, 8, 14, 15]),
            packet_size: pick(&mut draw, &[0, 1, 8]),
            marking_rate: pick(&mut draw, &[0, 1, 5]),
            victim_mask: draw.below(2) == 0,
        }),
        5 => {
            let k_min = Bytes(draw.below(1 + 64 * u64::from(needed)));
            let k_max = Bytes(k_min.0 + draw.below(256 * u64::from(needed)));
            Marking::Red(Red {
                k_min: Some(k_min),
                k_max: Some(k_max),
                p_max: pick(&mut draw, &[0.1, 0.5, 1.0]),
            })
        }
        _ => Marking::InputOutputTriggered(InputOutputTriggered {
            fill,
            average: of_fill,
            scan,
            counts_leaving,
            spare_blocked,
            ..InputOutputTriggered::new(threshold)
        }),
    }
}

/// Adds output buffers for at least the longest packet; inputs are then not read.
fn give_outputs_buffers(packets: &mut PacketsPlan, lanes: u8, needed: u32, seed: u64) {
    let mut draw = Stream::new(seed, "outputs with buffers", Purpose::Shuffle);
    packets.read = Read::Any;
    packets.overtaking = OvertakingPlan { at_most: u32::MAX, among: Among::SameOutput };
    packets.output_blocks = Some(std::array::from_fn(|lane| {
        let more = pick(&mut draw, &[0, 0, 1, needed, 3 * needed, 20 * needed]);
        if lane < lanes.into() { needed + more } else { 0 }
    }));
}

fn lost_updates(plan: &Plan, seed: u64) -> CreditLossPlan {
    let mut draw = Stream::new(seed, "lost updates", Purpose::Shuffle);
    let end = plan.stop.time.as_ps();
    let start = Time::from_ps(pick(&mut draw, &[0, 0, end / 3]));
    let stop = pick(&mut draw, &[Time::MAX, Time::from_ps(end / 2)]);
    let byte = plan.channels[0].bytes.of(1).as_ps();
    let period = pick(&mut draw, &[7, 100, 1_000, 30_000]);
    CreditLossPlan {
        probability: pick(&mut draw, &[0.01, 0.1, 0.5, 0.9]),
        sent: start..stop,
        period: Some(Span::from_ps(byte * period)),
    }
}

/// Makes receivers pause lanes, with exactly the necessary headroom.
fn pause_lanes(packets: &mut PacketsPlan, plan: &Plan, longest: u32, seed: u64) {
    let mut draw = Stream::new(seed, "pauses", Purpose::Shuffle);
    let frame_bytes = pick(&mut draw, &[1, 64, 84, 500]);
    let byte = plan.channels[0].bytes.of(1);
    let response_time = Span::from_ps(byte.as_ps() * pick(&mut draw, &[0, 0, 3, 100, 2_000]));
    let mut pauses =
        PausesPlan { pause_bytes: [0; 16], resume_bytes: [0; 16], frame_bytes, response_time };
    let needs = |channel: ChannelId| {
        let [way, back] = [channel, Fabric::reverse(channel)].map(|of| plan.channel(of));
        let wire = [1, longest].map(|payload| packets.wire_bytes(payload));
        pauses.headroom_bytes(way, back, wire)
    };
    let headroom = ChannelId::first(plan.channels.len()).map(needs).max().unwrap_or(0);
    let wire = packets.wire_bytes(longest);
    for lane in 0..usize::from(plan.lanes.count) {
        let mark = pick(&mut draw, &[0, 1, 60, wire - 1, wire, 3 * wire]);
        let blocks = (mark + headroom).div_ceil(u64::from(BLOCK_BYTES));
        packets.buffer_blocks[lane] = u32::try_from(blocks).unwrap();
        let pause = blocks * u64::from(BLOCK_BYTES) - headroom;
        pauses.pause_bytes[lane] = pause;
        pauses.resume_bytes[lane] =
            pick(&mut draw, &[0, pause / 3, pause.saturating_sub(1), pause]);
    }
    packets.pauses = Some(pauses);
}

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

/// Returns the largest payload, on any path and sent as any class.
pub(crate) fn longest_bytes(classes: &[ClassPlan]) -> u32 {
    let of_class = |class: &ClassPlan| class.sources.iter().map(longest_message).max();
    let message = classes.iter().filter_map(of_class).max().unwrap_or(1);
    let packets = classes.iter().map(|class| message.min(longest_packet(class)));
    let acks = classes.iter().filter_map(|class| Some(class.window.as_ref()?.ack.payload_bytes));
    packets.chain(acks).max().unwrap_or(1)
}

fn longest_message(source: &SourcePlan) -> u32 {
    *source.payload_bytes().end()
}

fn longest_packet(class: &ClassPlan) -> u32 {
    let over = |switches| class.longest_packet_bytes(|| switches);
    match &class.segmentation {
        // A list need not increase with the number of switches.
        SegmentationPlan::ByHops(list) => (1..=list.len()).map(over).max().expect("not empty"),
        _ => over(usize::MAX),
    }
}

#[test]
fn random_whole_packets_are_paused() {
    let mut reached = BTreeMap::new();
    for seed in (1..300).step_by(4) {
        let plan = compile(&Case::lanes(seed).source(), true).unwrap().plan;
        let plan = Arc::new(with_whole_packets(&plan, seed));
        let Switching::Packets(packets) = &plan.switching else { panic!("whole packets") };
        let mut simulation = gingham_engine::start(Arc::clone(&plan));
        simulation.advance(u64::MAX);
        let counts = simulation.channel_counts();
        let pauses: u64 = counts.iter().map(|count| count.stops).sum();
        let is_host = |channel: &ChannelId| !plan.is_switch(plan.ends(*channel).source.node);
        let mut channels = ChannelId::first(counts.len());
        for (what, holds) in [
            ("a pause", pauses > 0),
            ("many pauses", pauses > 100),
            ("a paused host", channels.any(|of| is_host(&of) && counts[of.index()].stops > 0)),
            ("pauses on several lanes", pauses > 0 && plan.lanes.count > 1),
            ("a response time", packets.pauses.as_ref().unwrap().response_time > Span::ZERO),
        ] {
            *reached.entry(what).or_insert(0_u32) += u32::from(holds);
        }
    }
    assert!(reached.values().all(|cases| *cases >= 4), "{reached:#?}");
}

#[test]
fn random_whole_packets_lose_credit_updates() {
    let mut differ = 0;
    for seed in (0..300).step_by(4) {
        let plan = compile(&Case::lanes(seed).source(), true).unwrap().plan;
        let plan = with_whole_packets(&plan, seed);
        let mut healthy = plan.clone();
        let Switching::Packets(packets) = &mut healthy.switching else { panic!("whole packets") };
        Arc::make_mut(packets).credit_loss = None;
        let [lossy, healthy] = [plan, healthy].map(|plan| {
            let mut simulation = gingham_engine::start(Arc::new(plan));
            simulation.advance(u64::MAX);
            simulation.channel_counts()
        });
        differ += u32::from(lossy != healthy);
    }
    assert!(differ >= 20, "{differ}");
}

#[test]
fn random_whole_packets_are_marked() {
    let (mut for_inputs, mut for_outputs) = (0, 0);
    for seed in (0..300).filter(|seed| matches!(seed % 5, 2 | 4)) {
        let plan = compile(&Case::lanes(seed).source(), true).unwrap().plan;
        let plan = Arc::new(with_whole_packets(&plan, seed));
        let mut simulation = gingham_engine::start(Arc::clone(&plan));
        simulation.advance(u64::MAX);
        let marked = |trigger| {
            let classes = ClassId::first(plan.classes.len());
            let of = |class| simulation.collector().marked_packets(class, trigger);
            classes.map(of).sum::<u64>()
        };
        for_inputs += u32::from(marked(Trigger::Input) > 0);
        for_outputs += u32::from(marked(Trigger::Output) > 0);
    }
    assert!(for_inputs >= 10 && for_outputs >= 10, "{for_inputs}, {for_outputs}");
}
