//! Worms in flight and their paths.

use gingham_kernel::{Time, id_type};
use gingham_net::{Arrival, Packet, PipelinePlan, Plan, RouteState};
use gingham_topology::NodeId;

id_type!(
    /// Index of a worm in flight; reused after delivery.
    WormId
);

id_type!(
    /// Index of a worm at an in-transit host; reused once the worm has left the host.
    InTransitId
);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Worm {
    pub(crate) packet: Packet,
    pub(crate) flits: u32,
    pub(crate) route: RouteState,
    /// Index in the column stepper's paths, from the first switch on; 0 if unknown.
    pub(crate) hops: u32,
    /// Start of the first flit at the source or last in-transit host, in ps.
    pub(crate) began_ps: u64,
    /// Time when the whole first flit arrived at the destination, in ps.
    pub(crate) head_arrived_ps: u64,
}

impl Worm {
    #[inline]
    fn new(
        plan: &Plan,
        lanes: &PipelinePlan,
        packet: Packet,
        first_node: NodeId,
        began_ps: u64,
        keeps_path: bool,
    ) -> Self {
        let route = if keeps_path {
            RouteState::new(plan, &packet, first_node)
        } else {
            RouteState::default()
        };
        let flits = lanes.packet_flits(packet.payload_bytes);
        let flits = u32::try_from(flits).expect("a packet has fewer than 2^32 bytes");
        Self { packet, flits, route, hops: 0, began_ps, head_arrived_ps: 0 }
    }

    pub(crate) fn arrival(&self, lanes: &PipelinePlan, now: u64) -> Arrival {
        let in_transit_hosts = self.route.in_transit_hosts();
        Arrival {
            payload_bytes: self.packet.payload_bytes,
            wire_bytes: lanes.wire_bytes(self.flits.into()),
            hops: self.route.hops - in_transit_hosts,
            in_transit_hosts,
            head_arrived: Time::from_ps(self.head_arrived_ps),
            arrived: Time::from_ps(now),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Worms {
    by_id: Vec<Worm>,
    free: Vec<WormId>,
    /// Whether worms store their paths; otherwise the column stepper has the hops, and paths are
    /// looked up again when needed.
    keep_paths: bool,
}

impl Worms {
    pub(crate) fn new(keep_paths: bool) -> Self {
        Self { by_id: Vec::new(), free: Vec::new(), keep_paths }
    }

    #[inline]
    pub(crate) fn begin(
        &mut self,
        plan: &Plan,
        lanes: &PipelinePlan,
        packet: Packet,
        first_node: NodeId,
        began_ps: u64,
    ) -> (WormId, u32) {
        let worm = Worm::new(plan, lanes, packet, first_node, began_ps, self.keep_paths);
        let id = self.free.pop().unwrap_or_else(|| self.add(worm));
        self.by_id[id.index()] = worm;
        (id, worm.flits)
    }

    #[cold]
    fn add(&mut self, worm: Worm) -> WormId {
        self.by_id.push(worm);
        WormId::new(self.by_id.len() - 1)
    }

    pub(crate) fn remove(&mut self, id: WormId) -> &Worm {
        self.free.push(id);
        &self.by_id[id.index()]
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len() - self.free.len()
    }

    #[inline]
    pub(crate) fn get(&self, id: WormId) -> &Worm {
        &self.by_id[id.index()]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: WormId) -> &mut Worm {
        &mut self.by_id[id.index()]
    }
}
