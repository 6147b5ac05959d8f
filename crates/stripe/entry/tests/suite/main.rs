//! The entry queue: stories worked out on paper, and what holds for every run of it.

mod always;
mod fairness;
mod limits;
mod support;
