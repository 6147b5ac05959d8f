//! Stream parameters.

use gingham_fairq::{CHANNELS_MAX, SurplusRoundRobin};

use crate::error::PlanError;

pub(crate) type Scheduler = SurplusRoundRobin<CHANNELS_MAX>;

/// Distribution of chunks over the connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Any connection with free buffer space.
    #[default]
    Free,
    /// The next connection by surplus round robin.
    Strict {
        /// Bytes per round for each connection.
        quanta_bytes: Vec<u32>,
    },
}

/// Stream parameters, which the greeting conveys to the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamPlan {
    /// Distribution of chunks.
    pub order: Order,
    /// Longest chunk, in bytes.
    pub chunk_bytes: u32,
}

impl StreamPlan {
    /// Default chunk length in bytes, the maximum of segmentation offload; chunk headers add 0.02
    /// %.
    pub const CHUNK_BYTES: u32 = 1 << 16;
    /// Longest chunk that readers accept, in bytes.
    pub const CHUNK_BYTES_MAX: u32 = 1 << 24;

    pub(crate) fn check(&self, connections: usize) -> Result<(), PlanError> {
        if connections == 0 || connections > CHANNELS_MAX {
            return Err(PlanError::Connections { connections, most: CHANNELS_MAX });
        }
        if self.chunk_bytes == 0 || self.chunk_bytes > Self::CHUNK_BYTES_MAX {
            let most = Self::CHUNK_BYTES_MAX;
            return Err(PlanError::Chunk { chunk_bytes: self.chunk_bytes, most });
        }
        match &self.order {
            Order::Strict { quanta_bytes } if quanta_bytes.len() != connections => {
                Err(PlanError::Quanta { quanta: quanta_bytes.len(), connections })
            }
            _ => self.scheduler().map(|_| ()),
        }
    }

    pub(crate) fn scheduler(&self) -> Result<Option<Scheduler>, PlanError> {
        match &self.order {
            Order::Free => Ok(None),
            Order::Strict { quanta_bytes } => {
                Ok(Some(Scheduler::new(self.chunk_bytes, quanta_bytes)?))
            }
        }
    }
}

impl Default for StreamPlan {
    fn default() -> Self {
        Self { order: Order::default(), chunk_bytes: Self::CHUNK_BYTES }
    }
}
