//! Congestion marks that switches set on packets, and the responses of flows to these marks.
//!
//! Keys: [`gingham_net::Marking`]. State machines: `gingham_net::marking`.

mod checks;

pub(crate) use checks::of_plan;
