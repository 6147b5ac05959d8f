//! A striping scenario in TOML: all inputs of a run.
//!
//! ```toml
//! title = "10 and 20 Mbit/s make 30"
//!
//! [stop]
//! time = "5 s"
//!
//! [[channel]]
//! rate = "10 Mbit/s"
//! delay = "10 ms"
//!
//! [[channel]]
//! rate = "20 Mbit/s"
//! delay = "25 ms"
//!
//! [[source]]
//! packets = { in_turn = ["1000 B", "200 B"] }
//! ```
//!
//! Names and units are resolved here; [`crate::compile`] turns the scenario into typed integers.
//! `gingham` shows the doc comments of the fields as help.

mod channel;
mod choice;
mod control;
mod entry;
mod measure;
mod queue;
mod source;
mod stripe;

use crate::old_names::OLD_NAMES;
pub use channel::{
    Back, Bursts, Channel, Competing, MtuStep, OutageSpan, Policer, QuantumStep, RateStep,
    Reordering, Spacing,
};
pub use control::{Control, Order, Rule};
pub use entry::{Entry, EntryQueue};
pub use gingham_input::Overrides;
use gingham_input::{FORMAT, InputError, OldName, Tree};
pub use measure::{Measure, Stop};
pub use queue::QueueLength;
pub use source::{
    Constant, Frames, List, Mixed, OnOff, Packets, Send, Source, SourceKind, Transport, Uniform,
};
pub use stripe::{
    Generalised, Markers, Quanta, Receiver, Reception, Repair, Reports, Restore, Scheduler, Sizes,
    Stripe, Tells,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Striping scenario. Missing keys have default values.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// File format version. Default: the current version.
    #[serde(default = "gingham_input::present_format", skip_serializing)]
    #[schemars(range(min = 1, max = FORMAT), extend("default" = FORMAT))]
    pub format: u32,
    /// Purpose of the scenario, used in titles of tables and figures.
    #[serde(default)]
    pub title: String,
    /// Seed of all random streams. Identical scenarios and seeds give bit-identical results on any
    /// machine.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Striping over the channels, and resequencing at the receiver.
    #[serde(default)]
    pub stripe: Stripe,
    /// Channels, 1 to 64.
    pub channel: Vec<Channel>,
    /// Entry queue, before the sender.
    #[serde(default)]
    pub entry: Entry,
    /// Traffic sources.
    #[serde(default = "one_backlogged")]
    #[schemars(extend("default" = [{ "kind": "backlogged" }]))]
    pub source: Vec<Source>,
    /// Application that reads the delivered packets.
    #[serde(default)]
    pub receiver: Receiver,
    /// End of the run, and the measurement window.
    pub stop: Stop,
    /// Data recorded in addition to totals.
    #[serde(default)]
    pub measure: Measure,
}

/// Scenario with the positions of its keys.
pub type ScenarioSource = gingham_input::Source<Scenario>;

const MOVED: [(&str, &str); 1] = [("stripe.queue", "entry.limit")];

impl gingham_input::Scenario for Scenario {
    const HAS_FORMAT: bool = true;

    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("channel", "tables such as `channel = [{ rate = \"10 Mbit/s\" }]`"),
        ("stop", "a table such as `stop = { time = \"10 s\" }`"),
        ("stop.time", "a time such as `time = \"10 s\"`"),
    ];

    const OLD_NAMES: &'static [OldName] = &OLD_NAMES;

    fn refuse_old(tree: &Tree) -> Result<(), InputError> {
        match MOVED.iter().find(|(old, _)| tree.get(old).is_some()) {
            Some((old, new)) => Err(InputError::at(tree, old, format!("is called `{new}` now"))),
            None => Ok(()),
        }
    }

    fn fill_in(&mut self) {
        for (index, channel) in self.channel.iter_mut().enumerate() {
            channel.name.get_or_insert_with(|| (index + 1).to_string());
        }
        for (index, source) in self.source.iter_mut().enumerate() {
            source.name.get_or_insert_with(|| (index + 1).to_string());
        }
    }
}

const fn default_seed() -> u64 {
    1
}

fn one_backlogged() -> Vec<Source> {
    vec![Source::default()]
}
