//! Branch and bound over all node orders of a small job.
//!
//! Adding flows never decreases the time or a load, so a partial order is abandoned unless it is
//! better than the best complete order. For a ring, only one rotation of each order is searched.

use super::load::{Loads, Scale};
use super::paths::{PathError, Paths};
use super::pattern::{Edge, Phase};
use super::search::Found;

struct Search<'p, 'a> {
    paths: &'p mut Paths<'a>,
    loads: Loads<'p>,
    /// By position: phase and edge of each flow whose later end is at this position.
    completed: Vec<Vec<(usize, Edge)>>,
    order: Vec<usize>,
    is_used: Vec<bool>,
    best: Found,
    least: (f64, u64),
}

/// Returns the best order, or `start` if none is better. Stops if the best order reaches `least`,
/// lower bounds on time and highest load. `first_is_fixed` is set if all rotations of an order are
/// equivalent.
pub(super) fn best_order(
    paths: &mut Paths<'_>,
    scale: &Scale,
    phases: &[Phase],
    start: Found,
    first_is_fixed: bool,
    least: (f64, u64),
) -> Result<Found, PathError> {
    let nodes = start.order.len();
    let mut completed = vec![Vec::new(); nodes];
    for (number, phase) in phases.iter().enumerate() {
        for edge in &phase.edges {
            completed[edge.from.max(edge.to) as usize].push((number, *edge));
        }
    }
    let mut search = Search {
        paths,
        loads: Loads::new(scale),
        completed,
        order: Vec::with_capacity(nodes),
        is_used: vec![false; nodes],
        best: start,
        least,
    };
    if first_is_fixed {
        search.order.push(0);
        search.is_used[0] = true;
    }
    search.extend()?;
    Ok(search.best)
}

impl Search<'_, '_> {
    fn extend(&mut self) -> Result<(), PathError> {
        let position = self.order.len();
        if position == self.is_used.len() {
            self.best = Found { score: self.loads.score(), order: self.order.clone() };
            return Ok(());
        }
        for node in 0..self.is_used.len() {
            if self.is_used[node] || self.is_settled() {
                continue;
            }
            self.order.push(node);
            self.is_used[node] = true;
            for at in 0..self.completed[position].len() {
                let (phase, edge) = self.completed[position][at];
                self.loads.change(self.paths, phase, edge.nodes(&self.order), true)?;
            }
            if self.is_promising() {
                self.extend()?;
            }
            for at in 0..self.completed[position].len() {
                let (phase, edge) = self.completed[position][at];
                self.loads.change(self.paths, phase, edge.nodes(&self.order), false)?;
            }
            self.order.pop();
            self.is_used[node] = false;
        }
        Ok(())
    }

    fn is_settled(&self) -> bool {
        let best = self.best.score;
        best.time <= self.least.0 && best.highest <= self.least.1
    }

    fn is_promising(&self) -> bool {
        let (score, best) = (self.loads.score(), self.best.score);
        (score.time, score.highest) < (best.time, best.highest)
    }
}
