//! Presets: named network settings, each in a file of `presets/`.
//!
//! ```text
//!   presets/infiniband-ndr.toml
//!     about, source   help, and the origin of the numbers
//!     [network]       scenario keys, overridden by those that the user writes
//!     [datasheet]     numbers of a switch; each switching kind derives its parameters from them
//! ```
//!
//! The preset of a paper names the switching kind of the paper (`network.switching`); under other
//! kinds, its data sheet applies. Sources: `source` of each file; for current networks,
//! `docs/adr/0011-networks-of-today.md`. Some values in presets of papers are not from these
//! papers, but quoted from memory of Myrinet's documents: two type bytes, one checksum byte, two
//! mark bytes for each in-transit host, and the STOP and GO thresholds of 56 and 40 flits. The 10 m
//! cables in the presets of Yum et al. and Santos et al. are our choice.

use super::datasheet::Datasheet;
use super::{Network, SwitchingName};
use gingham_input::Tree;
use gingham_kernel::Bytes;
use gingham_topology::Generation;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::OnceLock;

macro_rules! presets {
    ($($variant:ident = $name:literal,)+) => {
        /// Named set of network parameters, with its default switching kind.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
        pub enum Preset {
            $(
                #[doc = concat!("`presets/", $name, ".toml`.")]
                #[serde(rename = $name)]
                $variant,
            )+
        }

        impl Preset {
            /// All presets.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            const TEXTS: &[&str] = &[$(include_str!(concat!("../../presets/", $name, ".toml"))),+];

            /// Returns the name in scenarios.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

presets! {
    Myrinet640 = "myrinet-640",
    Myrinet1280 = "myrinet-1280",
    Yum1600 = "yum-1600",
    BooksimIq = "booksim-iq",
    CaminosBasic = "caminos-basic",
    PehDally2001 = "peh-dally-2001",
    Santos4x = "santos-4x",
    InfinibandSdr = "infiniband-sdr",
    InfinibandDdr = "infiniband-ddr",
    InfinibandQdr = "infiniband-qdr",
    InfinibandFdr = "infiniband-fdr",
    InfinibandEdr = "infiniband-edr",
    InfinibandHdr = "infiniband-hdr",
    InfinibandNdr = "infiniband-ndr",
    InfinibandXdr = "infiniband-xdr",
    Roce25 = "roce-25",
    Roce100 = "roce-100",
    Roce200 = "roce-200",
    Roce400 = "roce-400",
    Roce800 = "roce-800",
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PresetFile {
    about: String,
    source: String,
    pub(super) datasheet: Datasheet,
    pub(super) network: Network,
}

static FILES: [OnceLock<PresetFile>; Preset::ALL.len()] =
    [const { OnceLock::new() }; Preset::ALL.len()];

impl JsonSchema for Preset {
    fn schema_name() -> Cow<'static, str> {
        "Preset".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let alternatives: Vec<_> = Self::ALL.iter().map(|preset| preset.schema()).collect();
        json_schema!({
            "description": "A named set of figures for a network, with the switching kind that is its own.",
            "oneOf": alternatives,
        })
    }
}

/// Largest path MTU of InfiniBand, the limit on packet payload (InfiniBand Architecture
/// Specification, Volume 1, section 7.7.8).
pub(crate) const INFINIBAND_PACKET_MAX: Bytes = Bytes(4_096);

/// Preset for each InfiniBand generation; FDR10 uses the switches of FDR.
const GENERATIONS: [(Generation, Preset); 9] = [
    (Generation::Sdr, Preset::InfinibandSdr),
    (Generation::Ddr, Preset::InfinibandDdr),
    (Generation::Qdr, Preset::InfinibandQdr),
    (Generation::Fdr10, Preset::InfinibandFdr),
    (Generation::Fdr, Preset::InfinibandFdr),
    (Generation::Edr, Preset::InfinibandEdr),
    (Generation::Hdr, Preset::InfinibandHdr),
    (Generation::Ndr, Preset::InfinibandNdr),
    (Generation::Xdr, Preset::InfinibandXdr),
];

impl Preset {
    /// Default preset, for a fabric that determines none.
    pub const DEFAULT: Self = Self::Myrinet1280;

    pub(super) fn of_generation(generation: Generation) -> Self {
        let found = GENERATIONS.iter().find(|(of, _)| *of == generation);
        found.expect("every generation has a preset").1
    }

    pub(crate) fn is_infiniband(self) -> bool {
        GENERATIONS.iter().any(|(_, preset)| *preset == self)
    }

    /// Returns whether the preset models links of a generation; `None` for presets other than
    /// InfiniBand.
    pub(super) fn stands_for(self, generation: Generation) -> Option<bool> {
        self.is_infiniband().then(|| Self::of_generation(generation) == self)
    }

    pub(super) fn file(self) -> &'static PresetFile {
        let place = self as usize;
        FILES[place].get_or_init(|| {
            let tree = Tree::parse(self.name(), Self::TEXTS[place]).and_then(|tree| tree.read());
            tree.unwrap_or_else(|error| panic!("a preset of ours is invalid: {error}"))
        })
    }

    fn schema(self) -> Schema {
        let PresetFile { about, source, .. } = self.file();
        json_schema!({
            "description": about,
            "type": "string",
            "const": self.name(),
            "x-source": source,
        })
    }

    /// Returns the switching kind modelled in the preset's paper; `None` for presets without a
    /// paper.
    pub(crate) fn modelled_kind(self) -> Option<SwitchingName> {
        self.file().network.switching
    }

    pub(super) fn own_kind(self) -> SwitchingName {
        self.modelled_kind().unwrap_or(SwitchingName::Packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_topology::LinkSpeed;

    #[test]
    fn infiniband_presets_use_4x_links_of_their_generation() {
        for (generation, preset) in GENERATIONS.iter().filter(|(of, _)| *of != Generation::Fdr10) {
            let speed = LinkSpeed::InfiniBand { width: 4, generation: *generation };
            assert_eq!(preset.file().network.link_rate, Some(speed.rate()), "{}", preset.name());
        }
    }

    #[test]
    fn presets_set_every_link_header_and_lane_key() {
        for preset in Preset::ALL {
            let Network {
                link_rate, cable_length, delay_per_metre, fec_delay, header, lanes, ..
            } = &preset.file().network;
            let is_named = [
                link_rate.is_some(),
                cable_length.is_some(),
                delay_per_metre.is_some(),
                fec_delay.is_some(),
                header.is_some_and(|header| header.type_bytes.is_some()),
                header.is_some_and(|header| header.trailer_bytes.is_some()),
                lanes.count.is_some(),
                lanes.flit.is_some(),
            ];
            assert!(is_named.iter().all(|is| *is), "{}: {is_named:?}", preset.name());
            assert_eq!(preset.file().network.preset, None, "{}", preset.name());
        }
    }
}
