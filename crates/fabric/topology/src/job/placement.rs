//! Endpoints of a job.

use crate::EndpointId;
use crate::cluster::Cluster;

/// Nodes of a job in rank order, with their endpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Nodes by position, as indices into [`Cluster::nodes`].
    pub nodes: Vec<usize>,
    /// Rails of the job, as indices into [`Cluster::rails`].
    pub rails: Vec<usize>,
    /// Endpoints by position and then by rail.
    endpoints: Vec<EndpointId>,
}

/// Reason why a job cannot be placed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// Node that is listed twice.
    #[error("node {node} is listed twice")]
    Repeated {
        /// Name of the node.
        node: String,
    },
    /// Node without a cabled adapter on a rail.
    #[error("node {node} has no cabled adapter on rail {rail}")]
    NoAdapter {
        /// Name of the node.
        node: String,
        /// Index of the rail, counted from 0.
        rail: usize,
    },
    /// Unknown rail.
    #[error("rail {rail} does not exist: the fabric has {count}")]
    NoRail {
        /// Index of the rail, counted from 0.
        rail: usize,
        /// Number of rails.
        count: usize,
    },
}

impl Placement {
    /// Places a job on nodes and rails of a cluster.
    pub fn new(
        cluster: &Cluster,
        nodes: Vec<usize>,
        rails: Vec<usize>,
    ) -> Result<Self, PlacementError> {
        let mut is_used = vec![false; cluster.nodes.len()];
        if let Some(rail) = rails.iter().copied().find(|rail| *rail >= cluster.rails.len()) {
            return Err(PlacementError::NoRail { rail, count: cluster.rails.len() });
        }
        let mut endpoints = Vec::with_capacity(nodes.len() * rails.len());
        for index in &nodes {
            let node = &cluster.nodes[*index];
            if std::mem::replace(&mut is_used[*index], true) {
                return Err(PlacementError::Repeated { node: node.name.clone() });
            }
            for rail in &rails {
                let endpoint = node.on_rail(*rail).and_then(|adapter| adapter.endpoint);
                endpoints.push(endpoint.ok_or_else(|| PlacementError::NoAdapter {
                    node: node.name.clone(),
                    rail: *rail,
                })?);
            }
        }
        Ok(Self { nodes, rails, endpoints })
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether the job has zero nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the endpoint at a position on a rail, both counted from 0.
    pub fn endpoint(&self, position: usize, rail: usize) -> EndpointId {
        self.endpoints[position * self.rails.len() + rail]
    }
}
