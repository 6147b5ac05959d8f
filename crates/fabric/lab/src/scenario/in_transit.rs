//! The section on hosts that send packets on.

use gingham_kernel::{Bytes, Rate, Span};
use gingham_net::{InTransitParameters, WhenPoolFull};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an adapter does with in-transit packets (Flich et al. 2001, section IV-A).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InTransit {
    /// From the arrival of the first flit until the packet is known to be in transit, T_d. Default:
    /// the preset's.
    pub detection: Option<Span>,
    /// From then until the adapter is ready to re-inject it, T_r. Default: the preset's.
    pub programming: Option<Span>,
    /// What the in-transit buffer of an adapter holds. Default: the preset's.
    pub pool: Option<Bytes>,
    /// What becomes of a packet for which the buffer has no room. Default: the preset's.
    pub when_full: Option<WhenPoolFull>,
    /// What a spilled packet loses, whatever its length. Default: the preset's.
    pub spill_delay: Option<Span>,
    /// Rate of the bus to host memory, which a spilled packet crosses twice. Default: the preset's.
    pub spill_rate: Option<Rate>,
}

impl InTransit {
    /// A preset's figures with the departures applied.
    pub(super) fn over(&self, preset: &InTransitParameters) -> InTransitParameters {
        InTransitParameters {
            detection: self.detection.unwrap_or(preset.detection),
            programming: self.programming.unwrap_or(preset.programming),
            pool: self.pool.unwrap_or(preset.pool),
            when_full: self.when_full.unwrap_or(preset.when_full),
            spill_delay: self.spill_delay.unwrap_or(preset.spill_delay),
            spill_rate: self.spill_rate.unwrap_or(preset.spill_rate),
        }
    }
}
