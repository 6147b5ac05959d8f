//! Simulated time, event queues, random streams and ids.
//!
//! Invariants: no clock or global state; results depend neither on the machine nor on the
//! scheduling order.

mod delay_queue;
mod event;
mod fifo;
mod file_name;
#[macro_use]
mod id;
mod quantity;
mod random;
mod text;
mod time;
mod wheel;

pub use delay_queue::{DelayQueue, FIFOS};
pub use event::EventQueue;
pub use fifo::Fifo;
pub use file_name::FileName;
pub use quantity::{ByteTime, FlitTime, Length, Rate};
pub use random::{Counted, Purpose, Stream};
pub use text::{Bytes, QuantityError};
pub use time::{Span, Time};
pub use wheel::Wheel;
