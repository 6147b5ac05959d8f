//! What a writer is told. A reader hears of it in the greeting.

use gingham_fairq::{CHANNELS_MAX, SurplusRoundRobin};

use crate::error::PlanError;

pub(crate) type Scheduler = SurplusRoundRobin<CHANNELS_MAX>;

/// How chunks are shared out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// To a connection that has room.
    #[default]
    Free,
    /// In turn, so many bytes a connection and round.
    Strict {
        /// Of each connection, in bytes.
        quanta_bytes: Vec<u32>,
    },
}

/// What a writer is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamPlan {
    /// How chunks are shared out.
    pub order: Order,
    /// The longest chunk, in bytes.
    pub chunk_bytes: u32,
}

impl StreamPlan {
    /// 64 KiB, the most that a network card's segmentation takes at once: headers are .02 %.
    pub const CHUNK_BYTES: u32 = 1 << 16;
    /// No reader takes longer chunks: a length beyond is none.
    pub const CHUNK_BYTES_MAX: u32 = 1 << 24;

    /// Whether it can be carried out over so many connections.
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

    /// What says whose turn it is, where it is strict.
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
    /// Free, in chunks of [`Self::CHUNK_BYTES`].
    fn default() -> Self {
        Self { order: Order::default(), chunk_bytes: Self::CHUNK_BYTES }
    }
}
