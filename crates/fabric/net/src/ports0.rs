//! Port 0 of switches: an endpoint for packets to and from the switch itself.
//!
//! ```text
//!   h0 ──► s0 ──► s1 ──► h2          read at s1, and diverted:   h0 ──► s0 ──► s1 ──► s1[0]
//!                                    packets from s1[0]:                s1[0] ──► s1 ──► any host
//! ```
//!
//! Port 0 of a switch is an endpoint ([`Fabric::with_ports_0`]) behind an ideal cable. It accepts
//! every packet, and its own packets wait in an adapter like a host's. No path leads to port 0: a
//! switch that has read a packet may divert the packet there ([`Endpoints::read`]).
//!
//! Invariant: adding ports 0 preserves all ids of a plan.

use crate::{ChannelPlan, Endpoints, Notice, Packet, Plan};
use gingham_kernel::{Span, Time};
use gingham_topology::ChannelId;
use gingham_topology::{EndpointId, Fabric, NodeId};

impl Plan {
    /// Adds a port 0 to every switch. With routing tables, or with source routes computed after
    /// ports 0 were added, paths start at every port 0; otherwise, only at ports 0 of switches with
    /// endpoints.
    #[must_use]
    pub fn with_ports_0(mut self) -> Self {
        let known = self.channels.len();
        self.fabric = self.fabric.with_ports_0();
        for channel in ChannelId::first(self.fabric.channel_count()).skip(known) {
            let ideal = self.ideal_channel(channel);
            self.channels.push(ideal);
        }
        self.lanes.allowed = self.lanes.allowed.with_ports_0(&self.fabric);
        self
    }

    /// Returns the plan of a channel to or from port 0: a copy of the switch's fastest channel,
    /// without delay.
    fn ideal_channel(&self, channel: ChannelId) -> ChannelPlan {
        let ends = self.ends(channel);
        let into_end = self.is_switch(ends.source.node);
        let switch = if into_end { ends.source.node } else { ends.target.node };
        let known = |channel: &ChannelId| channel.index() < self.channels.len();
        let channels = self.fabric.channels_from(switch).filter(known);
        let real = channels.filter(|channel| self.fabric.into_port_0(switch) != Some(*channel));
        let time = |channel: &ChannelId| {
            let of = self.channel(*channel);
            (of.flit, of.bytes.of(1 << 16))
        };
        let fastest = real.min_by_key(time).expect("a switch with an end has a cable");
        // Packets from port 0 use a buffer like that of the fastest cable.
        let alike = if into_end { fastest } else { Fabric::reverse(fastest) };
        let slack = if into_end { None } else { self.channel(alike).slack };
        ChannelPlan { delay: Span::ZERO, slack, ..*self.channel(fastest) }
    }

    /// Returns whether every path of an endpoint pair exists.
    pub fn is_routed(&self, from: EndpointId, to: EndpointId) -> bool {
        self.routing.path_ids().all(|path| self.path(path, from, to).is_some())
    }

    pub(crate) fn is_port_0(&self, node: NodeId) -> bool {
        self.fabric.node(node).kind == gingham_topology::NodeKind::Port0
    }

    /// Returns the channel to port 0 of the switch that read `packet` from `input` and diverted it.
    pub fn into_end(&self, input: ChannelId, packet: &Packet) -> ChannelId {
        let switch = self.fabric.target(input).node;
        debug_assert_eq!(self.fabric.port_0(switch), Some(packet.destination), "of this switch");
        self.fabric.into_port_0(switch).expect("a switch that diverts has a port 0")
    }
}

impl Endpoints {
    /// Handles a packet that a switch has read at `now` ([`Notice::Read`]). Returns the channel to
    /// port 0 if the packet was diverted.
    #[inline(never)]
    pub fn read(
        &mut self,
        now: Time,
        (input, lane): (ChannelId, u8),
        waiting_flits: u64,
        packet: &mut Packet,
    ) -> Option<ChannelId> {
        let before = packet.destination;
        self.notify(now, Notice::Read { input, lane, waiting_flits, packet });
        (packet.destination != before).then(|| self.plan().into_end(input, packet))
    }
}
