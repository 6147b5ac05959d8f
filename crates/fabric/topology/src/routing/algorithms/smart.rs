//! Smart routing: paths that share the load evenly, made deadlock-free by breaking every cycle of
//! dependencies at the least cost.
//!
//! ```text
//!   shortest paths, by load ──► break cycles ──────────────────────┐
//!   shortest paths, by load ──► break cycles, preserving an order ─┼──► balance ──► the best of three
//!   up*/down* ─────────────────────────────────────────────────────┘
//! ```
//!
//! After L. Cherkasova, V. Kotov and T. Rokicki, Hewlett-Packard Laboratories, HPL-95-69, 1995. **A
//! reconstruction**: we know the idea (begin with shortest paths, break the cycles of their
//! dependency graph with the least effect on traffic, balance the paths over the remaining turns)
//! and not the program. Ours are: the price of a turn and the handling of cycles all of whose turns
//! are needed (`cycles.rs`, `order.rs`), the numbering used for balancing and the detours that
//! relieve the busiest channel (`balance.rs`), and the choice among three starts. The last start is
//! the paths of [`super::UpDown`], which balancing never makes worse: with equal links the bound on
//! all-to-all traffic is never lower than theirs.
//!
//! The algorithm is deterministic: demands are processed in canonical order, and of equals the
//! first wins.
//!
//! Cost: a search over the channels for every demand and round, and some for every forbidden turn,
//! whose number grows with the square of a switch's cables. Hence the limits of [`SWITCHES_MAX`]
//! switches and [`TURNS_MAX`] turns.
//!
//! Invariant: the dependencies of the result have no cycle.

mod balance;
mod cycles;
mod order;
mod paths;
mod search;
mod turns;

use super::assignment::{self, Outlook};
use super::error::RouteError;
use super::orientation::Orientation;
use super::rule::{AlgorithmParameters, RouteTask, Rule};
use super::up_down;
use super::up_down::UpDown;
use crate::Fabric;
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::source_routes::SourceRoutes;
use cycles::Breaking;
use order::Order;
use paths::Paths;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use turns::TurnIndex;

/// Parameters of `smart`: none.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Smart {}

impl AlgorithmParameters for Smart {
    fn rule<'a>(&'a self, task: RouteTask<'a>) -> Result<Rule<'a>, RouteError> {
        let RouteTask { fabric, graph, .. } = task;
        Ok(Rule::by_whole_paths(move || routes(fabric, graph)))
    }

    fn gives_source_routes_only(&self) -> bool {
        true
    }
}

/// Largest number of switches with an acceptable search time.
const SWITCHES_MAX: usize = 64;
/// Largest number of turns, from a channel into a switch to one that leaves it for another.
const TURNS_MAX: usize = 50_000;

/// Computes one path from every switch with endpoints to every endpoint.
pub(crate) fn routes(fabric: &Fabric, graph: &SwitchGraph) -> Result<SourceRoutes, RouteError> {
    let switches = graph.switch_count();
    if switches > SWITCHES_MAX {
        return Err(RouteError::TooManySwitches { switches, switches_max: SWITCHES_MAX });
    }
    let turns = turn_count(graph);
    if turns > TURNS_MAX {
        return Err(RouteError::TooManyTurns { turns, turns_max: TURNS_MAX });
    }
    let index = TurnIndex::new(fabric, graph);
    let none = Paths::new(graph, &index);
    let mut lawful = none.clone();
    lawful.adopt(fabric, &of_up_down(fabric, graph));
    let freely = Breaking::new(none.clone(), None).run();
    let in_order = Breaking::new(none, Some(Order::new(graph))).run();
    let starts = [freely, in_order, Some(lawful)].into_iter().flatten();
    let best = starts.map(balance::balance).min_by_key(Paths::burden);
    Ok(best.expect("up*/down* is a start").into_routes(fabric))
}

fn turn_count(graph: &SwitchGraph) -> usize {
    graph.switches().map(|switch| graph.hops_from(switch).len().pow(2)).sum()
}

/// Returns the routes of up*/down*, which balancing must match or improve.
fn of_up_down(fabric: &Fabric, graph: &SwitchGraph) -> SourceRoutes {
    let UpDown { root, tree } = UpDown::default();
    let orientation = Orientation::new(fabric, graph, &root, tree).expect("there is a lowest id");
    let toward = |switch| up_down::toward_by_source(graph, &orientation, switch);
    assignment::source_routes(fabric, graph, Outlook::NextChannel, toward).routes
}
