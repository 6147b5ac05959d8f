//! What a file says of how channels are to be used, and packets to go.
//!
//! ```toml
//! [[channel]]
//! interface = "wwan0"
//! remote = "198.51.100.1:7001"
//! priority = 2                          # after those of priority 1, which is the default
//! quota = "50 GB"                       # and nothing more goes, both ways together
//! quota-period = "month"                # or "week", "day"; a month by default
//! quota-day = 15                        # it begins on the 15th, at midnight UTC; on the 1st by default
//! rate = "20 Mbit/s"                    # it goes no faster
//!
//! [[policy]]                            # the first that matches holds
//! protocol = "udp"
//! ports = [5060, "10000-20000"]         # of either end
//! to = ["10.1.0.0/16"]
//! dscp = [46]
//! send = "redundant"                    # or "fastest", "spread"
//! ```

use std::ops::RangeInclusive;

use gingham_stripe::Class;
use ipnet::IpNet;
use serde::Deserialize;

use super::Prefix;

/// When a quota begins anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QuotaPeriod {
    Day,
    Week,
    #[default]
    Month,
}

impl QuotaPeriod {
    /// On which days it can begin: of a month on those that every month has, of a week from Monday.
    pub(crate) const fn days(self) -> Option<RangeInclusive<u8>> {
        match self {
            Self::Day => None,
            Self::Week => Some(1..=7),
            Self::Month => Some(1..=28),
        }
    }
}

/// How some packets are to go.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyTable {
    /// Of which protocol they are; any by default.
    pub(crate) protocol: Option<Protocol>,
    /// The port of either end; any by default.
    pub(crate) ports: Option<Vec<Ports>>,
    /// Where they come from; anywhere by default.
    pub(crate) from: Option<Vec<Prefix>>,
    /// Where they go to; anywhere by default.
    pub(crate) to: Option<Vec<Prefix>>,
    /// Their differentiated services code point; any by default.
    pub(crate) dscp: Option<Vec<u8>>,
    /// How they go.
    pub(crate) send: ClassName,
}

/// How packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ClassName {
    Spread,
    Fastest,
    Redundant,
}

impl From<ClassName> for Class {
    fn from(name: ClassName) -> Self {
        match name {
            ClassName::Spread => Self::Spread,
            ClassName::Fastest => Self::Fastest,
            ClassName::Redundant => Self::Redundant,
        }
    }
}

/// The number of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Word")]
pub(crate) struct Protocol(pub(crate) u8);

/// Ports from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Word")]
pub(crate) struct Ports {
    pub(crate) first: u16,
    pub(crate) last: u16,
}

/// A number or a text.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a number or a text")]
enum Word {
    Number(u64),
    Text(String),
}

/// Those that users name (IANA protocol numbers).
const PROTOCOLS: [(&str, u8); 6] =
    [("icmp", 1), ("tcp", 6), ("udp", 17), ("gre", 47), ("icmpv6", 58), ("sctp", 132)];

impl TryFrom<Word> for Protocol {
    type Error = String;
    fn try_from(word: Word) -> Result<Self, String> {
        let (number, text) = match &word {
            Word::Number(number) => (u8::try_from(*number).ok(), number.to_string()),
            Word::Text(name) => {
                let named = PROTOCOLS.iter().find(|(known, _)| known == name);
                (named.map(|(_, number)| *number), name.clone())
            }
        };
        let names = PROTOCOLS.map(|(name, _)| name).join(", ");
        let wrong = || format!("`{text}` is no protocol: {names}, or a number up to 255");
        number.map(Self).ok_or_else(wrong)
    }
}

impl TryFrom<Word> for Ports {
    type Error = String;
    fn try_from(word: Word) -> Result<Self, String> {
        let text = match word {
            Word::Number(number) => number.to_string(),
            Word::Text(text) => text,
        };
        let (first, last) = text.split_once('-').unwrap_or((&text, &text));
        match (first.trim().parse(), last.trim().parse()) {
            (Ok(first), Ok(last)) if 0 < first && first <= last => Ok(Self { first, last }),
            _ => {
                Err(format!("`{text}` is no port such as 5060, nor several such as \"5060-5090\""))
            }
        }
    }
}

impl PolicyTable {
    /// Whether all packets of another policy are of this one, too.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let protocol = self.protocol.is_none() || self.protocol == other.protocol;
        let has_port = |one: &Ports, two: &Ports| one.first <= two.first && two.last <= one.last;
        let has_prefix = |one: &Prefix, two: &Prefix| net(*one).contains(&net(*two));
        protocol
            && covers(self.ports.as_deref(), other.ports.as_deref(), has_port)
            && covers(self.from.as_deref(), other.from.as_deref(), has_prefix)
            && covers(self.to.as_deref(), other.to.as_deref(), has_prefix)
            && covers(self.dscp.as_deref(), other.dscp.as_deref(), |one, two| one == two)
    }
}

/// Whether each of some is in one of others; where nothing is said all are.
fn covers<T>(ours: Option<&[T]>, theirs: Option<&[T]>, has: impl Fn(&T, &T) -> bool) -> bool {
    match (ours, theirs) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(ours), Some(theirs)) => theirs.iter().all(|two| ours.iter().any(|one| has(one, two))),
    }
}

/// Its addresses.
pub(crate) fn net(prefix: Prefix) -> IpNet {
    prefix.0.trunc()
}

/// Whether two networks have an address in common.
pub(crate) fn meet(one: Prefix, other: Prefix) -> bool {
    net(one).contains(&net(other)) || net(other).contains(&net(one))
}
