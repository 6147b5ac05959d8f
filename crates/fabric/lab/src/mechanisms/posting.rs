//! Channel adapters, and how applications post messages to them.
//!
//! State machines: `gingham_net::adapter` and `gingham_net::posting`.

mod adapters;
pub(crate) mod columns;
pub(crate) mod keys;
mod plan;

pub(crate) use adapters::{check, plan as adapters};
pub(crate) use plan::post;
