//! What a file says of a pipe over Ethernet: packets untouched, in the order of the paper.
//!
//! ```toml
//! name = "stripe0"
//! addresses = ["10.90.0.1/24"]
//! mtu = 1500
//! allow-plaintext = true                # who has the wire reads it
//! scheduler = "surplus-round-robin"     # or "grr", "round-robin"
//!
//! [[channel]]
//! ethernet = "eth1"
//! peer = "02:00:5e:00:53:01"            # the interface at the other end
//! quantum-bytes = 1500                  # 1 to 2 ms of what the channel carries
//!
//! [[channel]]
//! ethernet = "eth2"
//! peer = "02:00:5e:00:53:02"
//! quantum-bytes = 3000
//! ```

use gingham_stripe_udp::{EtherTypes, MacAddress};
use serde::Deserialize;

/// Which scheduler the channels have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SchedulerName {
    /// So many bytes a turn, which packets of any length share fairly.
    #[default]
    SurplusRoundRobin,
    /// Generalised round robin: packets a turn in the closest whole ratio of the quanta.
    Grr,
    /// A packet a turn.
    RoundRobin,
}

/// The EtherTypes of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EtherTypesTable {
    #[serde(default = "default_packets")]
    pub(crate) packets: u16,
    #[serde(default = "default_messages")]
    pub(crate) messages: u16,
}

fn default_packets() -> u16 {
    EtherTypes::default().packets
}

fn default_messages() -> u16 {
    EtherTypes::default().messages
}

impl Default for EtherTypesTable {
    fn default() -> Self {
        let EtherTypes { packets, messages } = EtherTypes::default();
        Self { packets, messages }
    }
}

impl From<EtherTypesTable> for EtherTypes {
    fn from(table: EtherTypesTable) -> Self {
        Self { packets: table.packets, messages: table.messages }
    }
}

/// The address of an interface.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Peer(pub(crate) MacAddress);

impl TryFrom<String> for Peer {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self)
    }
}
