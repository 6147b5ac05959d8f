//! Admission control, as a scenario writes it.

use gingham_kernel::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Streams ask before they send: a probe reserves their rate at every node on its way, or is refused
/// by one (Yum et al. 2002, section 4.1). Not with in-transit hosts and not with a second set of paths.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Admission {
    /// The share of every link that streams may reserve, above 0 and at most 1. Default: .8 (ours).
    pub share: f64,
    /// The least weight of every lane that streams do not use, in 64ths of a link, from 1 to 64. It
    /// applies where arbiters have weights that can change: lanes of streams follow what is
    /// reserved, and the others have the rest. Default: 1.
    #[schemars(range(min = 1, max = 64))]
    pub best_effort_min: i64,
    /// How long a node holds what a stream has reserved, unless a packet of the stream renews it.
    /// Default: for ever. Streams whose hosts or applications crash release nothing.
    pub lease: Option<Span>,
    /// Payload of a probe, an answer or a release, from 1 B to 64 KiB. Default: 10 flits of 128
    /// bits, as in Yum et al. 2002, section 5.1.
    pub length: Bytes,
    /// Priority level of these packets, from 0 to 7. Default: the highest.
    #[schemars(range(min = 0, max = 7))]
    pub priority: i64,
    /// Lanes on which they may go. Default: 15 where there are 16, and all elsewhere.
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
