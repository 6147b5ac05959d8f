//! Congestion marks that switches set on packets, and the responses of flows to these marks.
//!
//! Keys: [`gingham_net::Marking`].

mod checks;

pub(crate) use checks::of_plan;
