//! What waits before the sender, as a scenario writes it.

use gingham_entry::FqCodelPlan;
use gingham_kernel::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The queue before the sender.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Entry {
    /// The queueing discipline. The default is that of the daemon.
    pub queue: EntryQueue,
    /// Most that may wait. Default: 250 kB in one queue, 15 MB in queues by flow. A backlogged
    /// source needs no room.
    pub limit: Option<Bytes>,
    /// How long packets may wait in a standing queue before some are marked or dropped, with `queue
    /// = "fq-codel"`. Default: the round trip of the longest channel without its queue, as the
    /// sender knows it, and at least 5 ms.
    pub target: Option<Span>,
    /// How long a queue must have stood: about a round trip of a transport (RFC 8290, section
    /// 5.2.1). Default: twice the target, and at least 100 ms.
    pub interval: Option<Span>,
    /// Number of queues, to which sources are hashed (RFC 8290, section 5.2.5).
    pub flows: u32,
    /// Whether packets of sources that read marks are marked and not dropped (RFC 8290, section
    /// 5.2.6).
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

/// In which order packets wait before the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EntryQueue {
    /// One queue, in the order of their coming; a packet that finds no room is refused.
    Fifo,
    /// A queue for each flow, in turn, each held short by itself: FQ-CoDel (RFC 8290).
    #[default]
    FqCodel,
}
