//! Channel adapters, and how applications post messages to them.
//!
//! State machines: `gingham_net::adapter` and `gingham_net::posting`.

mod checks;
pub(crate) mod columns;
pub(crate) mod keys;
mod plan;

pub(crate) use checks::of_plan;
pub(crate) use plan::{adapters, post};
