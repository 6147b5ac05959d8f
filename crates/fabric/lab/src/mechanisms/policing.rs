//! Policing: a token bucket for each class and host.

mod checks;
pub(crate) mod keys;
mod plan;

pub(crate) use checks::of_plan;
pub(crate) use plan::{plan, time_at};
