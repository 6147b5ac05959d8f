//! Ends of switches in a plan: what a switch takes in, and what it sends itself.
//!
//! ```text
//!   h0 ──► s0 ──► s1 ──► h2          read at s1, and diverted:   h0 ──► s0 ──► s1 ──► s1[0]
//!                                    what s1[0] sends:                  s1[0] ──► s1 ──► any host
//! ```
//!
//! The end of a switch is an endpoint ([`Fabric::with_ports_0`]) behind an ideal cable: of no delay,
//! and as fast as the fastest of the switch. It takes in all that comes, and its packets wait in an
//! adapter as those of hosts do. No source is there, and no path leads there: whoever is told that a
//! switch has read a packet may divert it ([`Endpoints::read`]), so that its path ends with the one
//! channel to the end of that switch.
//!
//! Invariant: all ids of a plan without ends of switches mean the same in one with them.

use crate::{ChannelPlan, Endpoints, Notice, Packet, Plan};
use gingham_kernel::{Span, Time};
use gingham_topology::ChannelId;
use gingham_topology::{EndpointId, Fabric, NodeId};

impl Plan {
    /// The same plan, whose switches have ends of their own. Paths lead from all of them where
    /// routes are tables, or were made of a fabric with ends of switches; else from those of
    /// switches on which endpoints hang.
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

    /// A channel between a switch and its end: what the fastest channel from the switch is, without
    /// its delay.
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
        // What comes from the end waits in a buffer like that of what comes by the fastest cable.
        let alike = if into_end { fastest } else { Fabric::reverse(fastest) };
        let slack = if into_end { None } else { self.channel(alike).slack };
        ChannelPlan { delay: Span::ZERO, slack, ..*self.channel(fastest) }
    }

    /// Whether paths of every set lead from one endpoint to another.
    pub fn is_routed(&self, from: EndpointId, to: EndpointId) -> bool {
        self.sets().all(|set| self.path(set, from, to).is_some())
    }

    /// Whether a node is the end of a switch.
    pub(crate) fn is_port_0(&self, node: NodeId) -> bool {
        self.fabric.node(node).kind == gingham_topology::NodeKind::Port0
    }
}

impl Endpoints {
    /// A switch has read a packet `now` ([`Notice::Read`]), which came by this input and lane.
    /// Returns the channel to the end of the switch, by which it goes on, if it was diverted. What
    /// is to be done on account of it is told by [`Self::next_order`].
    #[inline(never)]
    pub fn read(
        &mut self,
        now: Time,
        (input, lane): (ChannelId, u8),
        waiting_flits: u64,
        packet: &mut Packet,
    ) -> Option<ChannelId> {
        let before = packet.destination;
        self.tell(now, Notice::Read { input, lane, waiting_flits, packet });
        (packet.destination != before).then(|| {
            let fabric = &self.plan().fabric;
            let switch = fabric.target(input).node;
            let into = fabric.into_port_0(switch).expect("what diverts knows of an end");
            debug_assert_eq!(fabric.port_0(switch), Some(packet.destination), "of this switch");
            into
        })
    }
}
