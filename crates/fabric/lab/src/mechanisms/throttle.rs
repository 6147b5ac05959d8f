//! Congestion control that delays messages at hosts, depending on the state of the network.

mod checks;
pub(crate) mod keys;
mod plan;

pub(crate) use plan::plan;
