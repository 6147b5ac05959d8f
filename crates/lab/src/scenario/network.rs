//! The network section: a preset, and what departs from it.

use super::{InTransit, Lanes, Packets, Parameters, Preset};
use gingham_kernel::{Bytes, Length, Rate, Span};
use gingham_model::{Arbitration, Marking, SlackBuffer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Links, switches and adapters.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Network {
    /// The figures to start from.
    pub preset: Preset,
    /// Rate of every cable, instead of the speeds that the fabric tells and the preset's.
    pub link_rate: Option<Rate>,
    /// Length of cables whose length the fabric does not tell; the preset's unless given.
    pub cable_length: Option<Length>,
    /// Propagation delay of one metre of cable; the preset's unless given.
    pub delay_per_metre: Option<Span>,
    /// From reading a header to the request for its output; the preset's unless given.
    pub routing_delay: Option<Span>,
    /// From the grant of an output to its first flit; the preset's unless given.
    pub setup_delay: Option<Span>,
    /// Input buffer of every switch port, in flits, used exactly as given; the preset's, grown
    /// where a cable needs more, unless given.
    pub slack: Option<SlackBuffer>,
    /// Bytes beside the payload; the preset's unless given.
    pub header: Option<Header>,
    /// How a switch chooses among packets for the same output; the preset's unless given.
    pub arbitration: Option<Arbitration>,
    /// Which packets switches mark as they read their heads; none unless given.
    pub marking: Option<Marking>,
    /// What hosts do with packets that are to go on.
    pub in_transit: InTransit,
    /// Lanes, crossbar and schedulers; the preset's unless given.
    pub lanes: Lanes,
    /// Buffers of whole packets, and how switches read them; the preset's unless given.
    pub packets: Packets,
}

/// Bytes that travel with the payload of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Header {
    /// Whether the packet carries one route byte a switch, consumed there; the preset's unless
    /// given.
    pub route_bytes: Option<bool>,
    /// Type bytes before the payload; the preset's unless given.
    pub type_bytes: Option<Bytes>,
    /// Trailer bytes (checksum) after the payload; the preset's unless given.
    pub trailer_bytes: Option<Bytes>,
    /// Bytes before the rest of the route of each in-transit host, which tell it that the packet
    /// goes on and how much of it is left; dropped there; the preset's unless given.
    pub mark_bytes: Option<Bytes>,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            preset: Preset::Myrinet1280,
            link_rate: None,
            cable_length: None,
            delay_per_metre: None,
            routing_delay: None,
            setup_delay: None,
            slack: None,
            header: None,
            arbitration: None,
            marking: None,
            in_transit: InTransit::default(),
            lanes: Lanes::default(),
            packets: Packets::default(),
        }
    }
}

impl Network {
    /// The preset's figures with the departures applied. Keys of another kind than the preset's
    /// change nothing here: they are refused when the scenario is compiled.
    pub fn parameters(&self) -> Parameters {
        let preset = self.preset.parameters();
        let header = self.header.unwrap_or_default();
        Parameters {
            link_rate: self.link_rate.unwrap_or(preset.link_rate),
            cable_length: self.cable_length.unwrap_or(preset.cable_length),
            delay_per_metre: self.delay_per_metre.unwrap_or(preset.delay_per_metre),
            type_bytes: header.type_bytes.unwrap_or(preset.type_bytes),
            trailer_bytes: header.trailer_bytes.unwrap_or(preset.trailer_bytes),
            arbitration: self.arbitration.unwrap_or(preset.arbitration),
            in_transit: self.in_transit.over(&preset.in_transit),
            switching: preset.switching.under(self),
        }
    }
}
