//! Worms in flight and their paths.

use gingham_kernel::{Time, id_type};
use gingham_net::{Arrival, Packet, PathLength, Plan, RouteState, WormholePlan};
use gingham_topology::{ChannelId, NodeId};

id_type!(
    /// Index of a worm in flight; reused after delivery.
    WormId
);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Worm {
    pub(crate) packet: Packet,
    pub(crate) route: RouteState,
    length: PathLength,
    /// Arrival time of the first flit at the destination, in ps; set once the tail has left the
    /// last switch.
    head_arrived: u64,
}

impl Worm {
    #[expect(clippy::inline_always, reason = "a worm is built where it is kept")]
    #[inline(always)]
    pub(crate) fn new(plan: &Plan, packet: Packet, first_node: NodeId) -> Self {
        let route = RouteState::new(plan, &packet, first_node);
        let length = route.length(plan, &packet, first_node);
        Self { packet, route, length, head_arrived: 0 }
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn route_at(&mut self, plan: &Plan, node: impl FnOnce() -> NodeId) -> ChannelId {
        self.route.output(plan, &self.packet, node)
    }

    pub(crate) fn flits(&self, wormhole: &WormholePlan) -> u64 {
        wormhole.worm_flits(self.packet.payload_bytes, self.length)
    }

    pub(crate) fn arrival(&self, wormhole: &WormholePlan, now: u64) -> Arrival {
        let count = |of: usize| u16::try_from(of).expect("a route has few switches");
        Arrival {
            payload_bytes: self.packet.payload_bytes,
            wire_bytes: self.flits(wormhole),
            hops: count(self.length.switches),
            in_transit_hosts: count(self.length.in_transit_hosts),
            head_arrived: Time::from_ps(self.head_arrived),
            arrived: Time::from_ps(now),
        }
    }
}

/// Worm that arrives, or will arrive, at the end of a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    pub(crate) worm: WormId,
    /// Sequence number of the worm's first flit on the channel.
    pub(crate) first: u64,
    pub(crate) flits: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Worms {
    worms: Vec<Worm>,
    free: Vec<WormId>,
}

impl Worms {
    #[expect(clippy::inline_always, reason = "a worm is built where it is kept")]
    #[inline(always)]
    pub(crate) fn insert(&mut self, worm: Worm) -> WormId {
        if let Some(id) = self.free.pop() {
            self.worms[id.index()] = worm;
            return id;
        }
        self.worms.push(worm);
        WormId::new(self.worms.len() - 1)
    }

    pub(crate) fn remove(&mut self, id: WormId) -> &Worm {
        self.free.push(id);
        &self.worms[id.index()]
    }

    pub(crate) fn len(&self) -> usize {
        self.worms.len() - self.free.len()
    }

    pub(crate) fn set_head_arrived(&mut self, id: WormId, time: u64) {
        self.worms[id.index()].head_arrived = time;
    }

    pub(crate) fn get_mut(&mut self, id: WormId) -> &mut Worm {
        &mut self.worms[id.index()]
    }

    pub(crate) fn get(&self, id: WormId) -> &Worm {
        &self.worms[id.index()]
    }
}
