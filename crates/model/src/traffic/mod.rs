//! Traffic: who sends when, how much, and where to.
//!
//! ```text
//!   class ── arrivals ── lengths ── destinations
//!     └ one Source an endpoint, each with a random stream a purpose
//! ```
//!
//! A [`Source`] is asked for the next interval and the next message; it never knows the state
//! of the network. Streams are keyed by seed, class and the stable name of the host, so that one
//! more host changes nobody else's draws.

mod arrivals;
mod destinations;
mod lengths;
mod source;

pub use arrivals::{ArrivalPlan, Arrivals};
pub use destinations::{DestinationPlan, Destinations};
pub use lengths::{LengthPlan, Lengths};
pub use source::{Draft, Source, SourcePlan};
