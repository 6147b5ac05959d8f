//! What can be wrong with a stream.

use std::io;

use gingham_fairq::SchedulerError;
use thiserror::Error;

/// A plan that cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// None, or more than a scheduler serves.
    #[error("a stream goes over 1 to {most} connections, not {connections}")]
    Connections {
        /// How many were given.
        connections: usize,
        /// The most.
        most: usize,
    },
    /// Empty, or longer than readers take.
    #[error("a chunk has 1 to {most} bytes, not {chunk_bytes}")]
    Chunk {
        /// What was given.
        chunk_bytes: u32,
        /// The most.
        most: u32,
    },
    /// Not one a connection.
    #[error("{quanta} quanta for {connections} connections: one each")]
    Quanta {
        /// How many were given.
        quanta: usize,
        /// How many connections there are.
        connections: usize,
    },
    /// Quanta that no round serves.
    #[error("no quanta: {0}")]
    Scheduler(SchedulerError),
}

impl From<SchedulerError> for PlanError {
    fn from(error: SchedulerError) -> Self {
        Self::Scheduler(error)
    }
}

/// Why connections make no stream.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GreetingError {
    /// It broke, or ended, before it was greeted.
    #[error("a connection ended before its greeting: {0}")]
    Connection(#[from] io::Error),
    /// What came is no greeting.
    #[error("what came first on a connection is no greeting of a striped stream")]
    Stranger,
    /// The other end speaks another version.
    #[error("the other end speaks version {0} of the greeting, this one version {ours}", ours = crate::greeting::VERSION)]
    Version(u8),
    /// What the other end says of its stream cannot be.
    #[error("a greeting speaks of what cannot be: {0}")]
    Plan(#[from] PlanError),
    /// Connections of several streams.
    #[error("connections of different streams: {0:016x} and {1:016x}")]
    Streams(u64, u64),
    /// Too many or too few of a stream's connections.
    #[error("the stream goes over {expected} connections, and {given} were given")]
    Count {
        /// Over so many.
        expected: usize,
        /// So many.
        given: usize,
    },
    /// Two connections have one place.
    #[error("two connections are number {0}")]
    Twice(usize),
}

/// Why a stream ends before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StreamError {
    /// A connection ended, and the stream had not.
    #[error("connection {0} ended before the stream")]
    Ended(usize),
    /// A length beyond the longest chunk.
    #[error("connection {0}: a chunk longer than the greeting allows")]
    Long(usize),
    /// A number that was there before, or an end that is none.
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
