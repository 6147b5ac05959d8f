//! One byte stream over several connections: transport-level striping.
//!
//! ```text
//!                      ┌─ connection 0 ─┐
//!   write ─► chunks ───┼─ connection 1 ─┼──► the next chunk of all ─► read
//!                      └─ connection 2 ─┘
//! ```
//!
//! Connections that lose nothing and keep order (TCP, Unix sockets) need neither markers nor resets
//! nor a buffer for reordering: each chunk is read where it stands at the head of its connection,
//! and what is ahead of its turn waits in the kernel, whose flow control holds the writer back.
//!
//! | [`Order`] | a chunk goes | its header |
//! |---|---|---|
//! | free | on a connection that has room, so that each carries what it can | number, length: 12 bytes |
//! | strict | on that which surplus round robin says; the reader runs the same scheduler (Adiseshu et al. 1996, section 3) | length: 4 bytes |
//!
//! A connection that stands still holds the stream up, and one that breaks ends it with an error:
//! what was under way on it is lost. The stream of a writer that is dropped before
//! [`StripedWriter::finish`] ends in an error too, so that nobody takes a part for the whole.
//! Nothing is ciphered.
//!
//! ```
//! use std::io::{Read, Write};
//! use std::os::unix::net::UnixStream;
//! use gingham_stripe_stream::{StreamPlan, StripedReader, StripedWriter};
//!
//! let pairs = [UnixStream::pair()?, UnixStream::pair()?];
//! let (near, far): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
//! let mut writer = StripedWriter::new(near, &StreamPlan::default())?;
//! writer.write_all(b"in order")?;
//! writer.finish()?;
//! let mut text = String::new();
//! StripedReader::new(far)?.read_to_string(&mut text)?;
//! assert_eq!(text, "in order");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Invariants: no allocation a chunk; a reader holds no byte of a chunk back; whatever bytes come,
//! a reader ends in an error at worst.

#![cfg(unix)]

mod chunk;
mod error;
mod greeting;
mod plan;
mod reader;
mod readiness;
mod writer;

pub use error::{GreetingError, PlanError, StreamError};
pub use greeting::Greeting;
pub use plan::{Order, StreamPlan};
pub use reader::StripedReader;
pub use writer::StripedWriter;
