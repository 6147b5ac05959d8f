//! What a routing algorithm is: parameters that know the rule by which paths are found.

use super::algorithm::Algorithm;
use super::assignment::Outlook;
use super::choices::Choices;
use super::error::RouteError;
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::source_routes::SourceRoutes;
use crate::{Fabric, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the path of a packet is decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// At the source: a packet carries its whole path, as in Myrinet.
    Source,
    /// At every switch: one output port per destination, as in InfiniBand.
    Table,
}

impl Form {
    /// The form of whoever says none: source routes, as far as the algorithm gives no tables or
    /// there are at most [`SOURCE_PAIRS_MAX`] pairs of a switch with endpoints and an endpoint; else
    /// tables.
    pub fn by_default(fabric: &Fabric, algorithm: &Algorithm) -> Self {
        let graph = SwitchGraph::new(fabric);
        let sources = graph.switches().filter(|switch| !graph.residents(*switch).is_empty());
        let pairs = sources.count() * graph.endpoint_count();
        if pairs <= SOURCE_PAIRS_MAX || algorithm.parameters().gives_source_routes_only() {
            Self::Source
        } else {
            Self::Table
        }
    }
}

/// Pairs of a switch with endpoints and an endpoint up to which routes are source routes by
/// default: at a dozen bytes a path some 200 MB.
pub const SOURCE_PAIRS_MAX: usize = 1 << 24;

/// What is to be routed.
#[derive(Clone, Copy)]
pub(super) struct RouteTask<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) graph: &'a SwitchGraph,
    pub(super) form: Form,
}

/// The parameters of an algorithm. Their doc comments are what users read as help.
pub(super) trait AlgorithmParameters {
    /// How paths are found.
    fn rule<'a>(&'a self, task: RouteTask<'a>) -> Result<Rule<'a>, RouteError>;

    /// The switches from which it measures which way is up; none if it does not.
    fn roots_taken(
        &self,
        _fabric: &Fabric,
        _graph: &SwitchGraph,
    ) -> Result<Vec<NodeId>, RouteError> {
        Ok(Vec::new())
    }

    /// Whether paths depend on where they begin, so that no table can hold them.
    fn gives_source_routes_only(&self) -> bool {
        false
    }

    /// Whether all endpoints of a switch are reached by the same paths.
    fn shares_paths(&self) -> bool {
        false
    }

    /// Whether cycles of dependencies round a torus are left to datelines.
    fn needs_datelines(&self) -> bool {
        false
    }
}

/// How paths are found.
pub(super) enum Rule<'a> {
    /// By which channels a packet may go on toward a destination switch; which of them, load
    /// decides, under each of the outlooks, of which the best is kept. Source routes and tables
    /// alike.
    Choices(Toward<'a>, &'static [Outlook]),
    /// Whole paths, which depend on where they begin: source routes only.
    WholePaths(LayPaths<'a>),
}

/// The choices toward a destination switch.
type Toward<'a> = Box<dyn Fn(NodeId) -> Choices + Sync + 'a>;
/// One path from every switch with endpoints to every endpoint.
type LayPaths<'a> = Box<dyn FnOnce() -> Result<SourceRoutes, RouteError> + 'a>;

impl<'a> Rule<'a> {
    /// By the choices toward each destination switch.
    pub(super) fn by_choices(toward: impl Fn(NodeId) -> Choices + Sync + 'a) -> Self {
        Self::Choices(Box::new(toward), &[Outlook::NextChannel])
    }

    /// The same, under both outlooks.
    pub(super) fn by_choices_either_way(toward: impl Fn(NodeId) -> Choices + Sync + 'a) -> Self {
        Self::Choices(Box::new(toward), &[Outlook::NextChannel, Outlook::WholeWay])
    }

    /// By laying whole paths.
    pub(super) fn by_whole_paths(
        lay: impl FnOnce() -> Result<SourceRoutes, RouteError> + 'a,
    ) -> Self {
        Self::WholePaths(Box::new(lay))
    }
}
