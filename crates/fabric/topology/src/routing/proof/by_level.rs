//! Turns of all packets, one destination at a time, with lanes selected by tables.
//!
//! ```text
//!   toward h5, SL 3:   h0 on lane 0 ─► s0 ──► s2 ──► s5      after s2, both take the same lane
//!                      h1 on lane 1 ─► s0
//! ```
//!
//! The first lane of a packet depends on the service level of the pair and on the input port at the
//! first switch; every later lane depends only on service level and previous channel. For each
//! destination and switch, every combination of level and lane is therefore followed only once.

use super::by_destination::Counted;
use super::column::Column;
use super::lane_groups::LaneGroups;
use super::turns::Turns;
use crate::parallel::Part;
use crate::routing::lanes::route_set::Buffers;
use crate::routing::lanes::{DatelineClass, LEVELS, LaneSet, Lanes, VcClass};
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::routes::{RouteRow, Routes, RowPaths};
use crate::{ChannelId, EndpointId, Fabric, NodeId};

type LanesByLevel = [LaneSet; LEVELS];

pub(super) struct LevelCollector<'a> {
    fabric: &'a Fabric,
    graph: &'a SwitchGraph,
    lanes: &'a Lanes,
    groups: &'a LaneGroups,
    counted: Counted,
    column: Column<'a>,
    senders: Vec<Vec<EndpointId>>,
    left: Vec<(u64, LaneSet)>,
    row: u64,
}

impl<'a> LevelCollector<'a> {
    pub(super) fn new(
        fabric: &'a Fabric,
        graph: &'a SwitchGraph,
        lanes: &'a Lanes,
        groups: &'a LaneGroups,
        counted: Counted,
    ) -> Self {
        let senders = |switch| senders(fabric, graph, lanes, graph.senders(switch));
        Self {
            fabric,
            graph,
            lanes,
            groups,
            counted,
            column: Column::new(fabric, graph),
            senders: graph.switches().map(senders).collect(),
            left: vec![(0, LaneSet::EMPTY); graph.switch_count() * LEVELS],
            row: 0,
        }
    }

    pub(super) fn add(
        &mut self,
        routes: &'a Routes,
        lid_offset: u8,
        part: Part,
        turns: &mut Turns,
    ) {
        for row in part.of(routes.rows(self.graph)) {
            if let RowPaths::Single(routes) = row.paths {
                let to = row.destinations[0];
                for source in self.graph.switches() {
                    if let Some(onward) = routes.path(self.fabric, source, to) {
                        let path: Vec<_> = onward.before_the_last().collect();
                        self.add_path(source, &path, &row, lid_offset, turns);
                    }
                }
            } else {
                self.column.fill(&row);
                if self.counted == Counted::WithoutLoops {
                    self.column.cut_loops();
                }
                self.row += 1;
                for source in self.graph.switches() {
                    self.follow(source, &row, lid_offset, turns);
                }
            }
        }
    }

    fn follow(&mut self, source: NodeId, row: &RouteRow<'_>, lid_offset: u8, turns: &mut Turns) {
        let Some(first) = self.column.next(source) else { return };
        if self.column.end(first).is_none() {
            return;
        }
        for (level, entered) in (0..).zip(self.entered(source, first, row, lid_offset)) {
            let (mut switch, mut held, mut on) = (source, first, entered);
            while let Some(new) = self.new_among(switch, level, on) {
                let Some(end) = self.column.end(held) else { break };
                let Some(wanted) = self.column.next(end) else { break };
                let onward = self.after(level, held, wanted, row);
                if onward.is_empty() {
                    break;
                }
                let before = Buffers { channel: held, lanes: new };
                let after = Buffers { channel: wanted, lanes: onward };
                turns.add_between(self.groups, before, after);
                (switch, held, on) = (end, wanted, onward);
            }
        }
    }

    fn add_path(
        &self,
        source: NodeId,
        path: &[ChannelId],
        row: &RouteRow<'_>,
        lid_offset: u8,
        turns: &mut Turns,
    ) {
        let Some(first) = path.first() else { return };
        for (level, entered) in (0..).zip(self.entered(source, *first, row, lid_offset)) {
            let mut on = entered;
            for turn in path.windows(2) {
                let onward = self.after(level, turn[0], turn[1], row);
                if on.is_empty() || onward.is_empty() {
                    break;
                }
                let before = Buffers { channel: turn[0], lanes: on };
                turns.add_between(self.groups, before, Buffers { channel: turn[1], lanes: onward });
                on = onward;
            }
        }
    }

    fn entered(
        &self,
        source: NodeId,
        first: ChannelId,
        row: &RouteRow<'_>,
        lid_offset: u8,
    ) -> LanesByLevel {
        let counts = |endpoint: &EndpointId| {
            self.counted != Counted::BetweenHosts || self.graph.is_host(*endpoint)
        };
        let mut entered = [LaneSet::EMPTY; LEVELS];
        for &to in row.destinations.iter().filter(|to| counts(to)) {
            let senders = self.senders[source.index()].iter().copied();
            for sender in senders.filter(|sender| *sender != to && counts(sender)) {
                for vc_class in self.lanes.vc_classes_on(sender, to, lid_offset) {
                    let on = &mut entered[usize::from(vc_class.0)];
                    *on = *on | self.lanes.entered(self.fabric, (sender, to), first, vc_class);
                }
            }
        }
        entered
    }

    fn after(&self, level: u8, held: ChannelId, wanted: ChannelId, row: &RouteRow<'_>) -> LaneSet {
        if let Some(host) = self.fabric.endpoint_at(self.fabric.target(held)) {
            return self.lanes.first(host, VcClass(level));
        }
        // Tables treat all destinations of a row alike.
        let to = row.destinations[0];
        self.lanes.onward(self.fabric, VcClass(level), DatelineClass(0), held, wanted, to).0
    }

    fn new_among(&mut self, switch: NodeId, level: u8, lanes: LaneSet) -> Option<LaneSet> {
        let (row, known) = &mut self.left[switch.index() * LEVELS + usize::from(level)];
        if *row != self.row {
            (*row, *known) = (self.row, LaneSet::EMPTY);
        }
        let new = lanes.without(*known);
        *known = *known | new;
        (!new.is_empty()).then_some(new)
    }
}

/// Selects up to two of several equivalent endpoints, because one of the two may be the
/// destination.
fn senders(
    fabric: &Fabric,
    graph: &SwitchGraph,
    lanes: &Lanes,
    all: impl Iterator<Item = EndpointId>,
) -> Vec<EndpointId> {
    const SENDERS_ALIKE_MAX: usize = 2;
    if lanes.differ_by_pair() {
        return all.collect();
    }
    let mut senders: Vec<EndpointId> = Vec::new();
    for resident in all {
        let is_alike = |other: &&EndpointId| {
            graph.is_host(**other) == graph.is_host(resident)
                && lanes.treat_alike(fabric, **other, resident)
        };
        if senders.iter().filter(is_alike).count() < SENDERS_ALIKE_MAX {
            senders.push(resident);
        }
    }
    senders
}
