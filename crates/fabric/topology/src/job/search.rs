//! Search for a node order with a higher bandwidth bound.
//!
//! 1. The start is the best of the caller's candidates. Among equally fast orders, that with fewer
//!    flows on its busiest cable is better.
//! 2. Random moves are kept unless they raise the cost, a weighted sum of squared channel loads in
//!    excess of one flow. A move swaps two nodes; in a ring it may also displace a node or a block.
//!    Most moves affect nodes whose flows share a channel. Moves end when no channel is shared, or
//!    after [`PAIRS_MAX`] changed flows.
//! 3. With at most [`EXACT_NODES_MAX`] nodes, branch and bound then finds the best order.

use super::exact::best_order;
use super::load::{Loads, Scale, Score, flows};
use super::paths::{PathError, Paths};
use super::pattern::{Edge, Pattern, Phase};
use gingham_kernel::{Purpose, Stream};

/// Maximum number of nodes for a search over all orders.
pub const EXACT_NODES_MAX: usize = 10;

/// Maximum number of flows between adapters that all moves together may change, to limit the
/// search to a few seconds.
const PAIRS_MAX: u64 = 6_000_000;

const MOVES_PER_LIST: u32 = 256;

/// Limits of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Maximum number of random moves.
    pub moves: u32,
    /// Seed of the random moves.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { moves: 40_000, seed: 1 }
    }
}

/// Result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Improved {
    /// Best order found, as node indices into the placement.
    pub order: Vec<usize>,
    /// Number of flows on the busiest channel between switches, for each candidate.
    pub candidates: Vec<f64>,
    /// Bus bandwidth of each candidate, in the unit of [`Bound`](super::Bound).
    pub candidate_bandwidths: Vec<f64>,
    /// Number of flows on the busiest channel between switches, with `order`.
    pub flows_max: f64,
    /// Bus bandwidth with `order`, in the unit of [`Bound`](super::Bound).
    pub bus_bandwidth: f64,
    /// Lower bound on the number of flows on the busiest channel between switches.
    pub lower_bound: f64,
    /// Whether the bus bandwidth is proven optimal.
    pub is_best: bool,
}

/// Searches for an order with a high bus bandwidth and few flows on the busiest channel, starting
/// from `candidates` (not empty). `standing` is the load of other jobs on each channel, or empty.
pub fn improve(
    paths: &mut Paths<'_>,
    pattern: &Pattern,
    ranks: usize,
    candidates: &[Vec<usize>],
    standing: &[u64],
    effort: Effort,
) -> Result<Improved, PathError> {
    let nodes = paths.placement().len();
    let phases = pattern.phases(nodes, paths.rails(), ranks);
    let scale = Scale::new(paths, &phases, standing);
    let bandwidth = |score: Score| pattern.bus_bandwidth(ranks, scale.seconds(score.time));
    let mut scores = Vec::new();
    let mut best: Option<Found> = None;
    let mut least_time = 0.0;
    for order in candidates {
        let loads = Loads::of(paths, &scale, &phases, order)?;
        let score = loads.score();
        scores.push(score);
        if best.as_ref().is_none_or(|best| score < best.score) {
            least_time = loads.time_at_one_switch();
            best = Some(Found { score, order: order.clone() });
        }
    }
    let mut best = best.expect("there is a candidate");
    let share =
        if matches!(pattern, Pattern::Pairs(_)) { 0 } else { paths.least_share_of_a_leaf() };
    // With unequal adapters, the time of a tree depends on the positions of its leaves.
    let is_even = scale.has_equal_adapters || matches!(pattern, Pattern::Ring | Pattern::AllToAll);
    let least_time = if is_even { scale.time_of(share).max(least_time) } else { 0.0 };
    if !pattern.is_order_free() && nodes > 1 {
        let is_ring = *pattern == Pattern::Ring;
        best = climb(paths, &scale, &phases, best, effort, is_ring)?;
        if nodes <= EXACT_NODES_MAX {
            best = best_order(paths, &scale, &phases, best, is_ring, (least_time, share))?;
        }
    }
    let score = Loads::of(paths, &scale, &phases, &best.order)?.score();
    assert!(score == best.score, "loads that moves changed are those of the order");
    let is_searched = nodes <= EXACT_NODES_MAX || pattern.is_order_free();
    Ok(Improved {
        candidates: scores.iter().map(|score| flows(score.highest)).collect(),
        candidate_bandwidths: scores.into_iter().map(bandwidth).collect(),
        flows_max: flows(score.highest),
        bus_bandwidth: bandwidth(score),
        lower_bound: flows(share),
        is_best: is_searched || score.time <= least_time,
        order: best.order,
    })
}

#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) score: Score,
    pub(super) order: Vec<usize>,
}

fn climb(
    paths: &mut Paths<'_>,
    scale: &Scale,
    phases: &[Phase],
    start: Found,
    effort: Effort,
    is_ring: bool,
) -> Result<Found, PathError> {
    let nodes = start.order.len();
    let mut stream = Stream::new(effort.seed, "job", Purpose::Permutation);
    let mut state = State::new(paths, scale, phases, start.order.clone())?;
    let mut best = start;
    let mut crowded = state.crowded(phases)?;
    for attempt in 0..effort.moves {
        if state.loads.cost() == 0 || state.changed_pairs > PAIRS_MAX {
            break;
        }
        if attempt % MOVES_PER_LIST == MOVES_PER_LIST - 1 {
            crowded = state.crowded(phases)?;
            state.keep_if_better(&mut best);
        }
        let position = if crowded.is_empty() || stream.below(4) == 0 {
            below(&mut stream, nodes)
        } else {
            crowded[below(&mut stream, crowded.len())]
        };
        let proposal = propose(&mut stream, &state.order, position, is_ring);
        let before = state.loads.cost();
        let undo = state.order.clone();
        state.become_order(&proposal)?;
        if state.loads.cost() > before {
            state.become_order(&undo)?;
        }
    }
    state.keep_if_better(&mut best);
    Ok(best)
}

fn below(stream: &mut Stream, count: usize) -> usize {
    usize::try_from(stream.below(count as u64)).expect("it is below a usize")
}

fn propose(stream: &mut Stream, order: &[usize], position: usize, is_ring: bool) -> Vec<usize> {
    let nodes = order.len();
    let other = below(stream, nodes);
    let mut proposal = order.to_vec();
    match if is_ring { stream.below(4) } else { 0 } {
        0 | 1 => proposal.swap(position, other),
        2 => {
            let node = proposal.remove(position);
            proposal.insert(other.min(proposal.len()), node);
        }
        _ => {
            let (low, high) = (position.min(other), position.max(other));
            let block: Vec<usize> = proposal.drain(low..=high).collect();
            let at = below(stream, proposal.len() + 1);
            proposal.splice(at..at, block);
        }
    }
    proposal
}

struct State<'p, 'a> {
    paths: &'p mut Paths<'a>,
    loads: Loads<'p>,
    order: Vec<usize>,
    flows: Vec<(usize, Edge)>,
    incident: Vec<Vec<usize>>,
    changed_pairs: u64,
}

impl<'p, 'a> State<'p, 'a> {
    fn new(
        paths: &'p mut Paths<'a>,
        scale: &'p Scale,
        phases: &[Phase],
        order: Vec<usize>,
    ) -> Result<Self, PathError> {
        let loads = Loads::of(paths, scale, phases, &order)?;
        let mut incident = vec![Vec::new(); order.len()];
        let of_phase = |(number, phase): (usize, &Phase)| {
            phase.edges.iter().map(move |edge| (number, *edge)).collect::<Vec<_>>()
        };
        let flows: Vec<(usize, Edge)> = phases.iter().enumerate().flat_map(of_phase).collect();
        for (flow, (_, edge)) in flows.iter().enumerate() {
            incident[edge.from as usize].push(flow);
            incident[edge.to as usize].push(flow);
        }
        Ok(Self { paths, loads, order, flows, incident, changed_pairs: 0 })
    }

    fn become_order(&mut self, order: &[usize]) -> Result<(), PathError> {
        let changed = (0..order.len()).filter(|at| self.order[*at] != order[*at]);
        let mut flows: Vec<usize> =
            changed.flat_map(|at| self.incident[at].iter().copied()).collect();
        flows.sort_unstable();
        flows.dedup();
        let pairs = |order: &[usize]| {
            let pair = |flow: &usize| {
                let (phase, edge) = self.flows[*flow];
                (phase, edge.nodes(order))
            };
            let mut pairs: Vec<(usize, (usize, usize))> = flows.iter().map(pair).collect();
            pairs.sort_unstable();
            pairs
        };
        let (old, new) = (pairs(&self.order), pairs(order));
        let (removed, added) = (without(&old, &new), without(&new, &old));
        for (phase, nodes) in &removed {
            self.loads.change(self.paths, *phase, *nodes, false)?;
        }
        for (phase, nodes) in &added {
            self.loads.change(self.paths, *phase, *nodes, true)?;
        }
        self.changed_pairs += ((removed.len() + added.len()) * self.paths.rails()) as u64;
        self.order.copy_from_slice(order);
        Ok(())
    }

    /// Keeps the order if it is the best so far. Called rarely, because a score visits all used
    /// channels.
    fn keep_if_better(&self, best: &mut Found) {
        let score = self.loads.score();
        if score < best.score {
            *best = Found { score, order: self.order.clone() };
        }
    }

    fn crowded(&mut self, phases: &[Phase]) -> Result<Vec<usize>, PathError> {
        let mut is_crowded = vec![false; self.order.len()];
        for (number, phase) in phases.iter().enumerate() {
            for edge in &phase.edges {
                let ends = [edge.from as usize, edge.to as usize];
                let [from, to] = ends.map(|position| self.order[position]);
                for rail in 0..self.paths.rails() {
                    let mut steps = self.paths.between(from, to, rail)?.iter();
                    if steps.any(|step| self.loads.is_crowded(number, step.channel.index())) {
                        is_crowded[ends[0]] = true;
                        is_crowded[ends[1]] = true;
                        break;
                    }
                }
            }
        }
        Ok((0..is_crowded.len()).filter(|position| is_crowded[*position]).collect())
    }
}

/// Returns the multiset difference of two sorted lists.
fn without<T: Ord + Copy>(one: &[T], other: &[T]) -> Vec<T> {
    let mut rest = other.iter().peekable();
    let mut left = Vec::new();
    for member in one {
        while rest.next_if(|next| *next < member).is_some() {}
        if rest.next_if(|next| *next == member).is_none() {
            left.push(*member);
        }
    }
    left
}
