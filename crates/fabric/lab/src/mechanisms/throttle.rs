//! Congestion control that delays messages at hosts, depending on the state of the network.
//!
//! State machines: `gingham_net::throttle`.

mod checks;
pub(crate) mod keys;
mod plan;

pub(crate) use plan::plan;
