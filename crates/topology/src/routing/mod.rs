//! Routing algorithms, the routes that they give, and what can be proved of them.
//!
//! ```text
//!                 ┌ shortest_path ┐
//!   Fabric ──►    ├ dimension_order ──► Choices ──► assignment ──► Routes ──► DependencyGraph
//!   (SwitchGraph) └ up_down       ┘    (lawful ways  (least load)   │ │           └► Proof
//!                                       one hop nearer)             │ └► Trace       (order, cycle)
//!                                                                   └► Statistics
//! ```
//!
//! An algorithm says, for one destination switch, by which channels a packet may go on
//! (`choices.rs`). Which of them it takes is decided in one place, by load (`assignment.rs`), for
//! both forms of routes: whole paths kept at the source ([`SourceRoutes`]), or one output
//! port per switch and destination ([`TableRoutes`]). Everything after that reads [`Routes`]
//! by one walk over all source switches and destinations, whatever their form and origin.
//!
//! Three algorithms lay whole paths themselves, so they have source form alone: `in_transit` has
//! choices over which `balance` finds the best paths and lays them anew in passes, `simple_routes`
//! searches for the cheapest, and `smart` breaks cycles. The first two move over switch and phase
//! as up*/down* does (`phases`); which channels go up, `root` decides with the ranks of a tree
//! (`orientation`, `depth_first`).
//!
//! Where more would go:
//!
//! * **Several roots**, as fat trees want: another variant of [`Root`]; ranks are taken from any
//!   number of roots already (`orientation.rs`), but then an island may have pairs that no
//!   legal path joins.
//! * **Another rule for whole paths**: a file beside `simple_routes.rs` that fills a
//!   [`SourceRoutes`] through its builder, an arm in [`route`].
//!
//! Several paths a pair, and lanes, are a [`RouteSet`]: a [`Routes`] for each alternative, and
//! [`Lanes`], which tell on which lanes a packet may go on at each hop: by its class, by datelines, or by
//! tables. The proof is of all
//! of them together, buffer by buffer; routes alone are the case of one alternative and one lane.
//! Tables of a running fabric come from `subnet`: [`Routes::trace`] finds their loops and black
//! holes, and the proof takes stray packets into account.
//!
//! Invariant: routes depend on the fabric, the algorithm and the form, and on nothing else.

mod algorithm;
mod all_to_all;
mod assignment;
mod balance;
mod bisection;
mod choices;
mod components;
mod cycle;
mod datelines;
mod dependency;
mod depth_first;
mod dimension_order;
mod distribution;
mod fall_backs;
mod given_paths;
mod graph;
mod in_transit;
mod lane_map;
mod lane_set;
mod lane_use;
mod lanes;
mod orientation;
mod parameters;
mod phases;
mod proof;
mod root;
mod route_set;
mod routes;
mod service_levels;
mod sharing;
mod shortest_path;
mod simple_routes;
mod smart;
mod source_routes;
mod statistics;
mod switch_tables;
mod table_routes;
mod take_in;
mod trace;
mod up_down;

pub use algorithm::Algorithm;
pub use all_to_all::AllToAll;
pub use bisection::{Bisection, SampleMean};
pub use cycle::{buffer_name, cycle_witnesses, describe_cycle};
pub use datelines::Datelines;
pub use dependency::DependencyGraph;
pub use distribution::Distribution;
pub use fall_backs::FallBacks;
pub use lane_map::{LEVELS, LaneMap, LaneRow, MANAGEMENT_LANE};
pub use lane_set::{DatelineClass, LANES_MAX, LaneSet, VcClass};
pub use lane_use::{LaneDrop, LaneUse};
pub use lanes::{LaneRule, Lanes};
pub use parameters::{
    DimensionOrder, Form, InTransit, Root, ShortestPath, SimpleRoutes, Smart, Spread, Ties,
    TransitHosts, Tree, UpDown,
};
pub use proof::{Proof, prove, prove_between_hosts, prove_without_loops};
pub use route_set::{Buffer, BufferId, RouteSet};
pub use routes::{Path, Routes};
pub use service_levels::ServiceLevels;
pub use sharing::Sharing;
pub use source_routes::{KeptPath, Onward, SourceRoutes};
pub use statistics::{Detour, Statistics};
pub use switch_tables::SwitchTables;
pub use table_routes::TableRoutes;
pub use take_in::TakeIn;
pub use trace::{Fault, Stray, Trace};

use crate::{EndpointId, Fabric, Grid, GridError, NodeId};
use choices::Choices;
use graph::SwitchGraph;
use orientation::Orientation;

/// Why a fabric cannot be routed as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// The fabric has no node with the name of the root.
    #[error("the root \"{name}\" is no node of this fabric{}", suggestion(nearest.as_deref()))]
    UnknownRoot {
        /// The name asked for.
        name: String,
        /// The switch whose name is nearest, if one is near.
        nearest: Option<String>,
    },
    /// The node with the name of the root forwards nothing.
    #[error("the root \"{name}\" is not a switch")]
    RootIsNoSwitch {
        /// The name asked for.
        name: String,
    },
    /// Dimension order on something that is neither mesh nor torus.
    #[error("dimension order needs a mesh or torus: {0}")]
    NotAGrid(#[from] GridError),
    /// Tables asked of an algorithm whose paths depend on where they begin.
    #[error(
        "{algorithm} gives source routes only, no tables, because its paths depend on where they begin: \
         take the form \"source\""
    )]
    SourceFormOnly {
        /// The name of the algorithm.
        algorithm: &'static str,
    },
    /// A weight that makes no costs.
    #[error("the weight of simple-routes is {given}; expected a number from 0 to 100")]
    Weight {
        /// As given.
        given: String,
    },
    /// Smart routing on more switches than its search is for.
    #[error(
        "smart takes at most {} switches, this fabric has {switches}; in-transit and simple-routes \
         take more",
        smart::SWITCHES_MAX
    )]
    TooManySwitches {
        /// Number of switches.
        switches: usize,
    },
    /// Smart routing where cables cross in more ways than its search is for.
    #[error(
        "smart takes fabrics of at most {} turns at switches, from cable to cable, this one has {turns}; \
         in-transit and simple-routes take more",
        smart::TURNS_MAX
    )]
    TooManyTurns {
        /// Number of turns between channels that join switches.
        turns: usize,
    },
    /// More routes than memory would hold.
    #[error("{switches} switches and {endpoints} endpoints make more than {} routes", ROUTES_MAX)]
    TooLarge {
        /// Number of switches.
        switches: usize,
        /// Number of endpoints.
        endpoints: usize,
    },
}

/// Routes (one for each switch and endpoint) that are computed at most: at a handful of hops
/// each some six gigabytes.
pub const ROUTES_MAX: usize = 200_000_000;

/// For every switch, the lowest switch that cables join it to.
pub(crate) fn islands(fabric: &Fabric) -> Vec<NodeId> {
    SwitchGraph::new(fabric).islands()
}

/// The switch that an endpoint hangs on; `None` if its cable leads to another endpoint.
pub(crate) fn switch_of(fabric: &Fabric, endpoint: EndpointId) -> Option<NodeId> {
    match graph::attachment(fabric, endpoint) {
        graph::Attachment::Switch(switch) => Some(switch),
        graph::Attachment::Peer(_) => None,
    }
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}

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
