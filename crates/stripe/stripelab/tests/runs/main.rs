//! Runs of scenarios: stories that can be worked out on paper, and what holds for every run.

mod alone;
mod always;
mod defaults;
mod entry;
mod links;
mod policies;
mod sizes;
mod stories;
mod support;
mod transports;
