//! Errors of plans, greetings and streams.

use std::io;

use gingham_fairq::SchedulerError;
use thiserror::Error;

/// Error of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// No connections, or more than a scheduler serves.
    #[error("a stream goes over 1 to {most} connections, not {connections}")]
    Connections {
        /// Number of connections given.
        connections: usize,
        /// Maximum.
        most: usize,
    },
    /// Chunk length of zero, or longer than readers accept.
    #[error("a chunk has 1 to {most} bytes, not {chunk_bytes}")]
    Chunk {
        /// Length given, in bytes.
        chunk_bytes: u32,
        /// Maximum, in bytes.
        most: u32,
    },
    /// The number of quanta differs from that of connections.
    #[error("{quanta} quanta for {connections} connections: one each")]
    Quanta {
        /// Number of quanta given.
        quanta: usize,
        /// Number of connections.
        connections: usize,
    },
    /// Quanta that the scheduler rejects.
    #[error("no quanta: {0}")]
    Scheduler(SchedulerError),
}

impl From<SchedulerError> for PlanError {
    fn from(error: SchedulerError) -> Self {
        Self::Scheduler(error)
    }
}

/// Error of combining connections into a stream.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GreetingError {
    /// The connection failed or ended before its greeting.
    #[error("a connection ended before its greeting: {0}")]
    Connection(#[from] io::Error),
    /// The first bytes are not a greeting.
    #[error("a connection did not begin with the greeting of a striped stream")]
    NotGreeting,
    /// The other end uses another version of the greeting.
    #[error("the other end uses version {0} of the greeting, this one version {ours}", ours = crate::greeting::VERSION)]
    Version(u8),
    /// The plan in the greeting is invalid.
    #[error("the plan in the greeting is invalid: {0}")]
    Plan(#[from] PlanError),
    /// The connections belong to different streams.
    #[error("connections of different streams: {0:016x} and {1:016x}")]
    Streams(u64, u64),
    /// Some connections of the stream are missing, or there are too many.
    #[error("the stream goes over {expected} connections, and {given} were given")]
    Count {
        /// Number of connections of the stream.
        expected: usize,
        /// Number of connections given.
        given: usize,
    },
    /// Two connections have the same index.
    #[error("two connections are number {0}")]
    Twice(usize),
}

/// Error that ends a stream prematurely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The connection ended before the stream.
    #[error("connection {0} ended before the stream")]
    Ended(usize),
    /// The length exceeds the longest chunk.
    #[error("connection {0}: a chunk longer than the greeting allows")]
    Long(usize),
    /// The sequence number is a duplicate, or the end marker is wrong.
    #[error("connection {0}: a chunk out of turn")]
    OutOfTurn(usize),
    /// All connections have later chunks.
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
