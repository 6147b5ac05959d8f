//! Balanced paths: each pair gets the least loaded of all allowed paths.
//!
//! Two sweeps back from the destination find the best path. The first computes the least load M of
//! the busiest channel. The second minimises the sum of loads, then the number of turns, over
//! channels with a load of at most M. Ties go to the lowest-numbered channel.
//!
//! Further passes remove and reassign each path. A pass never raises the load of the busiest
//! channel, and a pass without changes is the last.
//!
//! Source: Flich et al. 2001 (`in_transit.rs`), section II, requires balance among all minimal
//! paths, but describes no procedure; this one is ours.

use super::assignment::{Load, PathSpread, row_weight, rows};
use super::choices::{Choice, Choices, State};
use super::phases::is_turn;
use crate::routing::paths::graph::{SwitchGraph, UNREACHED};
use crate::{ChannelId, EndpointId, Fabric, NodeId};

#[derive(Debug)]
pub(super) struct Laid {
    first: Vec<usize>,
    channels: Vec<ChannelId>,
    pub(super) busiest: u64,
}

impl Laid {
    pub(crate) fn path(&self, number: usize) -> &[ChannelId] {
        &self.channels[self.first[number]..self.first[number + 1]]
    }
}

pub(crate) fn lay(
    fabric: &Fabric,
    graph: &SwitchGraph,
    spread: PathSpread,
    passes: u32,
    toward: impl Fn(NodeId) -> Choices,
) -> Laid {
    let mut load = Load::new(fabric);
    let mut search = BestPaths::new(graph);
    let mut laid = Laid { first: vec![0], channels: Vec::new(), busiest: 0 };
    let mut path = Vec::new();
    each_path(graph, spread, &toward, |choices, row, source| {
        path.clear();
        search.best(choices, source, &load, &mut path);
        let paths = row_weight(graph, source, row);
        load.lay(&path, paths);
        laid.channels.extend_from_slice(&path);
        laid.first.push(laid.channels.len());
    });
    for _ in 0..passes {
        let (mut number, mut has_changed) = (0, false);
        each_path(graph, spread, &toward, |choices, row, source| {
            let old = &mut laid.channels[laid.first[number]..laid.first[number + 1]];
            let paths = row_weight(graph, source, row);
            load.take_up(old, paths);
            path.clear();
            search.best(choices, source, &load, &mut path);
            load.lay(&path, paths);
            has_changed |= *old != *path;
            old.copy_from_slice(&path);
            number += 1;
        });
        if !has_changed {
            break;
        }
    }
    laid.busiest = load.busiest();
    laid
}

fn each_path(
    graph: &SwitchGraph,
    spread: PathSpread,
    toward: impl Fn(NodeId) -> Choices,
    mut visit: impl FnMut(&Choices, &[EndpointId], NodeId),
) {
    for switch in graph.switches().filter(|switch| !graph.residents(*switch).is_empty()) {
        let choices = toward(switch);
        for row in rows(graph, switch, spread) {
            for source in graph.switches() {
                visit(&choices, row, source);
            }
        }
    }
}

type Cost = (u64, u32);

#[derive(Clone, Copy, Debug)]
struct Swept {
    search: u64,
    worst: u64,
    cost: Cost,
    onward: Option<Choice>,
}

#[derive(Debug)]
struct BestPaths<'a> {
    graph: &'a SwitchGraph,
    known: Vec<Swept>,
    count: u64,
    reached: Vec<State>,
}

impl<'a> BestPaths<'a> {
    fn new(graph: &'a SwitchGraph) -> Self {
        Self { graph, known: Vec::new(), count: 0, reached: Vec::new() }
    }

    fn best(
        &mut self,
        choices: &Choices,
        source: NodeId,
        load: &Load,
        channels: &mut Vec<ChannelId>,
    ) {
        let start = choices.start(source);
        let hops = choices.hops(start);
        if hops == UNREACHED || hops == 0 || !self.graph.has_senders(source) {
            return;
        }
        self.reach(choices, start);
        self.least_worst(choices, load);
        self.least_cost(choices, load, self.known[start.index()].worst);
        let mut state = start;
        while let Some(choice) = self.known[state.index()].onward {
            channels.push(choice.channel);
            state = choice.to;
        }
    }

    fn reach(&mut self, choices: &Choices, start: State) {
        let fresh = Swept { search: 0, worst: 0, cost: (0, 0), onward: None };
        self.known.resize(choices.state_count(), fresh);
        self.count += 1;
        self.reached.clear();
        self.visit(start);
        let mut next = 0;
        while let Some(&state) = self.reached.get(next) {
            for choice in choices.from(state) {
                self.visit(choice.to);
            }
            next += 1;
        }
    }

    fn visit(&mut self, state: State) {
        let known = &mut self.known[state.index()];
        if known.search != self.count {
            *known = Swept { search: self.count, worst: 0, cost: (0, 0), onward: None };
            self.reached.push(state);
        }
    }

    fn least_worst(&mut self, choices: &Choices, load: &Load) {
        for state in self.reached.iter().rev() {
            let worst =
                |choice: &Choice| load.on(choice.channel).max(self.known[choice.to.index()].worst);
            let least = choices.from(*state).iter().map(worst).min();
            self.known[state.index()].worst = least.unwrap_or(0);
        }
    }

    fn least_cost(&mut self, choices: &Choices, load: &Load, limit: u64) {
        for &state in self.reached.iter().rev() {
            let lies_within = |choice: &&Choice| {
                load.on(choice.channel).max(self.known[choice.to.index()].worst) <= limit
            };
            let cost = |choice: &Choice| {
                let (sum, turns) = self.known[choice.to.index()].cost;
                let turn = u32::from(is_turn(state, choice.to));
                (sum + load.on(choice.channel), turns + turn)
            };
            let within = choices.from(state).iter().filter(lies_within);
            let best = within.map(|choice| (cost(choice), choice.channel, *choice));
            if let Some((cost, _, choice)) = best.min_by_key(|(cost, channel, _)| (*cost, *channel))
            {
                let known = &mut self.known[state.index()];
                (known.cost, known.onward) = (cost, Some(choice));
            }
        }
    }
}
