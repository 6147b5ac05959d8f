//! Smart routing: paths that share the load evenly, made free of deadlock by breaking every cycle
//! of dependencies where it costs least.
//!
//! ```text
//!   shortest ways, by load ──► break cycles ─────────────────┐
//!   shortest ways, by load ──► break cycles, order in mind ──┼──► balance ──► the best of three
//!   up*/down* ───────────────────────────────────────────────┘
//! ```
//!
//! After L. Cherkasova, V. Kotov and T. Rokicki, Hewlett-Packard Laboratories, HPL-95-69, 1995.
//! **A reconstruction**: we know the idea (begin with shortest paths, break the cycles of their
//! dependency graph where the least traffic suffers, balance the paths over the turns that are
//! left) and not the program. Ours are: the price of a turn and what is done where every turn of
//! a cycle is needed (`cycles.rs`, `order.rs`), the numbering over which paths are balanced and
//! the detours that relieve the busiest channel (`balance.rs`), and the choice among three starts.
//! The last start is the paths of [`super::UpDown`] as they are, which balancing never makes
//! worse: so with equal links the bound on all-to-all traffic is never lower than theirs.
//!
//! All of it is deterministic: demands are taken in canonical order, and of equals the first wins.
//!
//! Cost: a search over the channels for every demand and round, and some for every turn that is
//! forbidden, whose number grows with the square of a switch's cables. Hence the limits of
//! [`SWITCHES_MAX`] switches and [`TURNS_MAX`] turns.
//!
//! Invariant: the dependencies of what is returned have no cycle.

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

/// Switches of the largest fabric for which the search is worth its time.
const SWITCHES_MAX: usize = 64;
/// Turns, from a channel into a switch to one that leads to another, of the largest.
const TURNS_MAX: usize = 50_000;

/// One path from every switch with endpoints to every endpoint.
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

/// What balancing must not fall short of.
fn of_up_down(fabric: &Fabric, graph: &SwitchGraph) -> SourceRoutes {
    let UpDown { root, tree } = UpDown::default();
    let orientation = Orientation::new(fabric, graph, &root, tree).expect("there is a lowest id");
    let toward = |switch| up_down::toward_by_source(graph, &orientation, switch);
    assignment::source_routes(fabric, graph, Outlook::NextChannel, toward).routes
}
