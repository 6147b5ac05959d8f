//! Congestion controls that delay messages at hosts by the state of the network.
//!
//! State machines: `gingham_net::throttle`.

mod checks;
pub(crate) mod keys;
mod plan;

pub(crate) use plan::plan;
