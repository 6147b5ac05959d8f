//! How much of a flow may be under way, and how fast it may go.

use gingham_kernel::Bytes;
use gingham_net::{Answered, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many packets of a flow may be under way, and how they are answered.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Most packets of a flow that are sent and not answered, from 1 to 1,000,000. Required, except
    /// where only marked packets are answered, since no window can wait for those.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub packets: Option<i64>,
    /// Which packets are answered. Default: each. `{ every = 4 }` answers that many of a flow at
    /// once (coalesced acknowledgements). `{ marked = "50 us" }` answers only marked packets, with
    /// at least that time between answers of a flow (congestion notification packets, CNP).
    #[serde(default)]
    pub answered: Answered,
    /// The packet with which a host answers each packet of the class that it has received whole.
    #[serde(default)]
    pub answer: Answer,
    /// How a flow responds to the marks that answers bring back (`network.marking`).
    #[serde(default)]
    pub response: Response,
}

/// The packet with which a host answers one that it has received.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    /// Payload of an answer, from 1 B to 64 KiB. Default: that of Santos et al. 2002, table I.
    pub length: Bytes,
    /// Priority level of answers, from 0 to 7. At a host answers of a level go before all else of
    /// it. Default: that of the class.
    #[schemars(range(min = 0, max = 7))]
    pub priority: Option<i64>,
    /// Lanes on which answers may go. Default: those of the class.
    #[schemars(extend("x-needs" = "lanes"))]
    pub lanes: Option<Vec<i64>>,
    /// Service level of answers, from 0 to 15. Default: that of the class. If it has none, tables
    /// give the level, for the pair from the answering host to the sender.
    #[schemars(range(min = 0, max = 15), extend("x-needs" = "lanes"))]
    pub service_level: Option<i64>,
}

impl Default for Answer {
    fn default() -> Self {
        Self { length: Bytes(20), priority: None, lanes: None, service_level: None }
    }
}
