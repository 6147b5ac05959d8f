//! Scenario keys of flow windows and acknowledgements.

use gingham_kernel::Bytes;
use gingham_net::{Acknowledged, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limit on a flow's packets in flight, and how they are acknowledged.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Maximum number of sent but unacknowledged packets of a flow, from 1 to 1,000,000. Required
    /// unless only marked packets are acknowledged, because a window cannot wait for
    /// acknowledgements that may never be sent.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub packets: Option<i64>,
    /// Which packets are acknowledged. Default: every packet. `{ every = 4 }` acknowledges four
    /// packets of a flow at once (coalesced acknowledgements). `{ marked = "50 us" }` acknowledges
    /// only marked packets, with at least 50 us between acknowledgements of a flow (congestion
    /// notification packets, CNP).
    #[serde(default)]
    pub acknowledged: Acknowledged,
    /// Acknowledgement that a host returns for packets of the class that it has received
    /// completely.
    #[serde(default)]
    pub ack: Ack,
    /// Response of a flow to the marks that acknowledgements return (`network.marking`).
    #[serde(default)]
    pub response: Response,
}

/// Acknowledgement packet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ack {
    /// Payload of an acknowledgement, from 1 B to 64 KiB. Default: 20 B (Santos et al. 2002, table
    /// I).
    pub length: Bytes,
    /// Priority level of acknowledgements, from 0 to 7. A host sends its acknowledgements before
    /// all other packets of the same level. Default: the level of the class.
    #[schemars(range(min = 0, max = 7))]
    pub priority: Option<i64>,
    /// Lanes that acknowledgements may use. Default: the lanes of the class.
    #[schemars(extend("x-needs" = "lanes"))]
    pub lanes: Option<Vec<i64>>,
    /// Service level of acknowledgements, from 0 to 15. Default: the level of the class, or else
    /// the level that the tables give the pair from the acknowledging host to the sender.
    #[schemars(range(min = 0, max = 15), extend("x-needs" = "lanes"))]
    pub service_level: Option<i64>,
}

impl Default for Ack {
    fn default() -> Self {
        Self { length: Bytes(20), priority: None, lanes: None, service_level: None }
    }
}
