//! Marks that switches set on packets, and what flows make of them.
//!
//! Keys: [`gingham_net::Marking`]. State machines: `gingham_net::marking`.

mod checks;

pub(crate) use checks::of_plan;
