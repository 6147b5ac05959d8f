//! Runs of scenarios: hand-traced ones, and properties of every run.

mod alone;
mod always;
mod defaults;
mod entry;
mod links;
mod old_names;
mod policies;
mod sizes;
mod stories;
mod support;
mod transports;
