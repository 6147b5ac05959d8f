//! Policing: a token bucket for each class and host.
//!
//! State machine: `gingham_net::policing`.

pub(crate) mod keys;
mod plan;

pub(crate) use plan::{check_packets, policing, time_at};
