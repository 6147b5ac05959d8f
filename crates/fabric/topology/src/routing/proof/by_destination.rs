//! Turns of all packets, one destination at a time.
//!
//! Columns of output ports are visited once per destination and dateline class, not once per pair.
//! Lanes here do not depend on the sender (unlike in `by_level`); dateline classes are converted to
//! lanes at the end.

use super::column::Column;
use super::turns::Turns;
use crate::parallel::Part;
use crate::routing::lanes::{DatelineClass, Lanes};
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::routes::{RouteRow, Routes, RowPaths};
use crate::{ChannelId, EndpointId, Fabric, NodeId};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Counted {
    All,
    BetweenHosts,
    /// Paths without a loop, including paths to a wrong endpoint.
    WithoutLoops,
}

pub(super) struct Collector<'a> {
    fabric: &'a Fabric,
    graph: &'a SwitchGraph,
    lanes: Option<&'a Lanes>,
    counted: Counted,
    column: Column<'a>,
    seen: Vec<u64>,
    row: u64,
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        fabric: &'a Fabric,
        graph: &'a SwitchGraph,
        lanes: Option<&'a Lanes>,
        counted: Counted,
    ) -> Self {
        let classes = lanes.map_or(1, Lanes::dateline_classes);
        Self {
            fabric,
            graph,
            lanes,
            counted,
            column: Column::new(fabric, graph),
            seen: vec![0; graph.switch_count() * classes],
            row: 0,
        }
    }

    pub(super) fn add(&mut self, routes: &'a Routes, part: Part, turns: &mut Turns) {
        for row in part.of(routes.rows(self.graph)) {
            if let RowPaths::Single(routes) = row.paths {
                let to = row.destinations[0];
                for source in self.entries(&row) {
                    if let Some(onward) = routes.path(self.fabric, source, to) {
                        self.add_path((source, row.switch), onward.before_the_last(), turns);
                    }
                }
            } else {
                self.add_column(&row, turns);
            }
        }
    }

    fn entries(&self, row: &RouteRow<'a>) -> impl Iterator<Item = NodeId> + use<'a> {
        let (graph, between_hosts) = (self.graph, self.counted == Counted::BetweenHosts);
        let (switch, destinations) = (row.switch, row.destinations);
        let leads_to_host = destinations.iter().any(|to| graph.is_host(*to));
        let sends = move |source: &NodeId| {
            let counts = |from: EndpointId| !between_hosts || graph.is_host(from);
            // The destination of a row does not send to itself.
            let another = |from: &EndpointId| *source != switch || destinations != [*from];
            graph.senders(*source).filter(another).any(counts)
        };
        let counts = !between_hosts || leads_to_host;
        graph.switches().filter(move |source| counts && sends(source))
    }

    fn add_column(&mut self, row: &RouteRow<'a>, turns: &mut Turns) {
        self.column.fill(row);
        if self.counted == Counted::WithoutLoops {
            self.column.cut_loops();
        }
        self.row += 1;
        for source in self.entries(row) {
            self.follow(source, row.switch, turns);
        }
    }

    fn follow(&mut self, source: NodeId, to: NodeId, turns: &mut Turns) {
        let Some(mut held) = self.column.next(source) else { return };
        let mut class = self.first_class(source, held, to);
        let mut switch = source;
        while self.is_new(switch, class) {
            let Some(end) = self.column.end(held) else { return };
            let Some(wanted) = self.column.next(end) else { return };
            let onward = self.class_after(class, held, wanted, to);
            turns.add((held, class.0.into()), (wanted, onward.0.into()));
            (switch, held, class) = (end, wanted, onward);
        }
    }

    fn add_path(
        &self,
        (source, to): (NodeId, NodeId),
        channels: impl Iterator<Item = ChannelId>,
        turns: &mut Turns,
    ) {
        let mut before: Option<(ChannelId, DatelineClass)> = None;
        for channel in channels {
            let class = match before {
                None => self.first_class(source, channel, to),
                Some((held, class)) => {
                    let onward = self.class_after(class, held, channel, to);
                    turns.add((held, class.0.into()), (channel, onward.0.into()));
                    onward
                }
            };
            before = Some((channel, class));
        }
    }

    fn first_class(&self, source: NodeId, first: ChannelId, to: NodeId) -> DatelineClass {
        let sender = || self.graph.senders(source).next().expect("a packet has a sender");
        let own = || Fabric::reverse(self.graph.ejection(sender()));
        let none = DatelineClass(0);
        self.lanes.map_or(none, |lanes| lanes.class_after(none, own(), first, to))
    }

    fn class_after(
        &self,
        class: DatelineClass,
        held: ChannelId,
        wanted: ChannelId,
        to: NodeId,
    ) -> DatelineClass {
        self.lanes.map_or(DatelineClass(0), |lanes| lanes.class_after(class, held, wanted, to))
    }

    fn is_new(&mut self, switch: NodeId, class: DatelineClass) -> bool {
        let classes = self.seen.len() / self.graph.switch_count();
        let seen = &mut self.seen[switch.index() * classes + usize::from(class.0)];
        std::mem::replace(seen, self.row) != self.row
    }
}
