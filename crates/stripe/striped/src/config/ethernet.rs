//! Configuration keys of channels over Ethernet: packets are sent unmodified and unencrypted,
//! scheduled as in Adiseshu, Parulkar and Varghese 1996.
//!
//! ```toml
//! name = "stripe0"
//! addresses = ["10.90.0.1/24"]
//! mtu = 1500
//! allow-plaintext = true                # anyone on the link can read the packets
//! scheduler = "surplus-round-robin"     # or "grr", "round-robin"
//!
//! [[channel]]
//! ethernet = "eth1"
//! peer = "02:00:5e:00:53:01"            # the interface at the other end
//! quantum-bytes = 1500                  # 1 to 2 ms at the channel's rate
//!
//! [[channel]]
//! ethernet = "eth2"
//! peer = "02:00:5e:00:53:02"
//! quantum-bytes = 3000
//! ```

use gingham_stripe_udp::{EtherTypes, MacAddress};
use serde::Deserialize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SchedulerName {
    /// Surplus round robin: a quantum of bytes per round, fair for any packet lengths.
    #[default]
    SurplusRoundRobin,
    /// Generalised round robin: a small number of packets per round for each channel, in the ratio
    /// closest to that of the quanta.
    Grr,
    RoundRobin,
}

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

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Peer(pub(crate) MacAddress);

impl TryFrom<String> for Peer {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self)
    }
}
