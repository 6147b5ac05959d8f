//! Congestion control of a path: congestion window and pacing rate.
//!
//! ```text
//!                  sent           acknowledged, lost
//!   Path  ----------+-------------------+------------------------------.
//!    |  Deliveries: records of packets, and rate samples on the         |
//!    |              receiver's clock                                    v
//!    |  RoundTrip:  minimum, smoothed, variation                   Controller
//!    |  Pacer:      time of the next packet <-- window, pacing rate -- BBR, CUBIC or fixed rate
//!    v
//!   may a packet be sent now, and if not, when?
//! ```
//!
//! The receiver reports the packets accounted for (received or lost), and the bytes received. Paths
//! deliver in order, so that these two counts suffice.
//!
//! Source: draft-ietf-ccwg-bbr (BBR and delivery rate samples), RFC 9438 (CUBIC), RFC 9406
//! (`HyStart++`), RFC 6298 (round trips).
//!
//! Invariants: no clock, no I/O, no randomness except from the caller's seed; no allocation after
//! set-up.

mod bbr;
mod controller;
mod cubic;
mod deliveries;
mod fixed_rate;
mod hystart;
mod pacer;
mod path;
mod round_trip;
pub mod units;

pub use bbr::{Bbr, BbrParameters, Thousandths, keep_time};
pub use controller::{Acknowledged, Control, Controller, RateSample, Sent};
pub use cubic::Cubic;
pub use fixed_rate::FixedRate;
pub use path::{Acknowledgement, Path, PathPlan, RateCap};
pub use round_trip::RoundTrip;
