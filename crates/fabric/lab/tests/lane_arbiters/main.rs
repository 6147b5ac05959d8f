//! Schedulers of lanes, from scenario text: accepted forms, refusals with their remedies, and the
//! shares of lanes through whole switches, on both engines.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

mod files;
mod imported;
mod network;
mod refused;
mod shares;
mod support;
mod tables;
mod understood;
