//! Traffic from scenario to messages: times, lengths, destinations, files, and refusals.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

mod created;
mod destined;
mod refused;
mod replayed;
mod streams;
mod support;
