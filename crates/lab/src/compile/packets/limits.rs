//! What no switch of whole packets could do: read a head before a byte of it has come.

use crate::error::LabError;
use crate::scenario::ScenarioSource;
use gingham_model::{PacketsPlan, Plan};
use gingham_topology::ChannelId;

/// Refuses cables on which a byte takes longer than a switch takes to forward a packet.
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
    let message = format!(
        "a packet goes on no sooner than its first byte has come, which on {} takes {}, and the forwarding delay is {}: raise \
         it, or let cables be faster",
        plan.fabric.channel_name(slowest),
        byte(&slowest),
        packets.forwarding_delay
    );
    Err(source.refuse("network.packets.forwarding_delay", message).into())
}
