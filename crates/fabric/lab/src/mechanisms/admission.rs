//! Admission control of streams: a probe reserves the rate of a stream along its path, or a node
//! refuses it.

mod checks;
pub(crate) mod columns;
pub(crate) mod keys;
mod plan;

pub(crate) use checks::of_plan;
pub(crate) use plan::{plan, sending_fabric, sending_lanes, settled};
