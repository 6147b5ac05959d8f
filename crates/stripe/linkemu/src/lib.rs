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
//! The crate moves no data; the caller waits, in virtual or real time.
//!
//! Source: the model is ours, except the bursts of loss of Gilbert (1960) and Elliott (1963). Its
//! rules:
//!
//! - **Draws by number.** Each random number is a hash of seed, direction, purpose and packet
//!   number.
//! - **Impairments are independent.** A packet that is lost, damaged, held back or cut off still
//!   takes its time on the wire and its place in the order: the arrival of other packets does not
//!   change.
//! - **Jitter is added after the rate limit.** Packets that arrive within a span `t` have at most
//!   `rate x (t + jitter)` bytes, plus one packet.
//!
//! Invariants: without reordering, packets arrive in order; no arriving packet was in transit
//! during an outage; the queue never exceeds its bound, except a bound in time after the rate
//! falls; no I/O, no clock, no allocation after construction.

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
