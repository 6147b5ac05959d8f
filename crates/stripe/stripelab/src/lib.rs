//! The striping laboratory: scenarios, simulated runs and their records.
//!
//! ```text
//!   TOML, --set, Python ─► input::Tree ─► Scenario ─► compile ─► Plan ─► Run ─► Record
//!                                                                         │
//!                        the ends of `stripe` over the channels of `linkemu`, sources and a meter
//! ```
//!
//! Invariants: no dependency on the InfiniBand fabric crates; time, randomness and input are
//! arguments below `scenario` and `compile`; identical scenarios and seeds give bit-identical
//! results.

mod compile;
mod measure;
mod old_names;
pub mod plan;
mod record;
mod run;
pub mod scenario;
mod traffic;

pub use compile::{Alone, Compiled, compile};
pub use old_names::OLD_NAMES;
pub use record::{
    ChannelSummary, PercentileSummary, Record, SourceSummary, Verdict, result_tables,
    summary_schema,
};
pub use run::{NoProgress, Progress, Run};

/// Returns the JSON Schema of scenarios.
pub fn scenario_schema() -> serde_json::Value {
    gingham_results::schema_of::<scenario::Scenario>()
}
