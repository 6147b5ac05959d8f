//! Progress of a packet on its route.

use crate::{Packet, PathLength, Plan};
use gingham_topology::routing::{DatelineClass, KeptPath, LaneSet, Routes, SourceRoutes};
use gingham_topology::{ChannelId, NodeId};

/// Position of a packet's head on its route.
#[derive(Clone, Copy, Debug, Default)]
pub struct RouteState {
    /// Source route after its look-up; for a diverted packet, the shortened path.
    path: Option<KeptPath>,
    /// Number of switches and in-transit hosts that have routed the head. Code outside this module
    /// may set it only on a path known in advance.
    pub hops: u16,
    /// Value of `hops` at the start of the current leg; used only on paths via a switch.
    leg_began: u16,
    leg: u8,
    /// Dateline class on the last channel, within the current leg.
    pub dateline_class: DatelineClass,
}

impl RouteState {
    /// Returns the state of a packet that enters the network; `first_node` is the node at the other
    /// end of the source's cable.
    #[expect(clippy::inline_always, reason = "a packet's record is built in its place")]
    #[inline(always)]
    pub fn new(plan: &Plan, packet: &Packet, first_node: NodeId) -> Self {
        let path = match plan.routing.routes(packet.path_id) {
            Routes::Source(routes) if plan.is_switch(first_node) => {
                routes.kept(first_node, plan.routing.end_of_leg(packet, 0))
            }
            _ => None,
        };
        Self { path, ..Self::default() }
    }

    /// Records that the head has reached the switch `node`. Returns the outgoing channel there.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub fn output(
        &mut self,
        plan: &Plan,
        packet: &Packet,
        node: impl FnOnce() -> NodeId,
    ) -> ChannelId {
        let output = match self.path {
            _ if packet.path_id.via().is_some() => self.output_over_switch(plan, packet, node()),
            Some(path) if path.ends_after(self.hops.into()) => Some(path.ejection()),
            path => match (plan.routing.routes(packet.path_id), path) {
                (Routes::Source(routes), Some(path)) => {
                    Some(routes.channel(&plan.fabric, path, self.hops.into(), node))
                }
                (Routes::Source(routes), None) => {
                    self.output_by_look_up(routes, plan, packet, node())
                }
                (Routes::Table(_), Some(path)) => Some(path.ejection()),
                (Routes::Table(tables), None) => {
                    let node = node();
                    let port = tables.port(node, packet.destination);
                    port.and_then(|port| plan.fabric.outgoing(node, port))
                }
            },
        };
        self.hops += 1;
        output.expect("packets take paths that exist")
    }

    #[inline(never)]
    fn output_by_look_up(
        &self,
        routes: &SourceRoutes,
        plan: &Plan,
        packet: &Packet,
        node: NodeId,
    ) -> Option<ChannelId> {
        let path = routes.kept(first_node(plan, packet), packet.destination)?;
        Some(routes.channel(&plan.fabric, path, self.hops.into(), || node))
    }

    #[inline(never)]
    fn output_over_switch(
        &mut self,
        plan: &Plan,
        packet: &Packet,
        node: NodeId,
    ) -> Option<ChannelId> {
        let switch = |endpoint| plan.fabric.target(plan.fabric.endpoint_channel(endpoint)).node;
        let ending = self.path.filter(|path| path.is_ending());
        if self.leg == 0 && switch(plan.routing.end_of_leg(packet, 0)) == node {
            // The second leg starts here even if this switch diverts the packet.
            let Self { hops, .. } = *self;
            *self = Self { leg: 1, leg_began: hops, hops, path: ending, ..Self::default() };
        }
        if let Some(path) = ending {
            return Some(path.ejection());
        }
        let to = plan.routing.end_of_leg(packet, self.leg);
        match (plan.routing.routes(packet.path_id), self.path) {
            (Routes::Table(tables), _) => {
                tables.port(node, to).and_then(|port| plan.fabric.outgoing(node, port))
            }
            (Routes::Source(routes), path) => {
                self.path = path.or_else(|| routes.kept(node, to));
                let position = u32::from(self.hops - self.leg_began);
                self.path.map(|path| routes.channel(&plan.fabric, path, position, || node))
            }
        }
    }

    /// Counts a switch with adaptive output selection, in place of [`Self::output`].
    #[inline]
    pub fn pass_adaptive_switch(&mut self) {
        self.hops += 1;
    }

    /// Updates the dateline class for a head that moves from channel `incoming` to `outgoing`.
    /// Returns the permitted lanes.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub fn enter(
        &mut self,
        plan: &Plan,
        packet: &Packet,
        incoming: ChannelId,
        outgoing: ChannelId,
    ) -> LaneSet {
        let allowed = &plan.lanes.allowed;
        let vc_class = allowed.on_leg(packet.vc_class, self.leg);
        if let Some(lanes) = allowed.everywhere(vc_class) {
            return lanes;
        }
        let (lanes, dateline_class) = allowed.onward(
            &plan.fabric,
            vc_class,
            self.dateline_class,
            incoming,
            outgoing,
            plan.routing.end_of_leg(packet, self.leg),
        );
        debug_assert!(!lanes.is_empty(), "a packet has a lane wherever it goes");
        self.dateline_class = dateline_class;
        lanes
    }

    /// Starts the next leg at an in-transit host.
    pub fn reinject(&mut self) {
        self.hops += 1;
        self.leg = self.leg.saturating_add(1);
        self.dateline_class = DatelineClass::default();
    }

    /// Ends the path at the current switch; `into_end` is the channel to the switch's port 0.
    pub fn divert(&mut self, plan: &Plan, packet: &Packet, into_end: ChannelId) {
        let onward = u32::from(self.hops);
        let in_transit_hosts = match (plan.routing.routes(packet.path_id), self.path) {
            (Routes::Source(routes), Some(path)) if packet.path_id.via().is_none() => {
                let first = first_node(plan, packet);
                routes.in_transit_hosts_before(&plan.fabric, path, onward, first)
            }
            _ => 0,
        };
        self.path = Some(KeptPath::ending_with(into_end, onward, in_transit_hosts));
    }

    /// Returns the number of in-transit hosts on the path.
    pub fn in_transit_hosts(&self) -> u16 {
        let hosts = self.path.map_or(0, KeptPath::in_transit_hosts);
        u16::try_from(hosts).expect("a path has few in-transit hosts")
    }

    /// Returns the length of the whole path; `first_node` is the node at the other end of the
    /// source's cable.
    pub fn length(&self, plan: &Plan, packet: &Packet, first_node: NodeId) -> PathLength {
        match self.path.filter(|_| packet.path_id.via().is_none()) {
            Some(path) => path.into(),
            None => plan.length_from(packet.path_id, first_node, packet.destination),
        }
    }
}

fn first_node(plan: &Plan, packet: &Packet) -> NodeId {
    plan.fabric.target(plan.fabric.endpoint_channel(packet.source)).node
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClassId, Content, Decision, PathId, Priority, RoutingScheme};
    use gingham_topology::EndpointId;
    use gingham_topology::generate::{Generator, Mesh};
    use gingham_topology::routing::{Algorithm, DimensionOrder, Form, Lanes, VcClass, route};

    fn plan(form: Form) -> Plan {
        let mesh = Mesh { dimensions: vec![3, 2], hosts_per_switch: 1, rails: 1 };
        let fabric = Generator::Mesh(mesh).generate(1).unwrap();
        let algorithm = Algorithm::DimensionOrder(DimensionOrder::default());
        let routes = route(&fabric, &algorithm, form).unwrap();
        let vias = fabric.endpoint_ids().collect();
        let mut plan = crate::adapter::tests::plan_over(fabric, routes.clone());
        plan.routing =
            RoutingScheme::over_switches(routes, vias, Decision::AtRandom { alternative: 1.0 });
        plan.lanes.allowed = Lanes::free(&[LaneSet::first_n(4)]).with_legs(2);
        plan
    }

    fn packet(ends: (EndpointId, EndpointId), path_id: PathId) -> Packet {
        let level = (Priority::default(), VcClass(0));
        let packet = Packet::without_message(Content::Control, ClassId::new(0), ends, level, 32);
        Packet { path_id, ..packet }
    }

    fn followed(plan: &Plan, packet: &Packet) -> (Vec<ChannelId>, Vec<LaneSet>) {
        let mut incoming = plan.fabric.endpoint_channel(packet.source);
        let target = |channel| plan.fabric.target(channel).node;
        let mut state = RouteState::new(plan, packet, target(incoming));
        let (mut channels, mut lanes) = (vec![incoming], Vec::new());
        while plan.is_switch(target(incoming)) {
            let outgoing = state.output(plan, packet, || target(incoming));
            lanes.push(state.enter(plan, packet, incoming, outgoing));
            channels.push(outgoing);
            incoming = outgoing;
        }
        (channels, lanes)
    }

    #[test]
    fn packets_follow_both_legs_over_a_switch() {
        for form in [Form::Table, Form::Source] {
            let plan = plan(form);
            let mut two_legs = 0;
            for (source, to) in plan.fabric.endpoint_ids().flat_map(|source| {
                plan.fabric.endpoint_ids().map(move |to| (source, to)).filter(|(a, b)| a != b)
            }) {
                for via in 0..plan.routing.vias.len() {
                    let path_id = PathId::over(via);
                    let (channels, lanes) = followed(&plan, &packet((source, to), path_id));
                    let legs = plan.legs(path_id, source, to).unwrap();
                    assert_eq!(channels, legs.concat(), "{form:?}, over {via}");
                    let along = plan.lanes_along(path_id, (source, to), VcClass(0)).unwrap();
                    let followed: Vec<_> =
                        channels.iter().copied().skip(1).zip(lanes.iter().copied()).collect();
                    assert_eq!(along, followed, "{form:?}, over {via}");
                    let switches =
                        plan.length_from(path_id, plan.fabric.target(channels[0]).node, to);
                    assert_eq!(switches, plan.length_of(&channels[1..]));
                    if let [first, second] = &legs[..] {
                        two_legs += usize::from(first.len() > 1 && second.len() > 1);
                        let of = |lanes: [u8; 2]| lanes.into_iter().collect::<LaneSet>();
                        assert!(lanes[..first.len() - 1].iter().all(|taken| *taken == of([0, 1])));
                        assert_eq!(lanes.len(), first.len() - 1 + second.len());
                        assert!(lanes[first.len() - 1..].iter().all(|taken| *taken == of([2, 3])));
                    }
                }
            }
            assert_eq!(
                two_legs,
                6 * 5 * 4,
                "every other switch is intermediate once for each pair"
            );
        }
    }
}
