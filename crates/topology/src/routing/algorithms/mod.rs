//! Routing algorithms: from the switches and cables of a fabric to its routes.
//!
//! ```text
//!                 ┌ shortest_path ┐
//!   Fabric ──►    ├ dimension_order ──► Choices ──► assignment ──► Routes
//!   (SwitchGraph) └ up_down       ┘    (lawful ways  (least load)
//!                                       one hop nearer)
//! ```
//!
//! An algorithm says, for one destination switch, by which channels a packet may go on
//! (`choices`). Which of them it takes is decided in one place, by load (`assignment`), for
//! both forms of routes.
//!
//! Three algorithms lay whole paths themselves, so they have source form alone: `in_transit` has
//! choices over which `balance` finds the best paths and lays them anew in passes, `simple_routes`
//! searches for the cheapest, and `smart` breaks cycles. The first two move over switch and phase
//! as up*/down* does (`phases`); which channels go up, `root` decides with the ranks of a tree
//! (`orientation`, `depth_first`).
//!
//! Several roots, as fat trees want, would be another variant of [`Root`]; ranks are taken from any
//! number of roots already (`orientation`), but then an island may have pairs that no
//! legal path joins.

mod algorithm;
mod assignment;
mod balance;
pub(super) mod choices;
mod depth_first;
mod dimension_order;
mod error;
pub(super) mod fall_backs;
mod in_transit;
mod orientation;
mod parameters;
mod phases;
mod root;
mod shortest_path;
mod simple_routes;
mod smart;
mod up_down;

pub use algorithm::Algorithm;
pub use error::{ROUTES_MAX, RouteError};
pub use fall_backs::FallBacks;
pub use parameters::{
    DimensionOrder, Form, InTransit, Root, ShortestPath, SimpleRoutes, Smart, Spread, Ties,
    TransitHosts, Tree, UpDown,
};

use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::routes::Routes;
use crate::routing::paths::switch_tables::SwitchTables;
use crate::{Fabric, Grid, NodeId};
use choices::Choices;
use orientation::Orientation;

/// Routes every pair of endpoints of `fabric`. Pairs that no cables join have no route, which is
/// no error.
pub fn route(fabric: &Fabric, algorithm: &Algorithm, form: Form) -> Result<Routes, RouteError> {
    let (switches, endpoints) = (fabric.switches().len(), fabric.endpoints().len());
    let rows = if algorithm.shares_paths() { switches } else { endpoints };
    if switches.saturating_mul(rows) > ROUTES_MAX {
        return Err(RouteError::TooLarge { switches, endpoints });
    }
    let graph = SwitchGraph::new(fabric);
    match (algorithm, form) {
        (Algorithm::SimpleRoutes(parameters), Form::Source) => {
            Ok(Routes::Source(simple_routes::routes(fabric, &graph, parameters)?))
        }
        (Algorithm::InTransit(parameters), Form::Source) => {
            Ok(Routes::Source(in_transit::routes(fabric, &graph, parameters)?))
        }
        (Algorithm::Smart(Smart {}), Form::Source) => {
            Ok(Routes::Source(smart::routes(fabric, &graph)?))
        }
        _ => with_choices(fabric, &graph, algorithm, form, |toward| match form {
            Form::Source => Routes::Source(assignment::source_routes(fabric, &graph, toward)),
            Form::Table => Routes::Table(assignment::table_routes(fabric, &graph, toward)),
        }),
    }
}

/// Tables by which every switch reaches every other, as management packets need; they follow
/// the same rule as the routes between endpoints.
pub fn route_to_switches(
    fabric: &Fabric,
    algorithm: &Algorithm,
) -> Result<SwitchTables, RouteError> {
    let graph = SwitchGraph::new(fabric);
    with_choices(fabric, &graph, algorithm, Form::Table, |toward| {
        SwitchTables::by_choices(fabric, &graph, toward)
    })
}

/// Hands `decide` what an algorithm that gives choices says of each destination switch.
fn with_choices<T>(
    fabric: &Fabric,
    graph: &SwitchGraph,
    algorithm: &Algorithm,
    form: Form,
    decide: impl FnOnce(&dyn Fn(NodeId) -> Choices) -> T,
) -> Result<T, RouteError> {
    Ok(match algorithm {
        Algorithm::ShortestPath(ShortestPath {}) => {
            decide(&|destination| shortest_path::toward(graph, destination))
        }
        Algorithm::DimensionOrder(DimensionOrder { ties }) => {
            let grid = Grid::recognise(fabric)?;
            decide(&|destination| dimension_order::toward(graph, &grid, *ties, destination))
        }
        Algorithm::UpDown(parameters) => {
            let UpDown { root, tree } = parameters;
            let orientation = Orientation::new(fabric, graph, root, *tree)?;
            decide(&|destination| match form {
                Form::Source => up_down::toward_by_source(graph, &orientation, destination),
                Form::Table => up_down::toward_by_table(graph, &orientation, destination),
            })
        }
        Algorithm::SimpleRoutes(_) => {
            return Err(RouteError::SourceFormOnly { algorithm: "simple-routes" });
        }
        Algorithm::InTransit(_) => {
            return Err(RouteError::SourceFormOnly { algorithm: "in-transit" });
        }
        Algorithm::Smart(Smart {}) => {
            return Err(RouteError::SourceFormOnly { algorithm: "smart" });
        }
    })
}
