//! Marks and what flows make of them: what no switch can do, and what comes to nothing.

use crate::catalogue::name_of;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::ScenarioSource;
use gingham_kernel::{Bytes, Span, Time};
use gingham_net::traffic::SourcePlan;
use gingham_net::{
    BLOCK_BYTES, ClassPlan, Marking, Pace, PacketsPlan, Plan, RedThresholds, Response, Switching,
};
use gingham_topology::ChannelId;
use gingham_topology::Fabric;

/// Time constants of the slowest response that a run should last: one to settle, one to measure.
const RECOMMENDED: u64 = 2;

/// Refuses policies that the switches of a plan cannot follow, and says what comes to nothing.
pub(crate) fn check(
    source: &ScenarioSource,
    plan: &Plan,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    if let Some(marking) = &plan.marking {
        check_place(source, plan, marking)?;
        if let Err((key, message)) = marking.check() {
            let key = format!("network.marking.{}.{key}", name_of(marking));
            return Err(source.refuse(&key, message).into());
        }
        check_threshold(source, plan, marking)?;
        check_fill(source, plan, marking)?;
    }
    note_unheard(plan, gathered);
    if !note_idle(plan, gathered) {
        note_short(plan, gathered);
    }
    Ok(())
}

/// Refuses what looks at inputs where packets do not wait there. Other kinds are refused by the catalogue.
fn check_place(source: &ScenarioSource, plan: &Plan, marking: &Marking) -> Result<(), LabError> {
    if !marking.looks_at_outputs() || plan.switching.tells_switched() {
        return Ok(());
    }
    let message = "this policy looks at what fills inputs and waits there, and with buffers at outputs packets wait in those: leave \
                   out network.packets.output_buffer, or take another policy";
    Err(source.refuse("network.marking", message).into())
}

/// Refuses a threshold that no output ever passes.
fn check_threshold(
    source: &ScenarioSource,
    plan: &Plan,
    marking: &Marking,
) -> Result<(), LabError> {
    let threshold = marking.triggers().and_then(|triggers| triggers.threshold);
    let (Some(threshold), Switching::Packets(packets)) = (threshold, &plan.switching) else {
        return Ok(());
    };
    let most = most_packets(plan, packets);
    if u64::from(threshold) < most {
        return Ok(());
    }
    let message = format!(
        "the inputs of a switch hold no more than {most} packets, so that never more than {threshold} wait for an output: lower \
         the threshold, or raise network.packets.buffer"
    );
    let key = format!("network.marking.{}.threshold", name_of(marking));
    Err(source.refuse(&key, message).into())
}

/// Refuses a fill that no buffer reaches, or that all always have.
fn check_fill(source: &ScenarioSource, plan: &Plan, marking: &Marking) -> Result<(), LabError> {
    let fill = marking.triggers().and_then(|triggers| triggers.fill);
    let (Some(fill), Switching::Packets(packets)) = (fill, &plan.switching) else {
        return Ok(());
    };
    let lanes = packets.buffer_blocks.iter().take(plan.lanes.count.into());
    let most = u64::from(lanes.min().copied().unwrap_or(0)) * u64::from(BLOCK_BYTES);
    if (1..=most).contains(&fill.0) {
        return Ok(());
    }
    let message = format!(
        "a buffer counts as full at a fill from 1 B to what the smallest holds, {}, not at {fill}: lower it, or raise \
         network.packets.buffer",
        Bytes(most)
    );
    let key = format!("network.marking.{}.fill", name_of(marking));
    Err(source.refuse(&key, message).into())
}

/// Packets that the buffers of all inputs of a switch hold at the most, of the shortest that any class
/// sends as data.
fn most_packets(plan: &Plan, packets: &PacketsPlan) -> u64 {
    let shortest = |class: &ClassPlan| {
        let messages = class.sources.iter().map(|source| *source.payload_bytes().start());
        let message = messages.min().unwrap_or(1);
        message.min(class.longest_packet_bytes(|| 1))
    };
    let shortest = plan.classes.iter().map(shortest).min().unwrap_or(1);
    let blocks = PacketsPlan::blocks(packets.wire_bytes(shortest));
    let of_input: u64 = packets.buffer_blocks.iter().map(|holds| u64::from(*holds) / blocks).sum();
    most_inputs(plan) * of_input
}

/// Inputs with buffers of a switch at the most.
fn most_inputs(plan: &Plan) -> u64 {
    let inputs = |node| {
        let into = plan.fabric.channels_from(node).map(Fabric::reverse);
        into.filter(|channel: &ChannelId| plan.has_buffer(*channel)).count() as u64
    };
    let switches = plan.fabric.node_ids().filter(|node| plan.is_switch(*node));
    switches.map(inputs).max().unwrap_or(0)
}

/// The most payload of a packet of a class, if it sends any.
fn longest_of(class: &ClassPlan) -> Option<u32> {
    let messages = class.sources.iter().map(|source| *source.payload_bytes().end());
    messages.map(|message| class.longest_anywhere_bytes(message)).max()
}

/// Says where marks change nothing: nobody hears of them, or nobody makes anything of them, or there
/// are none.
fn note_unheard(plan: &Plan, gathered: &mut Gathered) {
    let mut windows = plan.classes.iter().filter_map(|class| class.window.as_ref());
    let mut responding = windows.clone().filter(|window| window.response.is_paced());
    let response = responding.next().map(|window| &window.response);
    let note = match (&plan.marking, windows.next()) {
        (Some(_), None) => {
            "switches mark packets (network.marking), and nobody hears of it: it is answers that bring marks back, and no class \
             has a window (traffic.*.window)"
                .to_owned()
        }
        (Some(marking), Some(_)) if response.is_none() => {
            let would = match marking {
                Marking::Fecn(_) => "becn",
                Marking::Red(_) => "dcqcn",
                _ => "lipd",
            };
            format!(
                "switches mark packets (network.marking), and answers bring the marks back, and no flow makes anything of them: \
                 traffic.*.window.response = \"{would}\" would"
            )
        }
        (None, Some(_)) if response.is_some() => {
            let would = match response {
                Some(Response::Becn(_)) => "fecn",
                Some(Response::Dcqcn(_)) => "red",
                _ => "input-triggered",
            };
            format!(
                "flows have a response to marks (traffic.*.window.response), and no switch marks packets: network.marking = \
                 \"{would}\" would"
            )
        }
        _ => return,
    };
    gathered.notes.push(note);
}

/// Notes a marking policy that can never mark a packet; returns whether the policy is of this kind.
fn note_idle(plan: &Plan, gathered: &mut Gathered) -> bool {
    let Switching::Packets(packets) = &plan.switching else { return false };
    let longest = || {
        let payload = plan.classes.iter().filter_map(longest_of).max().unwrap_or(1);
        packets.wire_bytes(payload)
    };
    let why = match &plan.marking {
        Some(Marking::Fecn(fecn)) if fecn.threshold == 0 => {
            "a threshold of 0 turns it off".to_owned()
        }
        Some(Marking::Fecn(fecn)) => {
            let least = u64::from(fecn.packet_size) * u64::from(BLOCK_BYTES);
            let longest = longest();
            if longest >= least {
                return false;
            }
            format!(
                "no packet has the {} of packet_size, the longest has {}",
                Bytes(least),
                Bytes(longest)
            )
        }
        Some(Marking::Red(red)) => {
            let lanes = packets.buffer_blocks.iter().take(plan.lanes.count.into());
            let of_input =
                lanes.map(|holds| u64::from(*holds) * u64::from(BLOCK_BYTES)).sum::<u64>();
            let most = Bytes(of_input * most_inputs(plan));
            let marks = |link| {
                let RedThresholds { k_min, k_max } = red.thresholds(link);
                k_min < most && (red.p_max > 0.0 || k_max <= most)
            };
            if plan.channels.iter().any(|channel| marks(channel.bytes)) {
                return false;
            }
            format!("the inputs of a switch hold no more than {most}")
        }
        _ => return false,
    };
    gathered.notes.push(format!("network.marking never marks a packet: {why}"));
    true
}

/// Notes a run that is too short for responses that change rates on a timer. One time constant of
/// the slowest response lets rates settle, and another one is needed to measure them.
fn note_short(plan: &Plan, gathered: &mut Gathered) {
    if plan.marking.is_none() {
        return;
    }
    let slowest = plan.classes.iter().enumerate().filter_map(|(index, class)| {
        let (response, pace) = (&class.window.as_ref()?.response, class.pace.as_ref()?);
        let settling = |source: &SourcePlan| {
            response.settling(Pace::new(pace.refill[source.endpoint.index()]))
        };
        let longest = class.sources.iter().filter_map(settling).max()?;
        Some((longest, index, name_of(response)))
    });
    let Some((longest, index, name)) = slowest.max_by_key(|(longest, ..)| *longest) else { return };
    let (time, recommended) = (plan.stop.time, longest.as_ps().saturating_mul(RECOMMENDED));
    if time.as_ps() < recommended {
        gathered.notes.push(format!(
            "stop.time = \"{}\" is short for traffic.{index}.window.response.{name}, whose rates settle within {}: \
             stop.time = \"{}\" or more leaves equal time to measure them",
            time.since(Time::ZERO),
            whole_us(longest.as_ps()),
            whole_us(recommended)
        ));
    }
}

/// A time rounded up to whole microseconds.
fn whole_us(ps: u64) -> Span {
    const US: u64 = 1_000_000;
    Span::from_ps(ps.div_ceil(US).saturating_mul(US))
}
