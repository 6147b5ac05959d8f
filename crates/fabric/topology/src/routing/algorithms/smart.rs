//! Smart routing: paths that share the load evenly, made deadlock-free by breaking every dependency
//! cycle at the least cost.
//!
//! ```text
//!   shortest paths, by load ──► break cycles ──────────────────────┐
//!   shortest paths, by load ──► break cycles, preserving an order ─┼──► balance ──► the best of three
//!   up*/down* ─────────────────────────────────────────────────────┘
//! ```
//!
//! A **reconstruction** after L. Cherkasova, V. Kotov and T. Rokicki, Hewlett-Packard Laboratories,
//! HPL-95-69, 1995. Only their idea is known to us: break cycles with the least effect on traffic,
//! then balance the paths over the remaining turns. All details (`cycles.rs`, `order.rs`,
//! `balance.rs`) and the three starting points are ours. With equal links, the bound on all-to-all
//! traffic is never lower than with [`super::UpDown`].
//!
//! Search time grows with the square of the number of cables per switch, hence the limits
//! [`SWITCHES_MAX`] and [`TURNS_MAX`].

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

/// Parameters of `smart` (none).
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

const SWITCHES_MAX: usize = 64;
const TURNS_MAX: usize = 50_000;

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

fn of_up_down(fabric: &Fabric, graph: &SwitchGraph) -> SourceRoutes {
    let UpDown { root, tree } = UpDown::default();
    let orientation = Orientation::new(fabric, graph, &root, tree).expect("there is a lowest id");
    let toward = |switch| up_down::toward_by_source(graph, &orientation, switch);
    assignment::source_routes(fabric, graph, Outlook::NextChannel, toward).routes
}
