//! Limits of switches of whole packets: a head can be read only after its first byte has arrived.

use crate::compile::written::{first_written, whose};
use crate::error::LabError;
use crate::scenario::ScenarioSource;
use gingham_net::{PacketsPlan, Plan};
use gingham_topology::ChannelId;

/// Refuses cables with a byte time above the forwarding delay.
pub(super) fn check(
    source: &ScenarioSource,
    plan: &Plan,
    packets: &PacketsPlan,
) -> Result<(), LabError> {
    let byte = |channel: &ChannelId| plan.channel(*channel).bytes.of(1);
    let slowest = ChannelId::first(plan.channels.len()).max_by_key(byte);
    let Some(slowest) = slowest.filter(|of| byte(of) > packets.forwarding_delay) else {
        return Ok(());
    };
    let key = "network.packets.forwarding_delay";
    let message = format!(
        "a packet goes on no sooner than its first byte has come, which on {} takes {}, and {key} is {}{}: raise it, or let \
         cables be faster (network.link_rate)",
        plan.fabric.channel_name(slowest),
        byte(&slowest),
        packets.forwarding_delay,
        whose(source, key)
    );
    Err(source.refuse(first_written(source, &[key, "network.link_rate"]), message).into())
}
