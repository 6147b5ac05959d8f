//! Scenario keys of in-transit hosts.

use crate::scenario::section::{Over, section};
use gingham_kernel::{Bytes, Rate, Span};
use gingham_net::{InTransitParameters, WhenPoolFull};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

section! {
/// How an adapter handles in-transit packets (Flich et al. 2001, section IV-A).
#[derive(Copy, Eq)]
pub struct InTransit {
    [existing InTransitParameters] {
        /// Time T_d from the arrival of the first flit until the packet is recognized as in
        /// transit. Default: from the preset.
        value detection: Span,
        /// Additional time T_r until the adapter is ready to re-inject the packet. Default: from
        /// the preset.
        value programming: Span,
        /// Size of an adapter's in-transit buffer. Default: from the preset.
        value pool: Bytes,
        /// Handling of a packet that does not fit into the in-transit buffer. Default: from the
        /// preset.
        value when_full: WhenPoolFull,
        /// Fixed delay of a spilled packet. Default: from the preset.
        value spill_delay: Span,
        /// Rate of the bus to the host's memory, which a spilled packet crosses twice. Default:
        /// from the preset.
        value spill_rate: Rate,
    }
}
}
