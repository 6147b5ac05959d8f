//! Nodes with several adapters, and jobs placed on them.

mod cluster;
mod exhaustive;
mod patterns;
mod real_dumps;
mod support;
