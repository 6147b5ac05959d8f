//! Limits of the simulation: switches with too many lanes, and cables that are too slow or too long
//! for the cycle time.

use crate::check::{Check, Sentence, refuse, say, when};
use crate::compile::written::{first_written, whose};
use crate::scenario::ScenarioSource;
use gingham_net::{PipelinePlan, Plan};
use gingham_topology::{ChannelId, Node};

/// Maximum number of lanes of a switch, whose indices have 16 bits; the number of lanes of each
/// port is rounded up to a power of two.
const SWITCH_LANES_MAX: usize = (1 << 16) - 2;
const FLIT_CYCLES_MAX: u64 = 1 << 12;
const DELAY_CYCLES_MAX: u64 = 1 << 20;

pub(super) fn of_plan<'a>() -> [Check<(&'a Plan, &'a PipelinePlan)>; 2] {
    [
        refuse("network.lanes.count", |it| {
            let Plan { fabric, lanes, .. } = it.of.0;
            let of_port = usize::from(lanes.count).next_power_of_two();
            let mut switches = fabric.switches().map(|switch| fabric.node(switch));
            let beyond = |of: &&Node| usize::from(of.ports) * of_port > SWITCH_LANES_MAX;
            let Node { name, ports, .. } = switches.find(beyond)?;
            let sentence = say!(
                "switch `{name}` has {ports} ports of {} lanes each, and a switch may have {SWITCH_LANES_MAX} lanes (those of a \
                 port counted up to a power of two): give channels fewer lanes (network.lanes.count), or switches fewer ports",
                lanes.count
            );
            Some(sentence?.at(first_written(it.source, &["network.lanes.count"])))
        }),
        refuse("network.link_rate", |it| {
            let (plan, pipeline) = it.of;
            ChannelId::first(plan.channels.len())
                .find_map(|channel| beyond_cycle(it.source, plan, pipeline, channel))
        }),
    ]
}

fn beyond_cycle(
    source: &ScenarioSource,
    plan: &Plan,
    pipeline: &PipelinePlan,
    channel: ChannelId,
) -> Option<Sentence> {
    let (of, cycle) = (plan.channel(channel), pipeline.cycle);
    let name = || plan.fabric.channel_name(channel);
    if pipeline.pays_at_crossing() && of.flit > cycle {
        let key = "network.lanes.output_depth";
        let sentence = say!(
            "on {} a flit takes longer than a cycle, so that flits wait for the link, and an output lane holds none: let \
             all cables be of one rate (network.link_rate), or say {key} = 1 or more{}",
            name(),
            match &*whose(source, key) {
                "" => String::new(),
                whose => format!(", which is 0{whose}"),
            }
        );
        return Some(sentence?.at(first_written(source, &[key])));
    }
    let (cycles, delay) = (of.flit.div_ceil(cycle), of.delay.div_ceil(cycle));
    if cycles > FLIT_CYCLES_MAX {
        return say!(
            "on {} a flit takes {cycles} cycles of the fastest cable, and may take {FLIT_CYCLES_MAX}: let the rates of \
             cables lie closer together",
            name()
        );
    }
    let sentence = when!(
        delay > DELAY_CYCLES_MAX,
        "{} delays by {delay} cycles of {cycle}, and may by {DELAY_CYCLES_MAX}: let cables be shorter, or flits longer \
         (network.lanes.flit)",
        name()
    );
    Some(sentence?.at("network.cable_length"))
}
