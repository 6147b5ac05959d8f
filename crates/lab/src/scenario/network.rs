//! The network section: a preset, and what departs from it.

use super::{Adapters, Admission, InTransit, Lanes, Packets, Parameters, Preset, SwitchingName};
use gingham_kernel::{Bytes, Length, Rate, Span};
use gingham_model::{Arbitration, InTransitParameters, Marking, SlackBuffer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Links, switches and adapters.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Network {
    /// The figures to start from. Unless given they are those of InfiniBand where the fabric tells
    /// its speeds (of the fastest generation), and `myrinet-1280` elsewhere; a dump of ibnetdiscover
    /// that tells no speed needs one.
    pub preset: Option<Preset>,
    /// How switches pass on packets: `packets` under presets of InfiniBand and `santos-4x`,
    /// `virtual-lanes` under `yum-1600`, `wormhole` under those of Myrinet, unless given.
    pub switching: Option<SwitchingName>,
    /// Rate of every cable, instead of the speeds that the fabric tells and the preset's.
    pub link_rate: Option<Rate>,
    /// Length of cables whose length the fabric does not tell; the preset's unless given.
    pub cable_length: Option<Length>,
    /// Propagation delay of one metre of cable; the preset's unless given.
    pub delay_per_metre: Option<Span>,
    /// What forward error correction adds to every cable; the preset's unless given.
    pub fec_delay: Option<Span>,
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
    /// Channel adapters with a send buffer, to which messages are posted. Without them a message is
    /// in its queue when it is created, however many wait there.
    pub adapters: Option<Adapters>,
    /// Admission control of streams: a probe reserves the rate of a stream at every node on its way, or
    /// is refused. Streams send unasked without it.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.1"))]
    #[schemars(extend("x-example" = r#"network.admission = { share = 0.5 }

[[traffic]]
load = 0.5
streams = { data = { mpeg2 = { mean = "1280 B", deviation = "200 B" } }, interval = "20 us" }"#))]
    pub admission: Option<Admission>,
    /// Hosts that crash while the run goes on; none unless given.
    pub crashes: Vec<Crash>,
    /// Lanes, crossbar and schedulers; the preset's unless given.
    pub lanes: Lanes,
    /// Buffers of whole packets, and how switches read them; the preset's unless given.
    pub packets: Packets,
}

/// Hosts that crash: from an instant on they create no message and follow no answer to a probe, so that
/// nobody releases what their streams have reserved. What they had created still leaves, and what comes
/// to them is taken in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Crash {
    /// Which: names and patterns.
    pub hosts: Vec<String>,
    /// When.
    pub at: Span,
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

impl Network {
    /// The preset's figures with the departures applied. Keys of another kind than the preset's
    /// change nothing here: they are refused when the scenario is compiled.
    pub fn parameters(&self) -> Parameters {
        let preset = self.preset();
        let figures = preset.figures();
        let header = self.header.unwrap_or_default();
        let kind = self.kind();
        let arbitration = if kind == SwitchingName::Packets {
            Arbitration::OldestFirst
        } else {
            Arbitration::RoundRobin
        };
        Parameters {
            link_rate: self.link_rate.unwrap_or(figures.link_rate),
            cable_length: self.cable_length.unwrap_or(figures.cable_length),
            delay_per_metre: self.delay_per_metre.unwrap_or(figures.delay_per_metre),
            fec_delay: self.fec_delay.unwrap_or(figures.fec_delay),
            type_bytes: header.type_bytes.unwrap_or(figures.type_bytes),
            trailer_bytes: header.trailer_bytes.unwrap_or(figures.trailer_bytes),
            arbitration: self.arbitration.unwrap_or(arbitration),
            in_transit: self.in_transit.over(&InTransitParameters::default()),
            switching: preset.switching(kind, self).under(self),
        }
    }

    /// The preset that is named, or the one that holds where the fabric does not decide.
    pub fn preset(&self) -> Preset {
        self.preset.unwrap_or(Preset::DEFAULT)
    }

    /// What is simulated, for titles: `infiniband-ndr (whole packets)`, and that the preset was
    /// changed where it was.
    pub fn said(&self) -> String {
        let kind = match self.kind() {
            SwitchingName::Wormhole => "wormhole",
            SwitchingName::VirtualLanes => "virtual lanes",
            SwitchingName::Packets => "whole packets",
        };
        let unchanged = Self { preset: self.preset, switching: self.switching, ..Self::default() };
        let changed = if *self == unchanged { "" } else { ", changed" };
        format!("{} ({kind}{changed})", self.preset().name())
    }

    /// The switching kind that is named, or the preset's own.
    pub(crate) fn kind(&self) -> SwitchingName {
        self.switching.unwrap_or_else(|| self.preset().own_kind())
    }
}
