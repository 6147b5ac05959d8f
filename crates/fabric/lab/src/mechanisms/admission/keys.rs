//! Scenario keys of admission control.

use gingham_kernel::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Admission control of streams: before a stream sends, a probe reserves its rate at every node of
/// its path, or a node refuses it (Yum et al. 2002, section 4.1). Not available with in-transit
/// hosts or an alternative path set.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Admission {
    /// Share of every link that streams may reserve, above 0 and at most 1. Default: .8 (ours).
    pub share: f64,
    /// Minimum weight of every lane not used by streams, in 64ths of a link, from 1 to 64. It
    /// applies if arbiters have adjustable weights: stream lanes get the reserved share, and the
    /// other lanes the rest. Default: 1.
    #[schemars(range(min = 1, max = 64))]
    pub best_effort_min: i64,
    /// Lifetime of a reservation in a node unless a packet of the stream renews it. Default:
    /// unlimited. Streams whose hosts or applications crash release nothing.
    pub lease: Option<Span>,
    /// Payload of a probe, a response or a release, from 1 B to 64 KiB. Default: 10 flits of 128
    /// bits, as in Yum et al. 2002, section 5.1.
    pub length: Bytes,
    /// Priority level of these packets, from 0 to 7. Default: the highest.
    #[schemars(range(min = 0, max = 7))]
    pub priority: i64,
    /// Lanes that these packets may use. Default: 15 if there are 16, and otherwise all.
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
