//! Limit on the forwarding delay: a header can be read only after the packet's first byte has
//! arrived.

use crate::check::{Check, refuse, when};
use crate::compile::written::{first_written, whose};
use gingham_net::{PacketsPlan, Plan};
use gingham_topology::ChannelId;

pub(super) fn of_plan<'a>() -> [Check<(&'a Plan, &'a PacketsPlan)>; 1] {
    [refuse("network.packets.forwarding_delay", |it| {
        let (plan, delay) = (it.of.0, it.of.1.forwarding_delay);
        let byte = |channel: &ChannelId| plan.channel(*channel).bytes.of(1);
        let slowest = ChannelId::first(plan.channels.len()).max_by_key(byte)?;
        let key = "network.packets.forwarding_delay";
        let sentence = when!(
            byte(&slowest) > delay,
            "a packet goes on no sooner than its first byte has come, which on {} takes {}, and {key} is {delay}{}: raise it, or let \
             cables be faster (network.link_rate)",
            plan.fabric.channel_name(slowest),
            byte(&slowest),
            whose(it.source, key)
        );
        Some(sentence?.at(first_written(it.source, &[key, "network.link_rate"])))
    })]
}
