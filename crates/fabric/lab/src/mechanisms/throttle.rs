//! Congestion controls by which hosts look at the network before they begin a message.
//!
//! State machines: `gingham_net::throttle`.

mod checks;
pub(crate) mod keys;
mod plan;

pub(crate) use plan::plan;
