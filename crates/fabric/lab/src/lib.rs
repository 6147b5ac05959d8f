//! Scenarios, the catalogue of their names, simulation runs and their records.
//!
//! ```text
//!   TOML, --set, Python ─► input::Tree ─► Scenario ─► compile ─► Plan ─► Run ─► Record
//!                                             └ topology file or generator
//! ```

mod bound;
mod catalogue;
mod check;
mod compile;
mod error;
mod fabric_file;
mod mechanisms;
mod no_progress;
mod old_names;
mod other_names;
mod proved;
mod record;
mod run;
mod safe_routes;
pub mod scenario;
mod sending;
mod subnet_files;

pub use bound::{BoundKind, BoundSummary, ClassBound, Loaded, TrafficBound};
pub use catalogue::{
    Entry, ExampleFile, KINDS, KindSupport, Support, SwitchingKind, catalogue, scenario_schema,
};
pub use compile::{Compiled, Draw, DrawKind, Milestone, compile, compile_observed, routes_title};
pub use error::{DeadlockReport, LabError};
pub use fabric_file::{LoadedFabric, load_fabric};
pub use gingham_input::{FileRead, OldName};
pub use gingham_net::measure::student_t;
pub use gingham_net::{SteppedBy, Stepping};
pub use no_progress::NoProgress;
pub use old_names::OLD_NAMES;
pub use other_names::OTHER_NAMES;
pub use proved::{AdaptiveChoice, ProvedRoutes};
pub use record::{
    AdmissionSummary, BusyChannel, ClassSummary, Column, ColumnData, FrameSummary, InTransitTotals,
    LinkTotals, PercentileSummary, PostingSummary, Record, ServedSummary, Table, TreeTotals,
    Verdict, result_tables, summary_schema,
};
pub use run::{Engine, NotStepped, Progress, Run};
pub use sending::{LongestPayload, Sending};
pub use subnet_files::{
    LoadedArbitration, LoadedRoutes, SubnetFiles, load_arbitration, load_routes,
};
