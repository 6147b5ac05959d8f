//! Errors of plans, greetings and streams.

use std::io;

use gingham_fairq::SchedulerError;
use thiserror::Error;

/// Invalid plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The number of connections is out of range.
    #[error("a stream goes over 1 to {most} connections, not {connections}")]
    Connections {
        /// Requested number.
        connections: usize,
        /// Maximum number.
        most: usize,
    },
    /// The chunk length is out of range.
    #[error("a chunk has 1 to {most} bytes, not {chunk_bytes}")]
    Chunk {
        /// Requested length in bytes.
        chunk_bytes: u32,
        /// Maximum length in bytes.
        most: u32,
    },
    /// The number of quanta differs from the number of connections.
    #[error("{quanta} quanta for {connections} connections: one each")]
    Quanta {
        /// Number of quanta.
        quanta: usize,
        /// Number of connections.
        connections: usize,
    },
    /// The scheduler rejects the quanta.
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
    /// A connection failed before its greeting.
    #[error("a connection ended before its greeting: {0}")]
    Connection(#[from] io::Error),
    /// The received bytes are not a greeting.
    #[error("a connection did not begin with the greeting of a striped stream")]
    NotGreeting,
    /// The greeting has another version.
    #[error("the other end uses version {0} of the greeting, this one version {ours}", ours = crate::greeting::VERSION)]
    Version(u8),
    /// The plan in the greeting is invalid.
    #[error("the plan in the greeting is invalid: {0}")]
    Plan(#[from] PlanError),
    /// The connections belong to different streams.
    #[error("connections of different streams: {0:016x} and {1:016x}")]
    Streams(u64, u64),
    /// The number of connections is wrong.
    #[error("the stream goes over {expected} connections, and {given} were given")]
    Count {
        /// Number of connections of the stream.
        expected: usize,
        /// Number of connections given.
        given: usize,
    },
    /// Two connections have this index.
    #[error("two connections are number {0}")]
    Twice(usize),
}

/// Error that ends a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The connection ended early.
    #[error("connection {0} ended before the stream")]
    Ended(usize),
    /// A chunk is longer than the maximum.
    #[error("connection {0}: a chunk longer than the greeting allows")]
    Long(usize),
    /// A sequence number is repeated, or the end marker is wrong.
    #[error("connection {0}: a chunk out of turn")]
    OutOfTurn(usize),
    /// The chunk with this number is missing.
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
