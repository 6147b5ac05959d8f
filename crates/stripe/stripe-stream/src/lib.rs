//! One byte stream over several connections: transport-level striping.
//!
//! ```text
//!                      ┌─ connection 0 ─┐
//!   write ─► chunks ───┼─ connection 1 ─┼──► the next chunk overall ─► read
//!                      └─ connection 2 ─┘
//! ```
//!
//! Reliable in-order connections (TCP, Unix sockets) need no markers, resets or reorder buffer.
//! Early chunks wait in the kernel, whose flow control slows down the writer.
//!
//! | [`Order`] | connection of a chunk | header |
//! |---|---|---|
//! | free | any connection with free buffer space, so that each connection is used at its full rate | number, length: 12 bytes |
//! | strict | chosen by surplus round robin; the reader runs the same scheduler (Adiseshu et al. 1996, section 3) | length: 4 bytes |
//!
//! A stalled connection blocks the stream; a failed connection ends it with an error, because data
//! in flight is lost. Dropping a writer before [`StripedWriter::finish`] also causes an error at
//! the reader, as the stream is incomplete. Nothing is encrypted.
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
//! Invariants: no allocation per chunk; a reader returns every byte as soon as all earlier bytes
//! have arrived; invalid input causes an error, never a panic.

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
