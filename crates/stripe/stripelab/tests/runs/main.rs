//! Tests that run scenarios.

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
