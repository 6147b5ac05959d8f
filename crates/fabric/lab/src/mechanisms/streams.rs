//! Streams of a class: many for each host, each a separate sequence of frames or bursts.
//!
//! State machine: `gingham_net::traffic::streams`.

mod checks;
pub(crate) mod columns;
mod counts;
pub(crate) mod frames;
pub(crate) mod keys;
mod placement;
mod plan;
mod trace;

pub(crate) use plan::streams;
