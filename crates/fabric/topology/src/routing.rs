//! Routing algorithms, their routes, and the proof that routes are deadlock-free.
//!
//! ```text
//!   Fabric ──► algorithms ──► paths ──► lanes ──► proof
//!                             (Routes)  (RouteSet)  └► metrics
//! ```
//!
//! Invariant: routes depend only on the fabric, the algorithm and the form.

mod algorithms;
mod lanes;
mod metrics;
mod paths;
mod proof;

pub use algorithms::*;
pub use lanes::{
    Buffer, BufferId, DatelineClass, DatelineRule, Datelines, Ejection, EscapeError, EscapeLanes,
    LANES_MAX, LEVELS, LaneMap, LaneRow, LaneRule, LaneSet, Lanes, MANAGEMENT_LANE, RouteSet,
    ServiceLevels, VcClass,
};
pub use metrics::{
    AllToAll, AssumedSpeed, Bisection, Choice, Detour, Distribution, LaneDrop, LaneUse, SampleMean,
    Sharing, Statistics,
};
pub use paths::{
    FallBacks, KeptPath, LongerPath, Onward, Path, RouteFault, Routes, SourceRoutes, Stray,
    SwitchTables, TableRoutes, Trace,
};
pub use proof::{
    DependencyGraph, Proof, buffer_name, cycle_witnesses, describe_cycle, prove,
    prove_between_hosts, prove_without_loops, vertex_name,
};

pub(crate) use paths::{Hop, SwitchGraph, UNREACHED, islands, joins_switches, switch_of};
