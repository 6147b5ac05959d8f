//! Configuration keys of peers.
//!
//! ```toml
//! [[peer]]                              # [peer] for a single peer
//! name = "office"                       # name in reports; by default the public key
//! public-key = "8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f"
//! preshared-key = "office.psk"          # in this file's directory; none by default
//! allowed-ips = ["10.90.0.1/32"]        # default for a single peer: the interface's networks
//!
//! [[peer.channel]]                      # only for this peer, numbered after the common channels
//! local = "192.0.2.7:7000"
//! remote = "198.51.100.1:7000"
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use gingham_stripe_crypt::PublicKey;
use gingham_stripe_udp::CHANNELS_MAX;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Channel, Config, Prefix};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PeerTable {
    pub(crate) name: Option<PeerName>,
    pub(crate) public_key: PublicKeyText,
    pub(crate) preshared_key: Option<String>,
    /// Networks behind the peer: allowed source addresses of its packets, and destinations routed
    /// to it.
    pub(crate) allowed_ips: Option<Vec<Prefix>>,
    #[serde(default, rename = "channel")]
    pub(crate) channels: Vec<Channel>,
}

impl PeerTable {
    pub(crate) fn name(&self) -> String {
        self.name.as_ref().map_or_else(|| self.public_key.0.to_string(), |name| name.0.clone())
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Peers {
    pub(crate) list: Vec<PeerTable>,
    is_one: bool,
    /// Slot of each peer, by index in the file; kept across reloads.
    places: Vec<usize>,
}

impl Peers {
    fn new(list: Vec<PeerTable>, is_one: bool) -> Self {
        let places = (0..list.len()).collect();
        Self { list, is_one, places }
    }

    pub(crate) fn place(&self, number: usize) -> usize {
        self.places.get(number).copied().unwrap_or(number)
    }

    pub(crate) fn at(&self, place: usize) -> Option<usize> {
        self.places.iter().position(|one| *one == place)
    }

    /// Gives each new peer the lowest free slot. Both processes thus choose the same slots.
    pub(crate) fn keep_places(&mut self, before: &Self) {
        let known: BTreeMap<_, _> =
            before.list.iter().map(|one| one.public_key.0).zip(&before.places).collect();
        let kept: Vec<Option<usize>> =
            self.list.iter().map(|one| known.get(&one.public_key.0).map(|place| **place)).collect();
        let taken: BTreeSet<usize> = kept.iter().copied().flatten().collect();
        let mut free = (0..).filter(|place| !taken.contains(place));
        let place = |kept: Option<usize>| kept.unwrap_or_else(|| free.next().expect("no end"));
        self.places = kept.into_iter().map(place).collect();
    }

    pub(crate) fn key(&self, number: usize, key: &str) -> String {
        if self.is_one { format!("peer.{key}") } else { format!("peer.{number}.{key}") }
    }

    pub(crate) fn title(&self, number: usize) -> String {
        if self.is_one { "peer".into() } else { format!("peer[{number}]") }
    }
}

impl<'de> Deserialize<'de> for Peers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Peers;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table [peer], or several [[peer]]")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Peers, A::Error> {
                let one = PeerTable::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Peers::new(vec![one], true))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Peers, A::Error> {
                let mut list = Vec::new();
                while let Some(one) = items.next_element()? {
                    list.push(one);
                }
                Ok(Peers::new(list, false))
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

/// Peer slot and channel id as a single number, exchanged between the daemon's processes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ChannelNumber {
    pub(crate) place: usize,
    pub(crate) id: usize,
}

impl ChannelNumber {
    pub(crate) const fn of(number: usize) -> Self {
        Self { place: number / CHANNELS_MAX, id: number % CHANNELS_MAX }
    }

    pub(crate) const fn number(self) -> usize {
        self.place * CHANNELS_MAX + self.id
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ChannelAt<'a> {
    /// Peer of the channel; `None` for a channel of all peers.
    pub(crate) peer: Option<usize>,
    pub(crate) channel: &'a Channel,
    path: String,
    title: String,
}

impl ChannelAt<'_> {
    pub(crate) fn table(&self) -> String {
        self.path.clone()
    }

    pub(crate) fn key(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }
}

impl fmt::Display for ChannelAt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)
    }
}

impl Config {
    pub(crate) fn channels_at(&self) -> impl Iterator<Item = ChannelAt<'_>> {
        let of_all = self.channels.iter().enumerate().map(|(number, channel)| ChannelAt {
            peer: None,
            channel,
            path: format!("channel.{number}"),
            title: format!("channel[{number}]"),
        });
        let of_each = self.peers.list.iter().enumerate().flat_map(move |(peer, table)| {
            table.channels.iter().enumerate().map(move |(number, channel)| ChannelAt {
                peer: Some(peer),
                channel,
                path: self.peers.key(peer, &format!("channel.{number}")),
                title: format!("{}.channel[{number}]", self.peers.title(peer)),
            })
        });
        of_all.chain(of_each)
    }

    pub(crate) fn channels_of(&self, peer: usize) -> impl Iterator<Item = ChannelAt<'_>> {
        self.channels_at().filter(move |one| one.peer.is_none_or(|owner| owner == peer))
    }

    pub(crate) fn channel_asked(&self, number: usize) -> Option<&Channel> {
        let ChannelNumber { place, id } = ChannelNumber::of(number);
        self.channels_of(self.peers.at(place)?).nth(id).map(|at| at.channel)
    }

    /// Returns the allowed networks of each peer; by default the interface's networks and routes.
    pub(crate) fn allowed(&self) -> impl Iterator<Item = Vec<Prefix>> {
        let default = || [&self.addresses[..], &self.routes].concat();
        self.peers.list.iter().map(move |peer| peer.allowed_ips.clone().unwrap_or_else(default))
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct PeerName(pub(crate) String);

/// Maximum length in characters, above the length of any host name (RFC 1035, section 2.3.4).
const NAME_CHARACTERS_MAX: usize = 255;

impl TryFrom<String> for PeerName {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        let is_line = !text.trim().is_empty() && !text.contains(char::is_control);
        if is_line && text.chars().count() <= NAME_CHARACTERS_MAX {
            Ok(Self(text))
        } else {
            Err(format!("a name is one line of at most {NAME_CHARACTERS_MAX} characters"))
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct PublicKeyText(pub(crate) PublicKey);

impl TryFrom<String> for PublicKeyText {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        let wrong = |error| format!("`{text}`: {error}; at the other end: striped pubkey FILE");
        text.parse().map(Self).map_err(wrong)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use gingham_input::{Overrides, Source};

    use super::*;

    #[test]
    fn invalid_names_and_keys_are_rejected() {
        for wrong in ["", " ", "a\nb", "a\u{1b}[1m", &"a".repeat(256)] {
            assert!(PeerName::try_from(wrong.to_owned()).is_err(), "{wrong:?}");
        }
        assert!(PeerName::try_from("büro, 2. Stock".to_owned()).is_ok());
        assert!(PublicKeyText::try_from("00".repeat(32)).is_err());
        assert!(PublicKeyText::try_from("09".repeat(32)).is_ok());
    }

    fn peers(keys: &[u8]) -> Peers {
        let mut text = String::from("name = \"b\"\naddresses = [\"10.90.0.1/24\"]\n");
        for key in keys {
            let digits = format!("{key:02x}").repeat(32);
            text.extend(["[[peer]]\npublic-key = \"", &digits, "\"\n"]);
        }
        let source = Source::<Config>::parse("b", &text, Path::new("."), &Overrides::default());
        source.unwrap_or_else(|error| panic!("{error}")).scenario.peers
    }

    #[test]
    fn kept_peers_keep_their_slots_and_new_ones_take_the_lowest() {
        let mut before = peers(&[1, 2, 3]);
        for (keys, places) in [
            (vec![3, 1], vec![2, 0]),
            (vec![4, 3, 5, 1], vec![1, 2, 3, 0]),
            (vec![6, 7, 8], vec![0, 1, 2]),
            (vec![8, 7], vec![2, 1]),
            (vec![9, 7, 8], vec![0, 1, 2]),
        ] {
            let mut after = peers(&keys);
            after.keep_places(&before);
            assert_eq!(after.places, places, "{keys:?}");
            let numbers: Vec<_> = places.iter().map(|place| after.at(*place)).collect();
            assert!(numbers.into_iter().eq((0..keys.len()).map(Some)), "{keys:?}");
            before = after;
        }
        assert_eq!((before.place(1), before.at(3)), (1, None));
    }
}
