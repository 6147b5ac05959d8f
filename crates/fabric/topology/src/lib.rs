//! The fabric graph, its generators and file formats, routing algorithms and the proof that routes
//! cannot deadlock.
//!
//! Invariants: nothing here opens a path, reads a clock or uses global random numbers; every result
//! is in one canonical order, whatever the number of threads.

pub mod check;
pub mod cluster;
mod fabric;
mod finding;
pub mod format;
pub mod generate;
mod grid;
mod hostname;
pub mod job;
pub mod numbering;
mod parallel;
pub mod routing;
mod speed;
pub mod subnet;

pub use cluster::{Cluster, ClusterNode};
pub use fabric::{
    Address, Cable, CableError, ChannelId, DraftNode, EndpointId, Fabric, FabricBuilder, Guid,
    Identity, Node, NodeId, NodeKind, PortRef, dump_id,
};
pub use finding::{Finding, FindingKind, Severity};
pub use grid::{Grid, GridError};
pub use routing::{Algorithm, Form, Proof, RouteError, Routes, prove, route};
pub use speed::{Generation, LinkSpeed, PartialSpeed, SpeedError};
