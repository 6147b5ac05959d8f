//! The network section: a preset, and what departs from it.

use super::InTransit;
use gingham_kernel::{Length, Rate, Span};
use gingham_model::{Arbitration, Header, Preset, SlackBuffer, WormholeParameters};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Links, switches and adapters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
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
    /// How a switch chooses among packets for the same output.
    pub arbitration: Arbitration,
    /// What hosts do with packets that are to go on.
    pub in_transit: InTransit,
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
            arbitration: Arbitration::RoundRobin,
            in_transit: InTransit::default(),
        }
    }
}

impl Network {
    /// The preset's figures with the departures applied.
    pub fn parameters(&self) -> WormholeParameters {
        let preset = self.preset.parameters();
        WormholeParameters {
            link_rate: self.link_rate.unwrap_or(preset.link_rate),
            cable_length: self.cable_length.unwrap_or(preset.cable_length),
            delay_per_metre: self.delay_per_metre.unwrap_or(preset.delay_per_metre),
            routing_delay: self.routing_delay.unwrap_or(preset.routing_delay),
            setup_delay: self.setup_delay.unwrap_or(preset.setup_delay),
            slack: self.slack.unwrap_or(preset.slack),
            header: self.header.unwrap_or(preset.header),
            arbitration: self.arbitration,
            in_transit: self.in_transit.over(&preset.in_transit),
        }
    }
}
