//! Traffic from scenario to messages: when, how long, where to, from files, and what is refused.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

mod created;
mod destined;
mod refused;
mod replayed;
mod streams;
mod support;
