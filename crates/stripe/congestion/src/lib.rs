//! Congestion control of one path: how much may be in flight, and how fast it goes.
//!
//! ```text
//!                  sent           acknowledged, lost
//!   Path  ----------+-------------------+------------------------------.
//!    |  Deliveries: a record a packet, and rate samples on the          |
//!    |              receiver's clock                                    v
//!    |  RoundTrip:  least, smoothed, varying                       Controller
//!    |  Pacer:      when the next packet may go   <-- window, pace --   BBR, CUBIC or a told rate
//!    v
//!   may a packet go now, and if not, when?
//! ```
//!
//! Who acknowledges says how many packets of the path are accounted for, come or lost, and how many
//! bytes of them came. A path delivers in order, so that two counts say all that there is.
//!
//! Source: draft-ietf-ccwg-bbr (BBR and delivery rate samples), RFC 9438 (CUBIC), RFC 9406
//! (`HyStart++`), RFC 6298 (round trips).
//!
//! Invariants: no clock, no I/O, no randomness but what the caller seeds; no allocation after
//! set-up; whole numbers wherever times and bytes are counted.

mod bbr;
mod controller;
mod cubic;
mod deliveries;
mod hystart;
mod pacer;
mod path;
mod round_trip;
mod told;
pub mod units;

pub use bbr::{Bbr, BbrParameters, Thousandths, keep_time};
pub use controller::{Acknowledged, Control, Controller, RateSample, Sent};
pub use cubic::Cubic;
pub use path::{Acknowledgement, Path, PathPlan, RateCap};
pub use round_trip::RoundTrip;
pub use told::Told;
