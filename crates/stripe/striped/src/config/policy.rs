//! Configuration keys of channel priorities, quotas and rates, and of packet policies.
//!
//! ```toml
//! [[channel]]
//! interface = "wwan0"
//! remote = "198.51.100.1:7001"
//! priority = 2                          # used after channels of priority 1, the default
//! quota = "50 GB"                       # limit per period, both directions combined
//! quota-period = "month"                # or "week", "day"; month by default
//! quota-day = 15                        # renewed on the 15th, at midnight UTC; 1 by default
//! rate = "20 Mbit/s"                    # maximum sending rate
//!
//! [[policy]]                            # the first match applies
//! protocol = "udp"
//! ports = [5060, "10000-20000"]         # source or destination port
//! to = ["10.1.0.0/16"]
//! dscp = [46]
//! send = "redundant"                    # or "fastest", "spread"
//! ```

use std::ops::RangeInclusive;

use gingham_stripe::Class;
use ipnet::IpNet;
use serde::Deserialize;

use super::Prefix;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QuotaPeriod {
    Day,
    Week,
    #[default]
    Month,
}

impl QuotaPeriod {
    /// Returns the valid renewal days: 1 to 28 for a monthly quota, or 1 (Monday) to 7 for a weekly
    /// quota.
    pub(crate) const fn days(self) -> Option<RangeInclusive<u8>> {
        match self {
            Self::Day => None,
            Self::Week => Some(1..=7),
            Self::Month => Some(1..=28),
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyTable {
    pub(crate) protocol: Option<Protocol>,
    pub(crate) ports: Option<Vec<Ports>>,
    pub(crate) from: Option<Vec<Prefix>>,
    pub(crate) to: Option<Vec<Prefix>>,
    pub(crate) dscp: Option<Vec<u8>>,
    pub(crate) send: ClassName,
}

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Word")]
pub(crate) struct Protocol(pub(crate) u8);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Word")]
pub(crate) struct Ports {
    pub(crate) first: u16,
    pub(crate) last: u16,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a number or a text")]
enum Word {
    Number(u64),
    Text(String),
}

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
        let wrong = || format!("`{text}` is not a protocol: {names}, or a number up to 255");
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
                Err(format!("`{text}` is not a port such as 5060 or a range such as \"5060-5090\""))
            }
        }
    }
}

impl PolicyTable {
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

fn covers<T>(ours: Option<&[T]>, theirs: Option<&[T]>, has: impl Fn(&T, &T) -> bool) -> bool {
    match (ours, theirs) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(ours), Some(theirs)) => theirs.iter().all(|two| ours.iter().any(|one| has(one, two))),
    }
}

pub(crate) fn net(prefix: Prefix) -> IpNet {
    prefix.0.trunc()
}

pub(crate) fn meet(one: Prefix, other: Prefix) -> bool {
    net(one).contains(&net(other)) || net(other).contains(&net(one))
}
