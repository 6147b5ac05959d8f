//! Checks of marking.

use crate::catalogue::name_of;
use crate::check::{Check, Sentence, note, refuse, say, when};
use gingham_kernel::{Bytes, Span, Time};
use gingham_net::traffic::SourcePlan;
use gingham_net::{
    BLOCK_BYTES, ClassPlan, Marking, PacketsPlan, Plan, RateLimit, RedThresholds, Switching,
};
use gingham_topology::{ChannelId, Fabric};

/// Recommended run length, in time constants of the slowest response: one to reach the steady
/// state, and one to measure it.
const RECOMMENDED: u64 = 2;

pub(crate) fn of_plan<'a>() -> [Check<&'a Plan>; 7] {
    [
        refuse("network.marking", |it| {
            let uses_outputs = it.marking.as_ref()?.uses_outputs();
            when!(
                uses_outputs && !it.switching.reports_waiting_for_outputs(),
                "this policy counts the packets waiting at inputs, and with buffers at outputs packets wait in those: leave \
                 out network.packets.output_buffer, or take another policy"
            )
        }),
        refuse("network.marking", |it| {
            let marking = it.marking.as_ref()?;
            let (key, message) = marking.check().err()?;
            Some(say!("{message}")?.under(format!("{}.{key}", name_of(marking))))
        }),
        refuse("network.marking", |it| {
            let marking = it.marking.as_ref()?;
            let threshold = marking.triggers()?.threshold?;
            let most = most_packets(it.of, packets(it.of)?);
            let sentence = when!(
                u64::from(threshold) >= most,
                "the inputs of a switch hold no more than {most} packets, so that never more than {threshold} wait for an output: lower \
                 the threshold, or raise network.packets.buffer"
            );
            Some(sentence?.under(format!("{}.threshold", name_of(marking))))
        }),
        refuse("network.marking", |it| {
            let marking = it.marking.as_ref()?;
            let fill = marking.triggers()?.fill?;
            let most = Bytes(held_by_lanes(it.of, packets(it.of)?).min().unwrap_or(0));
            let sentence = when!(
                !(Bytes(1)..=most).contains(&fill),
                "a buffer counts as full at a fill from 1 B to the size of the smallest, {most}, not at {fill}: lower it, or raise \
                 network.packets.buffer"
            );
            Some(sentence?.under(format!("{}.fill", name_of(marking))))
        }),
        note(|it| without_effect(it)),
        note(|it| say!("network.marking never marks a packet: {}", why_idle(it.of)?)),
        note(|it| {
            let is_idle = it.marking.is_none() || why_idle(it.of).is_some();
            let (settles, index, name) = slowest_response(it.of).filter(|_| !is_idle)?;
            let (time, recommended) = (it.stop.time, settles.saturating_mul(RECOMMENDED));
            when!(
                time.as_ps() < recommended,
                "stop.time = \"{}\" is short for traffic.{index}.window.response.{name}, whose rates settle within {}: \
                 stop.time = \"{}\" or more leaves equal time to measure them",
                time.since(Time::ZERO),
                whole_us(settles),
                whole_us(recommended)
            )
        }),
    ]
}

fn packets(plan: &Plan) -> Option<&PacketsPlan> {
    match &plan.switching {
        Switching::Packets(packets) => Some(packets),
        Switching::Wormhole(_) | Switching::VirtualLanes(_) => None,
    }
}

fn held_by_lanes<'a>(plan: &'a Plan, packets: &'a PacketsPlan) -> impl Iterator<Item = u64> + 'a {
    let lanes = packets.buffer_blocks.iter().take(plan.lanes.count.into());
    lanes.map(|blocks| u64::from(*blocks) * u64::from(BLOCK_BYTES))
}

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

fn most_inputs(plan: &Plan) -> u64 {
    let inputs = |node| {
        let into = plan.fabric.channels_from(node).map(Fabric::reverse);
        into.filter(|channel: &ChannelId| plan.has_buffer(*channel)).count() as u64
    };
    let switches = plan.fabric.node_ids().filter(|node| plan.is_switch(*node));
    switches.map(inputs).max().unwrap_or(0)
}

fn longest_of(class: &ClassPlan) -> Option<u32> {
    let messages = class.sources.iter().map(|source| *source.payload_bytes().end());
    messages.map(|message| class.longest_anywhere_bytes(message)).max()
}

/// Notes congestion marks without effect, because no acknowledgement returns them or no flow
/// responds, and responses to marks that no switch sets.
fn without_effect(plan: &Plan) -> Option<Sentence> {
    let mut windows = plan.classes.iter().filter_map(|class| class.window.as_ref()).peekable();
    let has_windows = windows.peek().is_some();
    let usual = windows.find_map(|window| window.response.marking());
    match (&plan.marking, has_windows, usual) {
        (Some(_), false, _) => say!(
            "marking (network.marking) has no effect: no class has a window (traffic.*.window), so no \
             acknowledgement carries marks back"
        ),
        (Some(marking), true, None) => say!(
            "marking (network.marking) has no effect: acknowledgements carry marks back, but no flow responds to \
             them: traffic.*.window.response = \"{}\" would",
            match marking {
                Marking::Fecn(_) => "becn",
                Marking::Red(_) => "dcqcn",
                _ => "lipd",
            }
        ),
        (None, _, Some(usual)) => say!(
            "flows have a response to marks (traffic.*.window.response), but no switch marks packets: network.marking = \
         \"{usual}\" would"
        ),
        _ => None,
    }
}

fn why_idle(plan: &Plan) -> Option<String> {
    let packets = packets(plan)?;
    match plan.marking.as_ref()? {
        Marking::Fecn(fecn) if fecn.threshold == 0 => {
            Some("a threshold of 0 turns it off".to_owned())
        }
        Marking::Fecn(fecn) => {
            let least = Bytes(u64::from(fecn.packet_size) * u64::from(BLOCK_BYTES));
            let payload = plan.classes.iter().filter_map(longest_of).max().unwrap_or(1);
            let longest = Bytes(packets.wire_bytes(payload));
            (longest < least).then(|| {
                format!("no packet has the {least} of packet_size, the longest has {longest}")
            })
        }
        Marking::Red(red) => {
            let most = Bytes(held_by_lanes(plan, packets).sum::<u64>() * most_inputs(plan));
            let marks = |link| {
                let RedThresholds { k_min, k_max } = red.thresholds(link);
                k_min < most && (red.p_max > 0.0 || k_max <= most)
            };
            let is_idle = !plan.channels.iter().any(|channel| marks(channel.bytes));
            is_idle.then(|| format!("the inputs of a switch hold no more than {most}"))
        }
        _ => None,
    }
}

/// Returns the slowest response that changes rates on a timer: its time constant in ps, its class
/// index and its name.
fn slowest_response(plan: &Plan) -> Option<(u64, usize, String)> {
    let slowest = plan.classes.iter().enumerate().filter_map(|(index, class)| {
        let (response, rate_limit) = (&class.window.as_ref()?.response, class.rate_limit.as_ref()?);
        let settling = |source: &SourcePlan| {
            response.settling(RateLimit::new(rate_limit.refill[source.endpoint.index()]))
        };
        let longest = class.sources.iter().filter_map(settling).max()?;
        Some((longest.as_ps(), index, name_of(response)))
    });
    slowest.max_by_key(|(longest, ..)| *longest)
}

fn whole_us(ps: u64) -> Span {
    const US: u64 = 1_000_000;
    Span::from_ps(ps.div_ceil(US).saturating_mul(US))
}
