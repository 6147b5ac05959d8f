//! Scenario keys of admission control.

use gingham_kernel::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Admission control of streams: before a stream sends, a probe reserves the stream's rate at every
/// node of its path, unless a node refuses it (Yum et al. 2002, section 4.1). Not available with
/// in-transit hosts or an alternative path set.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Admission {
    /// Share of each link's rate that streams may reserve, above 0 and at most 1. Default: 0.8 (our
    /// choice).
    pub share: f64,
    /// Minimum weight of every lane not used by streams, in 64ths of a link's rate, from 1 to 64.
    /// This key matters only if arbiters have adjustable weights: lanes of streams receive the
    /// reserved share, and other lanes the rest. Default: 1.
    #[schemars(range(min = 1, max = 64))]
    pub best_effort_min: i64,
    /// Lifetime of a reservation in a node after the last packet of the stream. Default: unlimited.
    /// A crashed host or application never releases its reservations, so only a lease ends them.
    pub lease: Option<Span>,
    /// Payload of each probe, response and release, from 1 B to 64 KiB. Default: 10 flits of 128
    /// bits (Yum et al. 2002, section 5.1).
    pub length: Bytes,
    /// Priority level of probes, responses and releases, from 0 to 7. Default: the highest level.
    #[schemars(range(min = 0, max = 7))]
    pub priority: i64,
    /// Lanes that probes, responses and releases may use. Default: lane 15 of 16 lanes; with fewer
    /// lanes, all.
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
