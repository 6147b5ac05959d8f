//! Serde types for the tables of a file.

use crate::speed::{LinkSpeed, PartialSpeed, ReportedSpeed};
use crate::{Address, Guid};
use gingham_kernel::Length;
use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) switch: Vec<NodeTable>,
    #[serde(default)]
    pub(super) host: Vec<NodeTable>,
    #[serde(default)]
    pub(super) aggregation: Vec<NodeTable>,
    #[serde(default)]
    pub(super) router: Vec<NodeTable>,
    #[serde(default)]
    pub(super) cable: Vec<CableTable>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeTable {
    pub(super) name: Spanned<String>,
    #[serde(default, deserialize_with = "guid")]
    pub(super) guid: Option<Guid>,
    pub(super) ports: Option<u16>,
    pub(super) description: Option<String>,
    pub(super) vendor: Option<u32>,
    pub(super) device: Option<u32>,
    #[serde(default, deserialize_with = "guid")]
    pub(super) system_guid: Option<Guid>,
    pub(super) enhanced_port0: Option<bool>,
    #[serde(default)]
    pub(super) addresses: Vec<AddressTable>,
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct AddressTable {
    pub(super) port: Spanned<u16>,
    #[serde(default, deserialize_with = "guid")]
    guid: Option<Guid>,
    lid: Option<u16>,
    lmc: Option<u8>,
}

impl AddressTable {
    pub(super) fn address(&self) -> Address {
        Address { guid: self.guid, lid: self.lid, lmc: self.lmc }
    }
}

#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct CableTable {
    pub(super) ends: [Spanned<String>; 2],
    #[serde(default, deserialize_with = "speed")]
    pub(super) speed: ReportedSpeed,
    pub(super) length: Option<Length>,
}

fn guid<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Guid>, D::Error> {
    const EXPECTED: &str = "1 to 16 hexadecimal digits, such as \"0002c90200417670\"";
    let text = String::deserialize(deserializer)?;
    let error = || de::Error::invalid_value(de::Unexpected::Str(&text), &EXPECTED);
    Guid::from_hexadecimal(&text).map(Some).ok_or_else(error)
}

fn speed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ReportedSpeed, D::Error> {
    const EXPECTED: &str = "a link speed such as \"4xNDR\" or \"80 MB/s\"";
    let text = String::deserialize(deserializer)?;
    if let Ok(partial) = text.parse::<PartialSpeed>() {
        return Ok(partial.into());
    }
    let error = |_| de::Error::invalid_value(de::Unexpected::Str(&text), &EXPECTED);
    text.parse().map(|known: LinkSpeed| known.into()).map_err(error)
}
