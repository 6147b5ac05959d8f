//! Configuration file for one end of a bundle, an interface over several channels.
//!
//! ```toml
//! name = "bundle0"                      # interface name
//! addresses = ["10.90.0.1/24"]
//! mtu = 1400
//! private-key = "bundle0.key"           # in this file's directory; readable only by its owner
//! routes = ["0.0.0.0/0", "10.1.0.0/16"] # destinations beyond the interface's own network
//!
//! [peer]
//! public-key = "8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f"
//!
//! [[channel]]
//! local = "192.0.2.7:7000"
//! remote = "198.51.100.1:7000"
//!
//! [[channel]]
//! interface = "wwan0"                   # any address of wwan0, and the port of `remote`
//! remote = "198.51.100.1:7001"
//!
//! [[channel]]
//! local = "203.0.113.7:7000"            # the remote address is learned from authenticated datagrams
//!
//! [[channel]]
//! transport = "tcp"                     # if the network blocks UDP; can be mixed with UDP
//! interface = "eth1"
//! remote = "198.51.100.1:443"           # the other end has listen = "0.0.0.0:443" instead
//! ```
//!
//! The submodules describe the other keys.

mod ethernet;
mod hostile;
#[cfg(test)]
mod keys;
mod operation;
mod peer;
mod policy;

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU8;
use std::str::FromStr;

use gingham_input::Scenario;
use gingham_kernel::{Bytes, Rate};
use gingham_stripe::{Controlled, Order};
use gingham_stripe_udp::{ChannelPlan, LinkPlan, Preference, TcpEnd, TcpPlan};
use ipnet::IpNet;
use serde::Deserialize;

use crate::logging::{LogFormat, LogLevel};

use crate::class::Dscp;
pub(crate) use ethernet::SchedulerName;
use ethernet::{EtherTypesTable, Peer};
pub use hostile::any_configuration;
use peer::Peers;
pub(crate) use peer::{ChannelAt, ChannelNumber, PeerTable};
pub(crate) use policy::{ClassName, PolicyTable, Ports, QuotaPeriod, meet};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) name: String,
    pub(crate) addresses: Vec<Prefix>,
    #[serde(default = "default_mtu")]
    pub(crate) mtu: u16,
    /// File with this end's private key; required for channels over UDP and TCP.
    #[serde(rename = "private-key")]
    pub(crate) private_key: Option<String>,
    #[serde(default, rename = "peer")]
    pub(crate) peers: Peers,
    /// Allows unencrypted packets; required for channels over Ethernet.
    #[serde(default, rename = "allow-plaintext")]
    pub(crate) allow_plaintext: bool,
    #[serde(default)]
    pub(crate) scheduler: SchedulerName,
    #[serde(default)]
    pub(crate) offload: bool,
    #[serde(default, rename = "ether-types")]
    pub(crate) ether_types: EtherTypesTable,
    #[serde(default)]
    pub(crate) order: OrderName,
    #[serde(default)]
    pub(crate) control: ControlName,
    /// Networks routed through the interface. Each prefix is treated as if it were in the main
    /// routing table: longer prefixes there, such as those of local networks, take precedence.
    /// Default: none.
    #[serde(default)]
    pub(crate) routes: Vec<Prefix>,
    /// Routing table owned by this daemon. Default: 21332, the letters "ST". Each daemon on a
    /// machine needs its own table.
    #[serde(default = "default_table")]
    pub(crate) table: u32,
    /// Priority of the first of 512 routing rules owned by this daemon; each daemon needs its own
    /// range. The default, 32000, precedes the main table's rule, 32766.
    #[serde(default = "default_priority")]
    pub(crate) priority: u32,
    /// Firewall mark of the channels' datagrams. Routing rules match it to exclude the datagrams
    /// from the bundle's routes. Default: 21332 with `routes`, otherwise none.
    pub(crate) mark: Option<u32>,
    /// DSCP of all outer datagrams: 0 to 63, or "copy" for the inner packet's DSCP. With a fixed
    /// value (default 0), the network sees a single class and keeps the order within it.
    #[serde(default)]
    pub(crate) dscp: Dscp,
    /// User of the tunnel process. Default: the user that starts the daemon.
    pub(crate) user: Option<String>,
    /// Packet policies; the first match applies. By default, a packet is sent on the channel with
    /// the earliest expected arrival.
    #[serde(default, rename = "policy")]
    pub(crate) policies: Vec<PolicyTable>,
    /// Maximum number of channels at any time, identical at both ends, with room for channels that
    /// a reload adds.
    #[serde(default = "operation::default_channels_max", rename = "channels-max")]
    pub(crate) channels_max: usize,
    pub(crate) metrics: Option<Endpoint>,
    /// Whether `metrics` may be an address that other machines can reach.
    #[serde(default, rename = "metrics-beyond-loopback")]
    pub(crate) metrics_beyond_loopback: bool,
    #[serde(default, rename = "log-level")]
    pub(crate) log_level: LogLevel,
    #[serde(default, rename = "log-format")]
    pub(crate) log_format: LogFormat,
    #[serde(default, rename = "channel")]
    pub(crate) channels: Vec<Channel>,
}

/// Minimum MTU of IPv4 and IPv6 in bytes (RFC 791, section 3.2; RFC 8200, section 5).
const MTU_MIN: [u16; 2] = [68, 1_280];

impl Config {
    pub(crate) fn has_v6(&self) -> bool {
        self.addresses.iter().any(|prefix| prefix.address().is_ipv6())
    }

    pub(crate) fn mtu_min(&self) -> u16 {
        MTU_MIN[usize::from(self.has_v6())]
    }
}

/// Returns 1,500 bytes minus the longest header over IPv4, 64 bytes, and room for PPPoE and one or
/// two tunnels.
const fn default_mtu() -> u16 {
    1_400
}

const fn default_table() -> u32 {
    DEFAULT_TABLE
}

const fn default_priority() -> u32 {
    32_000
}

const DEFAULT_TABLE: u32 = 0x5354;
const DEFAULT_MARK: u32 = DEFAULT_TABLE;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Channel {
    local: Option<Endpoint>,
    pub(crate) interface: Option<String>,
    remote: Option<Endpoint>,
    #[serde(default)]
    transport: TransportName,
    /// Local address for incoming TCP connections. Channels with the same address share a socket.
    listen: Option<Endpoint>,
    pub(crate) ethernet: Option<String>,
    pub(crate) peer: Option<Peer>,
    #[serde(rename = "quantum-bytes")]
    pub(crate) quantum_bytes: Option<u32>,
    /// Priority level of the channel; lower numbers are used first. Default: 1.
    pub(crate) priority: Option<NonZeroU8>,
    pub(crate) quota: Option<Bytes>,
    #[serde(rename = "quota-period")]
    pub(crate) quota_period: Option<QuotaPeriod>,
    #[serde(rename = "quota-day")]
    pub(crate) quota_day: Option<u8>,
    pub(crate) rate: Option<Rate>,
}

impl Channel {
    pub(crate) fn is_tcp(&self) -> bool {
        self.transport == TransportName::Tcp
    }

    pub(crate) fn listen(&self) -> Option<SocketAddr> {
        self.listen.map(|listen| listen.0)
    }

    /// Returns the local address of a connection, with any port unless configured.
    pub(crate) fn connect_from(&self, remote: SocketAddr) -> SocketAddr {
        let mut local = self.local(remote);
        if self.local.is_none() {
            local.set_port(0);
        }
        local
    }

    pub(crate) fn tcp_plan(&self, config: &Config) -> Option<TcpPlan> {
        let end = match (self.listen(), self.remote()) {
            _ if !self.is_tcp() => return None,
            (Some(local), _) => TcpEnd::Listens(local),
            (None, remote) => {
                let remote = remote?;
                TcpEnd::Connects { local: self.connect_from(remote), remote }
            }
        };
        let interface = self.interface.clone();
        let (mark, dscp, longest_bytes) =
            (config.mark, config.dscp.of_messages(), config.mtu.into());
        Some(TcpPlan { end, interface, mark, dscp, longest_bytes })
    }

    pub(crate) fn remote(&self) -> Option<SocketAddr> {
        let nowhere = |local: Endpoint| SocketAddr::new(any(local.0), 0);
        self.remote.map(|remote| remote.0).or_else(|| self.local.map(nowhere))
    }

    pub(crate) const fn key_of_udp(&self) -> Option<&'static str> {
        match self {
            Self { remote: Some(_), .. } => Some("remote"),
            Self { local: Some(_), .. } => Some("local"),
            Self { listen: Some(_), .. } => Some("listen"),
            Self { transport: TransportName::Tcp, .. } => Some("transport"),
            Self { interface: Some(_), .. } => Some("interface"),
            Self { priority: Some(_), .. } => Some("priority"),
            Self { quota: Some(_), .. } => Some("quota"),
            Self { rate: Some(_), .. } => Some("rate"),
            _ => None,
        }
    }

    pub(crate) const fn key_of_ethernet(&self) -> Option<&'static str> {
        match self {
            Self { peer: Some(_), .. } => Some("peer"),
            Self { quantum_bytes: Some(_), .. } => Some("quantum-bytes"),
            _ => None,
        }
    }

    pub(crate) fn local(&self, remote: SocketAddr) -> SocketAddr {
        let any = SocketAddr::new(any(remote), remote.port());
        self.local.as_ref().map_or(any, |local| local.0)
    }

    pub(crate) const fn has_remote(&self) -> bool {
        self.remote.is_some()
    }

    pub(crate) const fn has_local(&self) -> bool {
        self.local.is_some()
    }

    pub(crate) const fn is_placed(&self) -> bool {
        self.local.is_some() || self.interface.is_some()
    }

    pub(crate) fn place(&self) -> String {
        let local = self.listen().or_else(|| Some(self.local(self.remote()?)));
        let port = local.map_or(0, |local| local.port());
        match (&self.interface, local) {
            (Some(interface), _) => format!("{interface}:{port}"),
            (None, Some(local)) => local.to_string(),
            (None, None) => self.ethernet.clone().unwrap_or_default(),
        }
    }

    pub(crate) fn preference(&self) -> Preference {
        let priority = self.priority.map_or(0, |priority| priority.get() - 1);
        let bytes_per_second_max = self.rate.map(Rate::bytes_per_second);
        Preference { priority, bytes_per_second_max }
    }

    pub(crate) fn link(&self, config: &Config) -> Option<LinkPlan> {
        let over_udp = self.plan(config.mark).map(LinkPlan::from);
        over_udp.or_else(|| self.tcp_plan(config).map(LinkPlan::from))
    }

    pub(crate) fn plan(&self, mark: Option<u32>) -> Option<ChannelPlan> {
        let remote = self.remote().filter(|_| !self.is_tcp())?;
        let (local, interface) = (self.local(remote), self.interface.clone());
        Some(ChannelPlan { local, interface, mark, remote })
    }
}

fn any(address: SocketAddr) -> IpAddr {
    if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TransportName {
    #[default]
    Udp,
    Tcp,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Endpoint(pub(crate) SocketAddr);

impl TryFrom<String> for Endpoint {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        let wrong = |_| {
            format!(
                "`{text}` is not an address with a port such as 192.0.2.7:7000 or [2001:db8::7]:7000"
            )
        };
        text.parse().map(Self).map_err(wrong)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Prefix(IpNet);

impl FromStr for Prefix {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| {
            format!("`{text}` is not an address with a length such as 10.90.0.1/24 or fd00::1/64")
        })
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl TryFrom<String> for Prefix {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl Prefix {
    pub(crate) fn address(&self) -> IpAddr {
        self.0.addr()
    }

    pub(crate) fn bits(&self) -> u8 {
        self.0.prefix_len()
    }

    pub(crate) const fn net(&self) -> IpNet {
        self.0
    }

    pub(crate) fn network(&self) -> Self {
        Self(self.0.trunc())
    }

    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OrderName {
    #[default]
    Free,
    Strict,
}

impl From<OrderName> for Order {
    fn from(name: OrderName) -> Self {
        match name {
            OrderName::Free => Self::Free,
            OrderName::Strict => Self::Strict,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ControlName {
    #[default]
    Bbr,
    Cubic,
}

impl From<ControlName> for Controlled {
    fn from(name: ControlName) -> Self {
        match name {
            ControlName::Bbr => Self::default(),
            ControlName::Cubic => Self::Cubic,
        }
    }
}

impl Scenario for Config {
    const EXAMPLES: &'static [(&'static str, &'static str)] = &[
        ("name", "name = \"bundle0\""),
        ("addresses", "addresses = [\"10.90.0.1/24\"]"),
        ("channel", "[[channel]] with local and remote"),
        ("public-key", "public-key = \"...\", which striped pubkey FILE prints at the other end"),
    ];

    fn fill_in(&mut self) {
        if !self.routes.is_empty() && self.mark.is_none() {
            self.mark = Some(DEFAULT_MARK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_contains_its_addresses() {
        let prefix = |text: &str| text.parse::<Prefix>();
        let ten = prefix("10.90.0.1/24").expect("a prefix");
        let has = |text: &str| ten.contains(text.parse().expect("an address"));
        assert_eq!((has("10.90.0.255"), has("10.90.1.0"), has("fd00::1")), (true, false, false));
        assert!(prefix("0.0.0.0/0").expect("all").contains(ten.address()));
        assert!(prefix("::/0").expect("all").contains("fd00::1".parse().expect("an address")));
        for (text, network) in [
            ("10.90.0.1/24", "10.90.0.0/24"),
            ("10.90.0.1/0", "0.0.0.0/0"),
            ("10.90.0.1/32", "10.90.0.1/32"),
            ("fd00::1:1/112", "fd00::1:0/112"),
            ("fd00::1/0", "::/0"),
        ] {
            assert_eq!(prefix(text).expect("a prefix").network().to_string(), network);
        }
        for wrong in ["10.90.0.1", "10.90.0.1/33", "fd00::1/129", "/24", "10.90.0.1/x"] {
            assert!(prefix(wrong).is_err(), "{wrong}");
        }
    }
}
