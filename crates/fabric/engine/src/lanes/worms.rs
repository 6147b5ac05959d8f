//! Worms in flight and their paths.

use gingham_kernel::{Time, id_type};
use gingham_net::{Arrival, Packet, PipelinePlan, Plan};
use gingham_topology::routing::{DatelineClass, KeptPath, LaneSet, Routes};
use gingham_topology::{ChannelId, NodeId};

id_type!(
    /// Index of a worm in flight; reused after its delivery.
    WormId
);

id_type!(
    /// Index of a worm at an in-transit host; reused after it has left the host.
    InTransitId
);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Worm {
    pub(crate) packet: Packet,
    pub(crate) flits: u32,
    /// Number of switches and in-transit hosts that have routed the head.
    pub(crate) position: u16,
    pub(crate) dateline_class: DatelineClass,
    /// Index of its first hop in the columns' paths, from its first switch on; 0 if unknown.
    pub(crate) hops: u32,
    /// Stored path, if it is chosen at the source and stored, or was cut short on the way.
    path: Option<KeptPath>,
    /// Start of its first flit at its host or at the last in-transit host, in ps.
    pub(crate) began_ps: u64,
    /// Arrival time of its whole first flit at its destination, in ps.
    pub(crate) head_arrived_ps: u64,
}

impl Worm {
    /// Returns the lanes of `outgoing` that the head may take after `incoming`, and the dateline
    /// class of the packet there.
    #[inline]
    pub(crate) fn lanes_onward(
        &self,
        plan: &Plan,
        incoming: ChannelId,
        outgoing: ChannelId,
    ) -> (LaneSet, DatelineClass) {
        let Packet { vc_class, destination, .. } = self.packet;
        plan.lanes.allowed.onward(
            &plan.fabric,
            vc_class,
            self.dateline_class,
            incoming,
            outgoing,
            destination,
        )
    }

    /// Returns the worm of an injected packet. `first_node` is at the end of its host's cable; the
    /// first flit begins at `began_ps`.
    #[inline]
    fn new(
        plan: &Plan,
        lanes: &PipelinePlan,
        packet: Packet,
        first_node: NodeId,
        began_ps: u64,
        keeps_path: bool,
    ) -> Self {
        let Packet { path_set, destination, .. } = packet;
        let path = match plan.routes(path_set) {
            Routes::Source(routes) if keeps_path && plan.is_switch(first_node) => {
                routes.kept(first_node, destination)
            }
            _ => None,
        };
        let flits = lanes.packet_flits(packet.payload_bytes);
        let flits = u32::try_from(flits).expect("a packet has fewer than 2^32 bytes");
        Self {
            packet,
            flits,
            position: 0,
            dateline_class: DatelineClass::default(),
            hops: 0,
            path,
            began_ps,
            head_arrived_ps: 0,
        }
    }

    /// Returns the worm's outgoing channel at `node`, the switch or host that its head has reached.
    #[inline]
    pub(crate) fn output(&self, plan: &Plan, node: impl FnOnce() -> NodeId) -> ChannelId {
        let output = match (plan.routes(self.packet.path_set), self.path) {
            (Routes::Source(routes), path) => {
                let find = || routes.kept(self.first_node(plan), self.packet.destination);
                let path = path.or_else(find);
                path.map(|path| routes.channel(&plan.fabric, path, self.position.into(), node))
            }
            (Routes::Table(_), Some(path)) => Some(path.ejection()),
            (Routes::Table(tables), None) => {
                let node = node();
                let port = tables.port(node, self.packet.destination);
                port.and_then(|port| plan.fabric.outgoing(node, port))
            }
        };
        output.expect("destinations are drawn among those that a route reaches")
    }

    /// Ends the path at the switch that the head has reached; the worm leaves by `into_end`, to
    /// port 0.
    pub(crate) fn divert(&mut self, plan: &Plan, into_end: ChannelId) {
        let onward = u32::from(self.position);
        let in_transit_hosts = match (plan.routes(self.packet.path_set), self.path) {
            (Routes::Source(routes), Some(path)) => {
                routes.in_transit_hosts_before(&plan.fabric, path, onward, self.first_node(plan))
            }
            _ => 0,
        };
        self.path = Some(KeptPath::ending_with(into_end, onward, in_transit_hosts));
    }

    fn first_node(&self, plan: &Plan) -> NodeId {
        plan.fabric.target(plan.fabric.endpoint_channel(self.packet.source)).node
    }

    /// Returns the arrival record of a worm that has arrived whole at `now`.
    pub(crate) fn arrival(&self, lanes: &PipelinePlan, now: u64) -> Arrival {
        let in_transit_hosts = self.path.map_or(0, KeptPath::in_transit_hosts);
        let in_transit_hosts = u16::try_from(in_transit_hosts).expect("they are few");
        Arrival {
            payload_bytes: self.packet.payload_bytes,
            wire_bytes: lanes.wire_bytes(self.flits.into()),
            hops: self.position - in_transit_hosts,
            in_transit_hosts,
            head_arrived: Time::from_ps(self.head_arrived_ps),
            arrived: Time::from_ps(now),
        }
    }
}

/// Worms by id; ids of delivered worms are reused.
#[derive(Clone, Debug)]
pub(crate) struct Worms {
    by_id: Vec<Worm>,
    free: Vec<WormId>,
    /// Whether new worms store their path. Not needed if columns have their hops: the path is then
    /// read rarely and looked up again.
    keep_paths: bool,
}

impl Worms {
    pub(crate) fn new(keep_paths: bool) -> Self {
        Self { by_id: Vec::new(), free: Vec::new(), keep_paths }
    }

    /// Adds the worm of an injected packet ([`Worm::new`]). Returns its id and its number of flits.
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

    /// Appends a slot for a worm.
    #[cold]
    fn add(&mut self, worm: Worm) -> WormId {
        self.by_id.push(worm);
        WormId::new(self.by_id.len() - 1)
    }

    /// Frees the id of a worm that has arrived; the worm remains readable until the id is reused.
    pub(crate) fn remove(&mut self, id: WormId) -> &Worm {
        self.free.push(id);
        &self.by_id[id.index()]
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
