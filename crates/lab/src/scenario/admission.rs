//! Admission control, as a scenario writes it.

use gingham_kernel::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Streams ask before they send: a probe reserves their rate at every node on its way, or is refused
/// by one (Yum et al. 2002, section 4.1). Not with in-transit hosts and not with a second set of paths.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Admission {
    /// The share of every link that streams may reserve, above 0 and at most 1; .8 unless given
    /// (ours).
    pub share: f64,
    /// The least weight of every lane that streams do not use, in 64ths of a link, from 1 to 64, where
    /// arbiters have weights that can change: those of lanes of streams follow what is reserved, and
    /// the others have the rest. 1 unless given.
    #[schemars(range(min = 1, max = 64))]
    pub best_effort_min: i64,
    /// For how long a node holds what a stream has reserved unless a packet of the stream renews it; for
    /// ever unless given. Streams whose hosts or applications crash release nothing by themselves.
    pub lease: Option<Span>,
    /// Payload of a probe, and of what answers it or releases, from 1 B to 64 KiB; 10 flits of 128
    /// bits as in Yum et al. 2002, section 5.1, unless given.
    pub length: Bytes,
    /// Level of these packets, from 0 to 7; the highest unless given.
    #[schemars(range(min = 0, max = 7))]
    pub priority: i64,
    /// Lanes on which they may go; 15 where there are 16, and all elsewhere, unless given.
    pub lanes: Option<Vec<i64>>,
}

impl Default for Admission {
    fn default() -> Self {
        Self {
            share: 0.8,
            best_effort_min: 1,
            lease: None,
            length: Bytes(160),
            priority: 7,
            lanes: None,
        }
    }
}
