//! Time, event queues, random streams and ids, used by all simulated components.
//!
//! Invariants: no clock is read, no global state exists, and no result depends on the machine or
//! the order of scheduling.

mod event;
mod file_name;
#[macro_use]
mod id;
mod quantity;
mod random;
mod text;
mod time;
mod wheel;

pub use event::EventQueue;
pub use file_name::FileName;
pub use quantity::{ByteTime, FlitTime, Length, Rate};
pub use random::{Counted, Purpose, Stream};
pub use text::{Bytes, QuantityError};
pub use time::{Span, Time};
pub use wheel::Wheel;
