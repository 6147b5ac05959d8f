//! Time, event queue, random streams and ids: what every simulated thing needs
//! and nothing else.
//!
//! Invariants: no clock is read, no global exists, and nothing here depends on
//! the order in which events were scheduled or on the machine it runs on.

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
