//! Fabric graph with generators, file formats, routing algorithms and deadlock proofs.
//!
//! Invariants: the crate does not open files, read clocks or use global random numbers; results
//! have a canonical order regardless of the number of threads.

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
