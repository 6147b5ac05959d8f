//! Errors of plans, greetings and streams.

use std::io;

use gingham_fairq::SchedulerError;
use thiserror::Error;

/// Invalid plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Number of connections out of range.
    #[error("a stream goes over 1 to {most} connections, not {connections}")]
    Connections {
        /// Number.
        connections: usize,
        /// Maximum.
        most: usize,
    },
    /// Chunk length out of range.
    #[error("a chunk has 1 to {most} bytes, not {chunk_bytes}")]
    Chunk {
        /// Bytes.
        chunk_bytes: u32,
        /// Maximum bytes.
        most: u32,
    },
    /// Not one quantum per connection.
    #[error("{quanta} quanta for {connections} connections: one each")]
    Quanta {
        /// Quanta.
        quanta: usize,
        /// Connections.
        connections: usize,
    },
    /// Invalid quanta.
    #[error("no quanta: {0}")]
    Scheduler(SchedulerError),
}

impl From<SchedulerError> for PlanError {
    fn from(error: SchedulerError) -> Self {
        Self::Scheduler(error)
    }
}

/// Error of combining connections.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GreetingError {
    /// Failure before the greeting.
    #[error("a connection ended before its greeting: {0}")]
    Connection(#[from] io::Error),
    /// No greeting.
    #[error("a connection did not begin with the greeting of a striped stream")]
    NotGreeting,
    /// Other version of the greeting.
    #[error("the other end uses version {0} of the greeting, this one version {ours}", ours = crate::greeting::VERSION)]
    Version(u8),
    /// Invalid plan.
    #[error("the plan in the greeting is invalid: {0}")]
    Plan(#[from] PlanError),
    /// Different streams.
    #[error("connections of different streams: {0:016x} and {1:016x}")]
    Streams(u64, u64),
    /// Wrong number of connections.
    #[error("the stream goes over {expected} connections, and {given} were given")]
    Count {
        /// Connections of the stream.
        expected: usize,
        /// Connections given.
        given: usize,
    },
    /// Repeated index.
    #[error("two connections are number {0}")]
    Twice(usize),
}

/// Error that ends a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StreamError {
    /// Early end of a connection.
    #[error("connection {0} ended before the stream")]
    Ended(usize),
    /// Chunk beyond the longest.
    #[error("connection {0}: a chunk longer than the greeting allows")]
    Long(usize),
    /// Repeated sequence number, or wrong end marker.
    #[error("connection {0}: a chunk out of turn")]
    OutOfTurn(usize),
    /// Missing chunk.
    #[error("no connection has chunk {0}")]
    Missing(u64),
}

impl From<StreamError> for io::Error {
    fn from(error: StreamError) -> Self {
        let kind = match error {
            StreamError::Ended(_) => io::ErrorKind::UnexpectedEof,
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}
