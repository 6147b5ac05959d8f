//! Limits of the simulation: switches with too many lanes, and cables too slow or too long for the
//! cycle.

use crate::compile::written::{first_written, whose};
use crate::error::LabError;
use crate::scenario::ScenarioSource;
use gingham_net::{PipelinePlan, Plan};
use gingham_topology::ChannelId;

/// Limit on the lanes of a switch, which are counted in 16 bits, with those of each port rounded up
/// to a power of two.
const SWITCH_LANES_MAX: usize = (1 << 16) - 2;
/// Maximum number of cycles that a flit may occupy a channel.
const FLIT_CYCLES_MAX: u64 = 1 << 12;
/// Maximum delay of a cable, in cycles.
const DELAY_CYCLES_MAX: u64 = 1 << 20;

pub(super) fn check(
    source: &ScenarioSource,
    plan: &Plan,
    pipeline: &PipelinePlan,
) -> Result<(), LabError> {
    let cycle = pipeline.cycle;
    let refuse = |key: &str, message: String| -> LabError { source.refuse(key, message).into() };
    let of_port = usize::from(plan.lanes.count).next_power_of_two();
    for switch in plan.fabric.switches() {
        let node = plan.fabric.node(switch);
        let ports = usize::from(node.ports);
        if ports * of_port > SWITCH_LANES_MAX {
            let message = format!(
                "switch `{}` has {ports} ports of {} lanes each, and a switch may have {SWITCH_LANES_MAX} lanes (those of a \
                 port counted up to a power of two): give channels fewer lanes (network.lanes.count), or switches fewer ports",
                node.name, plan.lanes.count
            );
            return Err(refuse(first_written(source, &["network.lanes.count"]), message));
        }
    }
    for channel in ChannelId::first(plan.channels.len()) {
        let of = plan.channel(channel);
        let name = || plan.fabric.channel_name(channel);
        if pipeline.pays_at_crossing() && of.flit > cycle {
            let key = "network.lanes.output_depth";
            let message = format!(
                "on {} a flit takes longer than a cycle, so that flits wait for the link, and an output lane holds none: let \
                 all cables be of one rate (network.link_rate), or say {key} = 1 or more{}",
                name(),
                match &*whose(source, key) {
                    "" => String::new(),
                    whose => format!(", which is 0{whose}"),
                }
            );
            return Err(refuse(first_written(source, &[key]), message));
        }
        let cycles = of.flit.div_ceil(cycle);
        if cycles > FLIT_CYCLES_MAX {
            let message = format!(
                "on {} a flit takes {cycles} cycles of the fastest cable, and may take {FLIT_CYCLES_MAX}: let the rates of \
                 cables lie closer together",
                name()
            );
            return Err(refuse("network.link_rate", message));
        }
        let delay = of.delay.div_ceil(cycle);
        if delay > DELAY_CYCLES_MAX {
            let message = format!(
                "{} delays by {delay} cycles of {}, and may by {DELAY_CYCLES_MAX}: let cables be shorter, or flits longer \
                 (network.lanes.flit)",
                name(),
                cycle
            );
            return Err(refuse("network.cable_length", message));
        }
    }
    Ok(())
}
