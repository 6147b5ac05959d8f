//! Schedulers of lanes, from scenario text to the shares of lanes, on both engines.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

mod files;
mod imported;
mod network;
mod refused;
mod shares;
mod support;
mod tables;
mod understood;
