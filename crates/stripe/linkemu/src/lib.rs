//! An emulated link: computes whether and when offered packets arrive.
//!
//! ```text
//!        duplicate?                                                held back?
//!   offer ────────► policer ──► queue ──► rate ──► delay, jitter ──────────────► outage? ──► loss? ──► damage? ──► arrival
//!                     │          ▲ │                  in order                      │          │
//!                  policed       │ queue full                                     outage      lost
//!                            competing traffic
//! ```
//!
//! The crate computes arrival times and does not move data. Callers may use virtual or real time.
//!
//! The model is our own, except for the burst loss of Gilbert (1960) and Elliott (1963). Rules:
//!
//! - **Impairments are independent.** A packet that is lost, damaged, held back or hit by an
//!   outage still occupies the queue and the wire, so that the arrival times of other packets do
//!   not change.
//! - **Jitter is added after the rate limit.** At most `rate x (t + jitter)` bytes, plus one
//!   packet, arrive within any span `t`.
//!
//! Invariants: without reordering, packets arrive in order; no arriving packet was in transit
//! during an outage; the queue exceeds its bound only if the bound is a time and the rate falls; no
//! I/O, no clock access, no allocation after construction.

mod channel;
mod competing;
mod corruption;
mod counters;
mod draws;
mod error;
mod fate;
mod loss;
mod parameters;
mod policer;
mod probability;
mod queue;

pub use channel::Channel;
pub use competing::{Competing, Spacing};
pub use counters::Counters;
pub use error::ParameterError;
pub use fate::{Arrival, DropReason, Fate};
pub use parameters::{GilbertElliott, Loss, Outage, Parameters, Reordering};
pub use policer::Policer;
pub use probability::Probability;
pub use queue::QueueBound;
