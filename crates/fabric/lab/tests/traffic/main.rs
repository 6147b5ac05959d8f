//! Traffic from scenario to messages.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

mod created;
mod destined;
mod refused;
mod replayed;
mod streams;
mod support;
