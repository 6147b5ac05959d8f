//! Buffer dependencies with adaptive routing.
//!
//! ```text
//!   escape  (s0 ► s1, lane 0)  ──► (s1 ► t, lane 0)        next channel in the tables
//!                              └─► (s2 ► t, lane 0)        after an adaptive lane to s2
//! ```
//!
//! Only escape lanes have dependencies. Between two escape lanes a packet may use adaptive lanes,
//! so dependencies lead to the escape lanes of every switch on the remaining shortest paths (direct
//! and indirect dependencies of Duato's extended graph). A lane that is an escape lane of one VC
//! class and adaptive for another counts for packets of both classes (cross dependencies).
//!
//! If this graph is acyclic, every packet eventually moves, provided that no packet is queued
//! behind another on an adaptive lane while it still holds escape lanes. Lanes must therefore store
//! whole packets (virtual cut-through), or be empty before they accept another packet.
//!
//! Without escape lanes, a dependency leads from every channel that a packet may take to every
//! possible next channel.
//!
//! Source: Duato, "A necessary and sufficient condition for deadlock-free adaptive routing in
//! wormhole networks", IEEE Transactions on Parallel and Distributed Systems 6(10), 1995,
//! definitions 6 to 10; whole packets: Ma, Enright Jerger and Wang, "Whole packet forwarding", HPCA
//! 2012; one message per queue: Duato 1993 (`lanes/escape.rs`), section II.

use super::by_destination::Counted;
use super::lane_groups::LaneGroups;
use crate::routing::lanes::{Buffer, LaneRule, LaneSet, Lanes, RouteSet, VcClass};
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::{ShortestHops, TableRoutes};
use crate::{ChannelId, EndpointId, Fabric, NodeId};

type Row = Vec<u64>;

pub(super) struct AdaptiveCollector<'a> {
    fabric: &'a Fabric,
    graph: &'a SwitchGraph,
    tables: &'a TableRoutes,
    hops: &'a ShortestHops,
    lanes: Option<&'a Lanes>,
    groups: &'a LaneGroups,
    counted: Counted,
    vertices: LaneSet,
    /// By vertex (`channel * groups + group`): vertices that a packet holding it may wait for.
    rows: Vec<Row>,
}

impl<'a> AdaptiveCollector<'a> {
    pub(super) fn new(
        fabric: &'a Fabric,
        graph: &'a SwitchGraph,
        (tables, routes): (&'a TableRoutes, RouteSet<'a>),
        groups: &'a LaneGroups,
        counted: Counted,
    ) -> Self {
        let hops = tables.adaptive_hops().expect("packets choose");
        let vertices = match routes.lanes.map(Lanes::rule) {
            Some(LaneRule::Escape(escape)) => escape.all_escape(),
            _ => LaneSet::from_bits(u16::MAX),
        };
        let rows = vec![Row::new(); fabric.channel_count() * groups.count()];
        let lanes = routes.lanes;
        Self { fabric, graph, tables, hops, lanes, groups, counted, vertices, rows }
    }

    pub(super) fn collect(mut self) -> Vec<Vec<usize>> {
        for end in self.graph.switches() {
            let counts = |to: &&EndpointId| {
                self.counted != Counted::BetweenHosts || self.graph.is_host(**to)
            };
            // Without escape lanes, the choice does not depend on the tables, and the endpoints of
            // a switch differ only in the last channel.
            let differing = if self.skips() { usize::MAX } else { 1 };
            let residents: Vec<EndpointId> =
                self.graph.residents(end).iter().filter(counts).take(differing).copied().collect();
            for to in residents {
                for vc_class in self.vc_classes() {
                    self.add(end, to, vc_class);
                }
            }
        }
        let members = |row: &Row| {
            let bits = |(number, word): (usize, &u64)| {
                let word = *word;
                (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| number * 64 + bit)
            };
            row.iter().enumerate().flat_map(bits).collect()
        };
        self.rows.iter().map(members).collect()
    }

    fn vc_classes(&self) -> Vec<VcClass> {
        self.lanes.map_or_else(|| vec![VcClass(0)], |lanes| lanes.vc_classes().collect())
    }

    fn add(&mut self, end: NodeId, to: EndpointId, vc_class: VcClass) {
        let reached = self.reached(end, to);
        let width = self.rows.len().div_ceil(64);
        let nearest_first = self.nearest_first(end);
        let ahead = self.ahead(&nearest_first, end, to, vc_class);
        for &switch in nearest_first.iter().filter(|of| **of != end && reached[of.index()]) {
            for (channel, is_by_table) in self.tables.onward(self.fabric, switch, to) {
                let held = self.taken(vc_class, (channel, is_by_table), to) & self.vertices;
                let onward = &ahead[self.fabric.target(channel).node.index()];
                for group in self.groups.within(held).filter(|_| !onward.is_empty()) {
                    let vertex = channel.index() * self.groups.count() + group;
                    self.rows[vertex].resize(width, 0);
                    join(&mut self.rows[vertex], onward);
                }
            }
        }
    }

    /// Returns, by switch, the vertices that packets may wait for at that switch or later.
    fn ahead(
        &self,
        nearest_first: &[NodeId],
        end: NodeId,
        to: EndpointId,
        vc_class: VcClass,
    ) -> Vec<Row> {
        let mut ahead: Vec<Row> = vec![Row::new(); self.graph.switch_count()];
        for &switch in nearest_first.iter().filter(|switch| **switch != end) {
            let mut row = vec![0; self.rows.len().div_ceil(64)];
            for (channel, is_by_table) in self.tables.onward(self.fabric, switch, to) {
                self.mark(&mut row, channel, self.wanted(vc_class, (channel, is_by_table), to));
                if self.skips() {
                    join(&mut row, &ahead[self.fabric.target(channel).node.index()]);
                }
            }
            ahead[switch.index()] = row;
        }
        ahead
    }

    /// Returns whether packets may bypass escape lanes by taking adaptive lanes.
    fn skips(&self) -> bool {
        matches!(self.lanes.map(Lanes::rule), Some(LaneRule::Escape(_)))
    }

    fn nearest_first(&self, end: NodeId) -> Vec<NodeId> {
        let hops = |switch: &NodeId| self.hops.between(*switch, end);
        let mut switches: Vec<_> =
            self.graph.switches().filter(|switch| hops(switch).is_some()).collect();
        switches.sort_by_key(hops);
        switches
    }

    fn reached(&self, end: NodeId, to: EndpointId) -> Vec<bool> {
        let mut reached = vec![false; self.graph.switch_count()];
        let counts = |from: &EndpointId| {
            *from != to && (self.counted != Counted::BetweenHosts || self.graph.is_host(*from))
        };
        let begins = |switch: &NodeId| self.graph.senders(*switch).any(|from| counts(&from));
        let mut left: Vec<NodeId> = self.graph.switches().filter(begins).collect();
        while let Some(switch) = left.pop() {
            if !std::mem::replace(&mut reached[switch.index()], true) && switch != end {
                let onward = self.tables.onward(self.fabric, switch, to);
                left.extend(onward.map(|(channel, _)| self.fabric.target(channel).node));
            }
        }
        reached
    }

    fn taken(&self, vc_class: VcClass, channel: (ChannelId, bool), to: EndpointId) -> LaneSet {
        let chosen = |lanes: &Lanes| lanes.chosen(self.fabric, vc_class, channel, to);
        self.lanes.map_or(LaneSet::one(0), chosen)
    }

    /// Returns lanes that guarantee progress as soon as one of them is free.
    fn wanted(&self, vc_class: VcClass, channel: (ChannelId, bool), to: EndpointId) -> LaneSet {
        let taken = self.taken(vc_class, channel, to);
        match self.lanes.map(Lanes::rule) {
            Some(LaneRule::Escape(escape)) => taken.without(escape.adaptive(vc_class.0.into())),
            _ => taken,
        }
    }

    fn mark(&self, row: &mut Row, channel: ChannelId, lanes: LaneSet) {
        for group in self.groups.within(lanes) {
            let vertex = channel.index() * self.groups.count() + group;
            row[vertex / 64] |= 1 << (vertex % 64);
        }
    }
}

impl AdaptiveCollector<'_> {
    pub(super) fn witnesses(&self, cycle: &[Buffer]) -> Vec<Option<(EndpointId, EndpointId)>> {
        let mut found = vec![None; cycle.len()];
        let are_hosts = |(from, to)| self.graph.is_host(from) && self.graph.is_host(to);
        let of_switch = |end| self.graph.residents(end).iter().map(move |to| (end, *to));
        let mut ends: Vec<_> = self.graph.switches().flat_map(of_switch).collect();
        ends.sort_by_key(|(_, to)| !self.graph.is_host(*to));
        for (end, to) in ends {
            if found.iter().all(|pair| pair.is_some_and(are_hosts)) {
                break;
            }
            let nearest_first = self.nearest_first(end);
            for vc_class in self.vc_classes() {
                let ahead = self.ahead(&nearest_first, end, to, vc_class);
                for (index, held) in cycle.iter().enumerate() {
                    let wanted = cycle[(index + 1) % cycle.len()];
                    if !found[index].is_some_and(are_hosts)
                        && self.leads(&ahead, (*held, wanted), to, vc_class)
                        && let Some(from) = self.sender(held.channel, end)
                        && (found[index].is_none() || are_hosts((from, to)))
                    {
                        found[index] = Some((from, to));
                    }
                }
            }
        }
        found
    }

    fn leads(
        &self,
        ahead: &[Row],
        (held, wanted): (Buffer, Buffer),
        to: EndpointId,
        vc_class: VcClass,
    ) -> bool {
        let [from, onward] =
            [self.fabric.source(held.channel), self.fabric.target(held.channel)].map(|of| of.node);
        let vertex =
            wanted.channel.index() * self.groups.count() + self.groups.of(wanted.lane.into());
        let waits = ahead[onward.index()]
            .get(vertex / 64)
            .is_some_and(|word| word >> (vertex % 64) & 1 == 1);
        let holds = |channel: (ChannelId, bool)| {
            channel.0 == held.channel && self.taken(vc_class, channel, to).contains(held.lane)
        };
        waits && self.tables.onward(self.fabric, from, to).any(holds)
    }

    fn sender(&self, channel: ChannelId, end: NodeId) -> Option<EndpointId> {
        let by = self.fabric.source(channel).node;
        let left = self.hops.between(by, end)?;
        let comes_by = |switch: &NodeId| {
            let hops = self.hops.between(*switch, by).map(|hops| hops + left);
            hops.is_some() && hops == self.hops.between(*switch, end)
        };
        let senders =
            || self.graph.switches().filter(comes_by).flat_map(|of| self.graph.senders(of));
        senders().find(|from| self.graph.is_host(*from)).or_else(|| senders().next())
    }
}

fn join(all: &mut Row, more: &Row) {
    for (all, more) in all.iter_mut().zip(more) {
        *all |= more;
    }
}
