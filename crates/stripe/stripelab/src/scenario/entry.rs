//! Entry queue of a scenario, before the sender.

use gingham_entry::FqCodelPlan;
use gingham_kernel::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Entry queue, before the sender.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Entry {
    /// Queueing discipline. Default: as in the daemon.
    pub queue: EntryQueue,
    /// Capacity. Default: 250 kB for one queue, 15 MB for queues per flow. Backlogged sources need
    /// no space.
    pub limit: Option<Bytes>,
    /// Longest standing delay before packets are marked or dropped, with `queue = "fq-codel"`.
    /// Default: the longest unloaded round-trip time of the channels, as measured by the sender,
    /// but at least 5 ms.
    pub target: Option<Span>,
    /// Time that the delay must exceed the target before the first mark or drop: about a
    /// transport's round-trip time (RFC 8290, section 5.2.1). Default: twice the target, but at
    /// least 100 ms.
    pub interval: Option<Span>,
    /// Number of flow queues; a hash assigns sources to them (RFC 8290, section 5.2.5).
    pub flows: u32,
    /// Whether packets of sources with ECN are marked instead of dropped (RFC 8290, section 5.2.6).
    pub ecn: bool,
}

impl Default for Entry {
    fn default() -> Self {
        Self {
            queue: EntryQueue::FqCodel,
            limit: None,
            target: None,
            interval: None,
            flows: FqCodelPlan::FLOWS,
            ecn: true,
        }
    }
}

/// Queueing discipline of the entry queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EntryQueue {
    /// Single queue in arrival order, which refuses packets when full.
    Fifo,
    /// FQ-CoDel: a queue for each flow, served round robin and kept short by CoDel (RFC 8290).
    #[default]
    FqCodel,
}
