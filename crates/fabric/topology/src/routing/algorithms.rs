//! Routing algorithms, which compute routes from the switches and cables of a fabric.
//!
//! An algorithm lists the legal next channels towards one destination switch (`choices`);
//! `assignment` (source routes) or `tables` selects among them by load. `in_transit`,
//! `simple_routes` and `smart` compute whole paths instead, for source routes only.

mod algorithm;
mod assignment;
mod balance;
mod cable_cost;
mod choices;
mod depth_first;
mod dimension_order;
mod error;
mod fall_backs;
mod in_transit;
mod levels;
mod memory;
mod names;
mod orientation;
mod peaks;
mod phases;
mod queue;
mod root;
mod rule;
mod shortest_path;
mod simple_routes;
mod smart;
mod tables;
mod tops;
mod up_down;

pub use assignment::PathSpread;
pub use dimension_order::Ties;
pub use error::RouteError;
pub use in_transit::TransitHosts;
pub use levels::{Oversubscription, TreeLevel, TreeShape, trees};
pub use memory::{MemoryPart, ROUTE_BYTES_MAX, RouteMemory};
pub use names::Names;
pub use orientation::SpanningTree;
pub use root::Root;
pub use rule::{Form, SOURCE_PAIRS_MAX};
pub use shortest_path::PathWeight;

use crate::parallel::Threads;
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::routes::Routes;
use crate::routing::paths::switch_tables::SwitchTables;
use crate::{Fabric, NodeId};
use assignment::Assigned;
use rule::{AlgorithmParameters, RouteTask, Rule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de};

/// Defines each algorithm once; its doc comment is the help text for users.
macro_rules! algorithms {
    ($($(#[$about:meta])+ $name:literal => $module:ident::$parameters:ident,)+) => {
        $(pub use $module::$parameters;)+

        /// Routing algorithm, which chooses the paths.
        #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
        #[schemars(transform = algorithm::accept_bare_names)]
        pub enum Algorithm {
            $($(#[$about])+ #[serde(rename = $name)] $parameters($parameters),)+
        }

        #[derive(Clone, Copy, Deserialize)]
        enum Name {
            $(#[serde(rename = $name)] $parameters,)+
        }

        impl Name {
            fn with_defaults(self) -> Algorithm {
                match self {
                    $(Self::$parameters => Algorithm::$parameters($parameters::default()),)+
                }
            }

            fn with_parameters<'de, M: de::MapAccess<'de>>(
                self,
                map: &mut M,
            ) -> Result<Algorithm, M::Error> {
                Ok(match self {
                    $(Self::$parameters => Algorithm::$parameters(map.next_value()?),)+
                })
            }
        }

        impl Algorithm {
            /// Returns every algorithm with its default parameters.
            pub fn every() -> Vec<Self> {
                vec![$(Name::$parameters.with_defaults(),)+]
            }

            /// Returns whether forwarding tables can represent the routes of the algorithm.
            pub fn has_tables(&self) -> bool {
                !self.parameters().gives_source_routes_only()
            }

            /// Returns the name of the algorithm in scenarios.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$parameters(_) => $name,)+
                }
            }

            fn parameters(&self) -> &dyn AlgorithmParameters {
                match self {
                    $(Self::$parameters(parameters) => parameters,)+
                }
            }
        }
    };
}

algorithms! {
    /// Shortest paths by number of channels or by cable latency (`weight`). Paths with the fewest
    /// channels are deadlock-free on trees and folded Clos networks, but not on rings and tori.
    #[schemars(extend("x-source" = "textbook"))]
    #[schemars(extend("x-example" = r#"topology.generate.star = { hosts = 3 }
routing.algorithm = "shortest-path""#))]
    "shortest-path" => shortest_path::ShortestPath,
    /// Paths on a mesh or torus that finish one dimension before the next, in the shorter direction
    /// around each ring. Deadlock-free on meshes, on tori of at most three switches per dimension,
    /// and on larger tori with two lanes and datelines.
    #[schemars(extend("x-source" = "Dally and Seitz 1987"))]
    #[schemars(extend("x-example" = r#"topology.generate.mesh = { dimensions = [3, 2] }
routing.algorithm = "dimension-order""#))]
    "dimension-order" => dimension_order::DimensionOrder,
    /// Paths that first lead towards a root, then only away from it; on a tree, all top switches
    /// are roots. Deadlock-free on every fabric.
    #[schemars(extend("x-source" = "Schroeder et al. 1991 (Autonet)"))]
    #[schemars(extend("x-example" = r#"{ up-down = { root = "smallest-distance" } }"#))]
    "up-down" => up_down::UpDown,
    /// Up*/down* paths of the original Myrinet software: for each pair, the cheapest legal path.
    /// The cost of a channel grows with its number of paths, so a path need not be minimal.
    /// Deadlock-free on every fabric. Source routes only.
    #[schemars(extend("x-source" = "Flich et al. 2001, section IV-A; the weights are ours"))]
    #[schemars(extend("x-example" = "{ simple-routes = { weight = 0.5 } }"))]
    "simple-routes" => simple_routes::SimpleRoutes,
    /// Minimal paths on any fabric, balanced over all shortest paths and deadlock-free. Wherever
    /// up*/down* forbids the turn from down to up, a host on that switch ejects the packet and
    /// re-injects it. Source routes only.
    #[schemars(extend("x-source" = "Flich et al. 2001, section II; balance and choice of hosts are ours", "x-needs" = "in-transit-routes"))]
    #[schemars(extend("x-example" = r#"{ in-transit = { hosts = "fewest" } }"#))]
    "in-transit" => in_transit::InTransit,
    /// Balanced paths, with all cycles of the channel dependency graph broken at the least cost.
    /// Deadlock-free on every fabric. Source routes only, for at most 64 switches.
    #[schemars(extend("x-source" = "Cherkasova, Kotov and Rokicki 1995 (HPL-95-69); a reconstruction"))]
    "smart" => smart::Smart,
}

/// Computes routes between all endpoints of each connected component.
///
/// # Errors
/// Fails if the algorithm or its parameters do not fit the fabric, or if the routes would need more
/// than [`ROUTE_BYTES_MAX`] bytes.
pub fn route(fabric: &Fabric, algorithm: &Algorithm, form: Form) -> Result<Routes, RouteError> {
    route_within(fabric, algorithm, form, ROUTE_BYTES_MAX)
}

/// Routes like [`route`], with a memory limit of `bytes_max` bytes.
pub fn route_within(
    fabric: &Fabric,
    algorithm: &Algorithm,
    form: Form,
    bytes_max: u64,
) -> Result<Routes, RouteError> {
    let graph = SwitchGraph::new(fabric);
    let parameters = algorithm.parameters();
    let rule = parameters.rule(RouteTask { fabric, graph: &graph, form })?;
    let needed = RouteMemory::estimate(fabric, &graph, &rule, form, parameters.shares_paths());
    if needed.bytes() > bytes_max {
        return Err(RouteError::TooLarge { needed, bytes_max, form });
    }
    let least = || assignment::least_busiest(&graph);
    match (rule, form) {
        (Rule::Choices(toward, outlooks), Form::Source) => {
            let assign = |outlook| assignment::source_routes(fabric, &graph, outlook, &toward);
            Ok(Routes::Source(Assigned::best(outlooks, least(), assign)))
        }
        (Rule::Choices(toward, outlooks), Form::Table) => {
            let threads = Threads::for_steps(tables::steps(fabric, &graph));
            let assign = |outlook| tables::table_routes(fabric, &graph, outlook, &toward, threads);
            Ok(Routes::Table(Assigned::best(outlooks, least(), assign)))
        }
        (Rule::WholePaths(lay), Form::Source) => Ok(Routes::Source(lay()?)),
        (Rule::WholePaths(_), Form::Table) => Err(source_form_only(algorithm)),
    }
}

/// Returns the roots that an algorithm uses, in ascending order; empty if it uses none.
pub fn roots_taken(fabric: &Fabric, algorithm: &Algorithm) -> Result<Vec<NodeId>, RouteError> {
    algorithm.parameters().roots_taken(fabric, &SwitchGraph::new(fabric))
}

/// Computes tables to all switches, for management packets.
pub fn route_to_switches(
    fabric: &Fabric,
    algorithm: &Algorithm,
) -> Result<SwitchTables, RouteError> {
    let graph = SwitchGraph::new(fabric);
    let task = RouteTask { fabric, graph: &graph, form: Form::Table };
    match algorithm.parameters().rule(task)? {
        Rule::Choices(toward, _) => Ok(tables::switch_tables(fabric, &graph, toward)),
        Rule::WholePaths(_) => Err(source_form_only(algorithm)),
    }
}

fn source_form_only(algorithm: &Algorithm) -> RouteError {
    RouteError::SourceFormOnly { algorithm: algorithm.name() }
}
