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
//! alone, and not on who sent it; so turns are collected between dateline classes of channels, and
//! come to lanes at the end.

use super::turns::Turns;
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

/// No channel.
const NO_CHANNEL: u32 = u32::MAX;

/// Collects turns, with room that every destination uses again.
pub(super) struct Collector<'a> {
    fabric: &'a Fabric,
    graph: &'a SwitchGraph,
    lanes: Option<&'a Lanes>,
    counted: Counted,
    /// By switch: the channel by which packets go on, or [`NO_CHANNEL`].
    next: Vec<u32>,
    /// By channel: the switch at its end, or none.
    ends: Vec<Option<NodeId>>,
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
        let end = |channel| {
            Some(fabric.target(channel).node).filter(|end| end.index() < graph.switch_count())
        };
        Self {
            fabric,
            graph,
            lanes,
            counted,
            next: vec![NO_CHANNEL; graph.switch_count()],
            ends: ChannelId::first(fabric.channel_count()).map(end).collect(),
            seen: vec![0; graph.switch_count() * classes],
            row: 0,
        }
    }

    /// Adds the turns of all routes.
    pub(super) fn add(&mut self, routes: &'a Routes, turns: &mut Turns) {
        for row in routes.rows(self.graph) {
            if let RowPaths::Single(routes) = row.paths {
                let to = row.destinations[0];
                for source in self.entries(&row) {
                    if let Some(onward) = routes.path(self.fabric, source, to) {
                        self.add_path(source, onward.before_the_last(), turns);
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
            let counts = |from: &EndpointId| !between_hosts || graph.is_host(*from);
            // On the switch of a lone destination somebody else must be there to send.
            let another = |from: &&EndpointId| *source != switch || destinations != [**from];
            graph.residents(*source).iter().filter(another).any(counts)
        };
        let counts = !between_hosts || leads_to_host;
        graph.switches().filter(move |source| counts && sends(source))
    }

    fn add_column(&mut self, row: &RouteRow<'a>, turns: &mut Turns) {
        self.next.clear();
        let channels = row.column(self.fabric, self.graph).into_iter().flatten();
        self.next.extend(channels.map(|channel| channel.map_or(NO_CHANNEL, word)));
        if self.counted == Counted::WithoutLoops {
            self.cut_loops();
        }
        self.row += 1;
        for source in self.entries(row) {
            self.follow(source, turns);
        }
    }

    /// Follows the column from a switch to where packets for the same destination have been.
    fn follow(&mut self, source: NodeId, turns: &mut Turns) {
        let Some(mut held) = self.next(source) else { return };
        let mut class = self.first_class(source, held);
        let mut switch = source;
        while self.is_new(switch, class) {
            let Some(end) = self.ends[held.index()] else { return };
            let Some(wanted) = self.next(end) else { return };
            let onward = self.class_after(class, held, wanted);
            turns.add((held, class.0.into()), (wanted, onward.0.into()));
            (switch, held, class) = (end, wanted, onward);
        }
    }

    fn add_path(
        &self,
        source: NodeId,
        channels: impl Iterator<Item = ChannelId>,
        turns: &mut Turns,
    ) {
        let mut before: Option<(ChannelId, DatelineClass)> = None;
        for channel in channels {
            let class = match before {
                None => self.first_class(source, channel),
                Some((held, class)) => {
                    let onward = self.class_after(class, held, channel);
                    turns.add((held, class.0.into()), (channel, onward.0.into()));
                    onward
                }
            };
            before = Some((channel, class));
        }
    }

    fn next(&self, switch: NodeId) -> Option<ChannelId> {
        let channel = self.next[switch.index()];
        (channel != NO_CHANNEL).then(|| ChannelId::new(channel as usize))
    }

    /// The dateline class of a packet of `source` in its first channel between switches.
    fn first_class(&self, source: NodeId, first: ChannelId) -> DatelineClass {
        let own = || Fabric::reverse(self.graph.ejection(self.graph.residents(source)[0]));
        self.lanes
            .map_or(DatelineClass(0), |lanes| lanes.class_after(DatelineClass(0), own(), first))
    }

    fn class_after(
        &self,
        class: DatelineClass,
        held: ChannelId,
        wanted: ChannelId,
    ) -> DatelineClass {
        self.lanes.map_or(DatelineClass(0), |lanes| lanes.class_after(class, held, wanted))
    }

    /// Whether packets of this row come to a switch in a dateline class for the first time.
    fn is_new(&mut self, switch: NodeId, class: DatelineClass) -> bool {
        let classes = self.seen.len() / self.next.len();
        let seen = &mut self.seen[switch.index() * classes + usize::from(class.0)];
        std::mem::replace(seen, self.row) != self.row
    }

    /// Takes out of the column all switches from which packets go round for ever.
    fn cut_loops(&mut self) {
        const UNKNOWN: usize = usize::MAX;
        let mut walks = vec![UNKNOWN; self.next.len()];
        let mut loops = vec![false; self.next.len()];
        for start in self.graph.switches() {
            let mut way = Vec::new();
            let mut at = Some(start);
            while let Some(switch) = at.filter(|switch| walks[switch.index()] == UNKNOWN) {
                walks[switch.index()] = start.index();
                way.push(switch);
                at = self.next(switch).and_then(|channel| self.ends[channel.index()]);
            }
            // A switch of the same walk closes a loop; one of another is known to lead into one or not.
            let is_lost = at.is_some_and(|switch| {
                loops[switch.index()] || walks[switch.index()] == start.index()
            });
            for switch in way {
                loops[switch.index()] = is_lost;
            }
        }
        for (next, loops) in self.next.iter_mut().zip(loops) {
            if loops {
                *next = NO_CHANNEL;
            }
        }
    }
}

fn word(channel: ChannelId) -> u32 {
    u32::try_from(channel.index()).expect("a channel is 32 bits")
}
