//! Schedulers of lanes from scenario text on: what is understood, what is refused with which cure,
//! and what each gives its lanes through whole switches, on both engines.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

mod files;
mod imported;
mod network;
mod refused;
mod shares;
mod support;
mod tables;
mod understood;
