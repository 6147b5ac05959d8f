//! Congestion controls that delay messages at hosts depending on the network's state.
//!
//! State machines: `gingham_net::throttle`.

mod checks;
pub(crate) mod keys;
mod plan;

pub(crate) use plan::plan;
