//! Errors of plans, greetings and streams.

use std::io;

use gingham_fairq::SchedulerError;
use thiserror::Error;

/// Invalid stream plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Number of connections out of range.
    #[error("a stream goes over 1 to {most} connections, not {connections}")]
    Connections {
        /// Requested number of connections.
        connections: usize,
        /// Maximum number of connections.
        most: usize,
    },
    /// Chunk length out of range.
    #[error("a chunk has 1 to {most} bytes, not {chunk_bytes}")]
    Chunk {
        /// Requested chunk length in bytes.
        chunk_bytes: u32,
        /// Maximum chunk length in bytes.
        most: u32,
    },
    /// Number of quanta different from the number of connections.
    #[error("{quanta} quanta for {connections} connections: one each")]
    Quanta {
        /// Number of quanta.
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

/// Error while combining connections into a stream.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GreetingError {
    /// Connection failure before the end of the greeting.
    #[error("a connection ended before its greeting: {0}")]
    Connection(#[from] io::Error),
    /// Connection that does not start with a greeting.
    #[error("a connection did not begin with the greeting of a striped stream")]
    NotGreeting,
    /// Unsupported greeting version.
    #[error("the other end uses version {0} of the greeting, this one version {ours}", ours = crate::greeting::VERSION)]
    Version(u8),
    /// Invalid plan in a greeting.
    #[error("the plan in the greeting is invalid: {0}")]
    Plan(#[from] PlanError),
    /// Connections of different streams.
    #[error("connections of different streams: {0:016x} and {1:016x}")]
    Streams(u64, u64),
    /// Number of connections different from the number in the greeting.
    #[error("the stream goes over {expected} connections, and {given} were given")]
    Count {
        /// Number of connections in the greeting.
        expected: usize,
        /// Number of connections passed by the caller.
        given: usize,
    },
    /// Repeated connection index.
    #[error("two connections are number {0}")]
    Twice(usize),
}

/// Error that ends a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StreamError {
    /// Connection that ended before the end of the stream.
    #[error("connection {0} ended before the stream")]
    Ended(usize),
    /// Chunk longer than the maximum.
    #[error("connection {0}: a chunk longer than the greeting allows")]
    Long(usize),
    /// Repeated sequence number, or inconsistent end marker.
    #[error("connection {0}: a chunk out of turn")]
    OutOfTurn(usize),
    /// Chunk that no connection delivered.
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
