//! An emulated link: what becomes of each packet that is offered to one direction of it.
//!
//! ```text
//!        duplicate?                                                held back?
//!   offer ────────► policer ──► queue ──► rate ──► delay, jitter ──────────────► outage? ──► loss? ──► damage? ──► arrival
//!                     │          ▲ │                  in order                      │          │
//!                  policed       │ queue full                                     outage      lost
//!                            competing traffic
//! ```
//!
//! It moves nothing itself: it tells whether and when a packet of so many bytes arrives, and the
//! caller waits, in virtual time or in real time.
//!
//! Source: the model is ours; the bursts of loss are those of Gilbert (1960) and Elliott (1963).
//! Its rules:
//!
//! - **Draws by number.** What is drawn for a packet is a hash of seed, direction, purpose and the
//!   packet's number.
//! - **Impairments do not touch each other.** A packet that is lost, damaged, held back or cut off
//!   has taken its time on the wire and its place in the order like any other, so that a loss that
//!   is switched on moves nobody else's arrival. Two runs that differ in one of these differ in
//!   that alone. A duplicate is one packet more: it takes time on the wire, too.
//! - **Jitter arises behind the rate.** A packet that waits there for the one before it may arrive
//!   right behind it: what arrives within a span `t` has at most `rate x (t + jitter)` bytes, and
//!   one packet.
//!
//! Invariants: without reordering packets arrive in the order in which they were offered; what
//! arrives was on its way at no instant of an outage; the queue never holds more than its bound; no
//! I/O, no clock, no allocation after construction.

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
