//! The file that describes an end.
//!
//! ```toml
//! name = "bundle0"                      # of the interface
//! addresses = ["10.90.0.1/24"]
//! mtu = 1400
//! private-key = "bundle0.key"           # beside this file; nobody else may read it
//! routes = ["0.0.0.0/0", "10.1.0.0/16"] # what goes through it beside its own network
//!
//! [peer]
//! public-key = "8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f"
//!
//! [[channel]]
//! local = "192.0.2.7:7000"
//! remote = "198.51.100.1:7000"
//!
//! [[channel]]
//! interface = "wwan0"                   # any address of it, the port of the other end
//! remote = "198.51.100.1:7001"
//!
//! [[channel]]
//! local = "203.0.113.7:7000"            # the other end is learned from what comes with its key
//!
//! [[channel]]
//! transport = "tcp"                     # where UDP does not pass; it mixes with UDP
//! interface = "eth1"
//! remote = "198.51.100.1:443"           # which has listen = "0.0.0.0:443" in place of both
//! ```
//!
//! Of channels over Ethernet it says something else: [`ethernet`]; more of the other end, and of several,
//! [`peer`]; of metrics and logs [`operation`]; of priorities,
//! quotas and how packets go [`policy`].

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

/// An end.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// The name of the interface.
    pub(crate) name: String,
    /// Its addresses.
    pub(crate) addresses: Vec<Prefix>,
    /// The longest packet that it takes, in bytes.
    #[serde(default = "default_mtu")]
    pub(crate) mtu: u16,
    /// The file of our key, which channels over UDP need.
    #[serde(rename = "private-key")]
    pub(crate) private_key: Option<String>,
    /// The other ends, of which they need one at least.
    #[serde(default, rename = "peer")]
    pub(crate) peers: Peers,
    /// Whether packets may go in clear, as they do over Ethernet.
    #[serde(default, rename = "allow-plaintext")]
    pub(crate) allow_plaintext: bool,
    /// How channels over Ethernet take turns.
    #[serde(default)]
    pub(crate) scheduler: SchedulerName,
    /// Whether the interfaces under channels over Ethernet pass frames whole, however long.
    #[serde(default)]
    pub(crate) offload: bool,
    /// What tells frames of channels from all else.
    #[serde(default, rename = "ether-types")]
    pub(crate) ether_types: EtherTypesTable,
    /// How channels are chosen.
    #[serde(default)]
    pub(crate) order: OrderName,
    /// What says how much may be in flight on a channel.
    #[serde(default)]
    pub(crate) control: ControlName,
    /// Networks to which packets go through the interface. Each holds as it would in the main table
    /// of routes: what is longer there goes before it, such as networks of this place. None by
    /// default.
    #[serde(default)]
    pub(crate) routes: Vec<Prefix>,
    /// The table of routes that is this daemon's own: 21332 by default, the letters ST. Another
    /// daemon on this machine has another.
    #[serde(default = "default_table")]
    pub(crate) table: u32,
    /// The priority of the first of its rules, 512 of which are its own: 32000 by default, so that
    /// they stand after those of an administrator and before the main table's, 32766. Another
    /// daemon has others.
    #[serde(default = "default_priority")]
    pub(crate) priority: u32,
    /// By which mark rules of routing tell datagrams of channels from all else, so that they go past
    /// the routes of the bundle: 21332 by default where there are routes, and none where there are
    /// not.
    pub(crate) mark: Option<u32>,
    /// The codepoint of differentiated services of all datagrams of channels, 0 to 63, or "copy":
    /// each packet's own. 0 by default: the network has one kind of them, and keeps their order.
    #[serde(default)]
    pub(crate) dscp: Dscp,
    /// Who carries packets, by name; whoever starts the daemon by default. It has no privilege in
    /// either case: another user keeps it from what is root's, such as files.
    pub(crate) user: Option<String>,
    /// How packets go, the first that matches; where there is most room by default.
    #[serde(default, rename = "policy")]
    pub(crate) policies: Vec<PolicyTable>,
    /// So many channels can be there at once, alike at both ends: room for those that a reload adds.
    #[serde(default = "operation::default_channels_max", rename = "channels-max")]
    pub(crate) channels_max: usize,
    /// Where metrics are asked for, if they are.
    pub(crate) metrics: Option<Endpoint>,
    /// Whether others than this machine may ask for them.
    #[serde(default, rename = "metrics-beyond-loopback")]
    pub(crate) metrics_beyond_loopback: bool,
    /// From which level on events are told.
    #[serde(default, rename = "log-level")]
    pub(crate) log_level: LogLevel,
    /// How events look.
    #[serde(default, rename = "log-format")]
    pub(crate) log_format: LogFormat,
    /// The channels of every other end, in the same order at both.
    #[serde(default, rename = "channel")]
    pub(crate) channels: Vec<Channel>,
}

/// What every network of IPv4 takes (RFC 791, section 3.2), and of IPv6 (RFC 8200, section 5).
const MTU_MIN: [u16; 2] = [68, 1_280];

impl Config {
    /// Whether packets of IPv6 go through it.
    pub(crate) fn has_v6(&self) -> bool {
        self.addresses.iter().any(|prefix| prefix.address().is_ipv6())
    }

    /// What it is to take at least.
    pub(crate) fn mtu_min(&self) -> u16 {
        MTU_MIN[usize::from(self.has_v6())]
    }
}

/// 1,500 less the longest header over IPv4, 64 bytes, and room for PPPoE and a tunnel or two.
const fn default_mtu() -> u16 {
    1_400
}

const fn default_table() -> u32 {
    DEFAULT_TABLE
}

const fn default_priority() -> u32 {
    32_000
}

/// "ST", as two letters make a number.
const DEFAULT_TABLE: u32 = 0x5354;
/// The same, so that whoever sees one knows the other.
const DEFAULT_MARK: u32 = DEFAULT_TABLE;

/// A channel.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Channel {
    /// The address here. Where there is none, any of the interface, and the port of the other end.
    local: Option<Endpoint>,
    /// The interface that all goes through.
    pub(crate) interface: Option<String>,
    /// The address at the other end; where there is none, the one that it has been heard from.
    remote: Option<Endpoint>,
    /// What carries it.
    #[serde(default)]
    transport: TransportName,
    /// The address where a connection of TCP is heard, which the other end opens. Channels that have
    /// it in common have one socket.
    listen: Option<Endpoint>,
    /// The interface of Ethernet, and no UDP.
    pub(crate) ethernet: Option<String>,
    /// The address of the interface of Ethernet at the other end.
    pub(crate) peer: Option<Peer>,
    /// What goes on it a turn, over Ethernet.
    #[serde(rename = "quantum-bytes")]
    pub(crate) quantum_bytes: Option<u32>,
    /// 1 before 2 and so on; 1 by default.
    pub(crate) priority: Option<NonZeroU8>,
    /// What goes on it, both ways, in a period.
    pub(crate) quota: Option<Bytes>,
    /// When that begins anew, and on which day.
    #[serde(rename = "quota-period")]
    pub(crate) quota_period: Option<QuotaPeriod>,
    #[serde(rename = "quota-day")]
    pub(crate) quota_day: Option<u8>,
    /// It goes no faster than that.
    pub(crate) rate: Option<Rate>,
}

impl Channel {
    /// Whether it is over TCP.
    pub(crate) fn is_tcp(&self) -> bool {
        self.transport == TransportName::Tcp
    }

    /// Where it listens, if it does.
    pub(crate) fn listen(&self) -> Option<SocketAddr> {
        self.listen.map(|listen| listen.0)
    }

    /// Where a connection to there begins: at any port, unless one is told.
    pub(crate) fn connect_from(&self, remote: SocketAddr) -> SocketAddr {
        let mut local = self.local(remote);
        if self.local.is_none() {
            local.set_port(0);
        }
        local
    }

    /// It over TCP, if it is.
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

    /// The address at the other end, where the channel is over UDP or TCP; unspecified where it is
    /// learned.
    pub(crate) fn remote(&self) -> Option<SocketAddr> {
        let nowhere = |local: Endpoint| SocketAddr::new(any(local.0), 0);
        self.remote.map(|remote| remote.0).or_else(|| self.local.map(nowhere))
    }

    /// What it says that only a channel over UDP or TCP has.
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

    /// What it says that only a channel over Ethernet has.
    pub(crate) const fn key_of_ethernet(&self) -> Option<&'static str> {
        match self {
            Self { peer: Some(_), .. } => Some("peer"),
            Self { quantum_bytes: Some(_), .. } => Some("quantum-bytes"),
            _ => None,
        }
    }

    /// The address here, towards that one.
    pub(crate) fn local(&self, remote: SocketAddr) -> SocketAddr {
        let any = SocketAddr::new(any(remote), remote.port());
        self.local.as_ref().map_or(any, |local| local.0)
    }

    /// Whether it says where it ends.
    pub(crate) const fn says_remote(&self) -> bool {
        self.remote.is_some()
    }

    /// Whether it says which address it has here.
    pub(crate) const fn has_local(&self) -> bool {
        self.local.is_some()
    }

    /// Whether it says where it begins.
    pub(crate) const fn is_placed(&self) -> bool {
        self.local.is_some() || self.interface.is_some()
    }

    /// Where it begins, as a name.
    pub(crate) fn place(&self) -> String {
        let local = self.listen().or_else(|| Some(self.local(self.remote()?)));
        let port = local.map_or(0, |local| local.port());
        match (&self.interface, local) {
            (Some(interface), _) => format!("{interface}:{port}"),
            (None, Some(local)) => local.to_string(),
            (None, None) => self.ethernet.clone().unwrap_or_default(),
        }
    }

    /// How it is to be used.
    pub(crate) fn preference(&self) -> Preference {
        let priority = self.priority.map_or(0, |priority| priority.get() - 1);
        let bytes_per_second_max = self.rate.map(Rate::bytes_per_second);
        Preference { priority, bytes_per_second_max }
    }

    /// What carries it, unless it is over Ethernet.
    pub(crate) fn link(&self, config: &Config) -> Option<LinkPlan> {
        let over_udp = self.plan(config.mark).map(LinkPlan::from);
        over_udp.or_else(|| self.tcp_plan(config).map(LinkPlan::from))
    }

    /// It over UDP, if it is.
    pub(crate) fn plan(&self, mark: Option<u32>) -> Option<ChannelPlan> {
        let remote = self.remote().filter(|_| !self.is_tcp())?;
        let (local, interface) = (self.local(remote), self.interface.clone());
        Some(ChannelPlan { local, interface, mark, remote })
    }
}

/// Any address of the same family.
fn any(address: SocketAddr) -> IpAddr {
    if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() }
}

/// What carries a channel that is not over Ethernet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TransportName {
    /// Wherever it passes: what is lost delays nothing else.
    #[default]
    Udp,
    /// Where it does not.
    Tcp,
}

/// An address with a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Endpoint(pub(crate) SocketAddr);

impl TryFrom<String> for Endpoint {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        let wrong = |_| {
            format!(
                "`{text}` is no address with a port such as 192.0.2.7:7000 or [2001:db8::7]:7000"
            )
        };
        text.parse().map(Self).map_err(wrong)
    }
}

/// An address and how many of its bits the network has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Prefix(IpNet);

impl FromStr for Prefix {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| {
            format!("`{text}` is no address with a length such as 10.90.0.1/24 or fd00::1/64")
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

    /// It as others have it.
    pub(crate) const fn net(&self) -> IpNet {
        self.0
    }

    /// The network of this address: what is behind its bits is zero.
    pub(crate) fn network(&self) -> Self {
        Self(self.0.trunc())
    }

    /// Whether an address is in this network.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }
}

/// How channels are chosen.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OrderName {
    /// The one on which a packet is there first.
    #[default]
    Free,
    /// In turn.
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

/// What says how much may be in flight.
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
    fn a_network_has_its_addresses() {
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
