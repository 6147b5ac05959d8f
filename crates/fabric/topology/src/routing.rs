//! Routing algorithms, their routes, and proofs that routes are deadlock-free.
//!
//! ```text
//!   Fabric ──► algorithms ──► paths ──► lanes ──► proof
//!                             (Routes)  (RouteSet)  └► metrics
//! ```
//!
//! An algorithm computes [`Routes`] (`algorithms`): whole paths kept at the source
//! ([`SourceRoutes`]), or one output port per switch and destination ([`TableRoutes`]). All later
//! stages read them by one walk over all source switches and destinations, whatever their form and
//! origin (`paths`).
//!
//! Several paths a pair, and lanes, are a [`RouteSet`]: several [`Routes`], and [`Lanes`], which
//! give the lanes that a packet may use at each hop: by its class, by datelines, or by tables
//! (`lanes`). The proof covers all of them together, buffer by buffer (`proof`); routes alone are
//! the case of one path a pair and one lane. Tables of a running fabric come from `subnet`:
//! [`Routes::trace`] finds their loops and black holes, and the proof includes packets that do not
//! arrive. `metrics` computes counts and statistics.
//!
//! Invariant: routes depend on the fabric, the algorithm and the form, and on nothing else.

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
