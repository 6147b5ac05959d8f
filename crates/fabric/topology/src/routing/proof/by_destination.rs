//! The turns of all packets for one destination at a time.
//!
//! ```text
//!   toward h5:   s0 ──► s2 ──► s5 ──► h5      each switch goes on by one channel, so that ways
//!                s1 ──► s2                     which meet stay together: s2 to s5 is looked at once
//! ```
//!
//! Where a destination has one port a switch (a column), every switch is looked at once a
//! destination and dateline class, and not once a pair: O(switches) a destination. Paths that are
//! kept one by one are followed one by one.
//!
//! Which lanes a packet may take depends here on its VC class, its dateline class and the channel
//! alone, and the class on the destination besides, but not on who sent it; so turns are collected between dateline classes of channels, and
//! come to lanes at the end. Where tables decide on lanes, `by_level` does the same.

use super::column::Column;
use super::turns::Turns;
use crate::parallel::Part;
use crate::routing::lanes::{DatelineClass, Lanes};
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::routes::{RouteRow, Routes, RowPaths};
use crate::{ChannelId, EndpointId, Fabric, NodeId};

/// Whose packets count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Counted {
    /// Those of all endpoints.
    All,
    /// Those from hosts to hosts.
    BetweenHosts,
    /// Those that come to an end, be it the wrong one.
    WithoutLoops,
}

/// Collects turns, with room that every destination uses again.
pub(super) struct Collector<'a> {
    fabric: &'a Fabric,
    graph: &'a SwitchGraph,
    lanes: Option<&'a Lanes>,
    counted: Counted,
    column: Column<'a>,
    /// By switch and dateline class: the row whose packets came there last.
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

    /// Adds the turns of a part of the rows of routes.
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

    /// The switches from which packets that count go to other switches.
    fn entries(&self, row: &RouteRow<'a>) -> impl Iterator<Item = NodeId> + use<'a> {
        let (graph, between_hosts) = (self.graph, self.counted == Counted::BetweenHosts);
        let (switch, destinations) = (row.switch, row.destinations);
        let leads_to_host = destinations.iter().any(|to| graph.is_host(*to));
        let sends = move |source: &NodeId| {
            let counts = |from: EndpointId| !between_hosts || graph.is_host(from);
            // On the switch of a lone destination somebody else must be there to send.
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

    /// Follows the column to what hangs on the switch `to` from another, up to where packets for
    /// the same destination have been.
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

    /// The dateline class of a packet from one switch to another in its first channel between
    /// switches.
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

    /// Whether packets of this row come to a switch in a dateline class for the first time.
    fn is_new(&mut self, switch: NodeId, class: DatelineClass) -> bool {
        let classes = self.seen.len() / self.graph.switch_count();
        let seen = &mut self.seen[switch.index() * classes + usize::from(class.0)];
        std::mem::replace(seen, self.row) != self.row
    }
}
