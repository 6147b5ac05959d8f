//! Interface of a routing algorithm: its parameters provide the rule for finding paths.

use super::Algorithm;
use super::assignment::Outlook;
use super::choices::Choices;
use super::error::RouteError;
use crate::routing::paths::graph::SwitchGraph;
use crate::routing::paths::source_routes::SourceRoutes;
use crate::{Fabric, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Location of the routing decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// At the source: a packet carries its whole path, as in Myrinet.
    Source,
    /// At every switch: one output port per destination, as in InfiniBand.
    Table,
}

impl Form {
    /// Returns the default form: source routes if the algorithm has no tables or there are at most
    /// [`SOURCE_PAIRS_MAX`] pairs, otherwise tables.
    pub fn by_default(fabric: &Fabric, algorithm: &Algorithm) -> Self {
        let graph = SwitchGraph::new(fabric);
        let sources = graph.switches().filter(|switch| !graph.residents(*switch).is_empty());
        let pairs = sources.count() * graph.endpoint_count();
        if pairs <= SOURCE_PAIRS_MAX || !algorithm.has_tables() {
            Self::Source
        } else {
            Self::Table
        }
    }
}

/// Maximum number of (source switch, endpoint) pairs with source routes by default; this many
/// source routes need about 200 MB.
pub const SOURCE_PAIRS_MAX: usize = 1 << 24;

#[derive(Clone, Copy)]
pub(super) struct RouteTask<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) graph: &'a SwitchGraph,
    pub(super) form: Form,
}

/// Algorithm parameters; their doc comments are the help text for users.
pub(super) trait AlgorithmParameters {
    fn rule<'a>(&'a self, task: RouteTask<'a>) -> Result<Rule<'a>, RouteError>;

    fn roots_taken(
        &self,
        _fabric: &Fabric,
        _graph: &SwitchGraph,
    ) -> Result<Vec<NodeId>, RouteError> {
        Ok(Vec::new())
    }

    fn gives_source_routes_only(&self) -> bool {
        false
    }

    /// Returns whether one path per source switch serves all endpoints of a switch.
    fn shares_paths(&self) -> bool {
        false
    }

    fn needs_datelines(&self) -> bool {
        false
    }
}

pub(super) enum Rule<'a> {
    /// Rule for the legal next channels towards a destination switch, with the outlooks to try.
    Choices(Toward<'a>, &'static [Outlook]),
    WholePaths(LayPaths<'a>),
}

type Toward<'a> = Box<dyn Fn(NodeId) -> Choices + Sync + 'a>;
type LayPaths<'a> = Box<dyn FnOnce() -> Result<SourceRoutes, RouteError> + 'a>;

impl<'a> Rule<'a> {
    pub(super) fn by_choices(toward: impl Fn(NodeId) -> Choices + Sync + 'a) -> Self {
        Self::Choices(Box::new(toward), &[Outlook::NextChannel])
    }

    pub(super) fn by_choices_either_way(toward: impl Fn(NodeId) -> Choices + Sync + 'a) -> Self {
        Self::Choices(Box::new(toward), &[Outlook::NextChannel, Outlook::WholePath])
    }

    pub(super) fn by_whole_paths(
        lay: impl FnOnce() -> Result<SourceRoutes, RouteError> + 'a,
    ) -> Self {
        Self::WholePaths(Box::new(lay))
    }
}
