//! The network section: a preset, and what departs from it.

use super::{Adapters, Admission, InTransit, Lanes, Packets, Parameters, Preset, SwitchingName};
use gingham_kernel::{Bytes, Length, Rate, Span};
use gingham_net::{Arbitration, InTransitParameters, Marking, SlackBuffer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Links, switches and adapters.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Network {
    /// The figures to start from. Default: InfiniBand's, of the fastest generation, where the
    /// fabric tells its speeds, and `myrinet-1280` elsewhere. A dump of ibnetdiscover that tells no
    /// speed needs one.
    pub preset: Option<Preset>,
    /// How switches forward packets. Default: `packets` under presets of InfiniBand and
    /// `santos-4x`, `virtual-lanes` under `yum-1600`, `wormhole` under those of Myrinet.
    pub switching: Option<SwitchingName>,
    /// Rate of every cable. It replaces the speeds that the fabric tells, and the preset's.
    pub link_rate: Option<Rate>,
    /// Length of cables for which the fabric gives none. Default: the preset's.
    pub cable_length: Option<Length>,
    /// Propagation delay of one metre of cable. Default: the preset's.
    pub delay_per_metre: Option<Span>,
    /// What forward error correction adds to every cable. Default: the preset's.
    pub fec_delay: Option<Span>,
    /// From reading a header to the request for its output. Default: the preset's.
    pub routing_delay: Option<Span>,
    /// From the grant of an output to its first flit. Default: the preset's.
    pub setup_delay: Option<Span>,
    /// Input buffer of every switch port, in flits, used exactly as given. Default: the preset's,
    /// grown where a cable needs more.
    pub slack: Option<SlackBuffer>,
    /// Bytes beside the payload. Default: the preset's.
    pub header: Option<Header>,
    /// Largest payload of a packet, which `segmentation` may not exceed. Default: 4 KiB under
    /// presets of InfiniBand, the payload of a packet under those of RoCE; no limit under others.
    pub packet_max: Option<Bytes>,
    /// How a switch chooses among packets for the same output. Default: the preset's.
    pub arbitration: Option<Arbitration>,
    /// Which packets switches mark as they read their heads. None by default.
    pub marking: Option<Marking>,
    /// What in-transit hosts do with packets that go on.
    pub in_transit: InTransit,
    /// Channel adapters with a send buffer, to which messages are posted. Without them a message
    /// enters its queue when it is created, however many wait there.
    pub adapters: Option<Adapters>,
    /// Admission control of streams: a probe reserves the rate of a stream at every node on its
    /// way, or is refused. Without it streams send without asking.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.1"))]
    #[schemars(extend("x-example" = r#"network.admission = { share = 0.5 }

[[traffic]]
load = 0.5
streams = { data = { mpeg2 = { mean = "1280 B", deviation = "200 B" } }, interval = "20 us" }"#))]
    pub admission: Option<Admission>,
    /// Hosts that crash during the run. None by default.
    pub crashes: Vec<Crash>,
    /// Lanes, crossbar and schedulers. Default: the preset's.
    pub lanes: Lanes,
    /// Buffers of whole packets, and how switches read them. Default: the preset's.
    pub packets: Packets,
}

/// Hosts that crash. From an instant on they create no message and ignore answers to probes, so
/// nobody releases what their streams have reserved. What they had created still leaves, and what
/// arrives is accepted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Crash {
    /// Names and patterns of the hosts.
    pub hosts: Vec<String>,
    /// Time of the crash.
    pub at: Span,
}

/// Bytes that travel with the payload of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Header {
    /// Whether the packet carries one route byte a switch, which the switch consumes. Default: the
    /// preset's.
    pub route_bytes: Option<bool>,
    /// Type bytes before the payload. Default: the preset's.
    pub type_bytes: Option<Bytes>,
    /// Trailer bytes (checksum) after the payload. Default: the preset's.
    pub trailer_bytes: Option<Bytes>,
    /// Bytes before the rest of the route, one group for each in-transit host. They tell it that
    /// the packet goes on and how much of the route is left, and are dropped there. Default: the
    /// preset's.
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
        Parameters {
            link_rate: self.link_rate.unwrap_or(figures.link_rate),
            cable_length: self.cable_length.unwrap_or(figures.cable_length),
            delay_per_metre: self.delay_per_metre.unwrap_or(figures.delay_per_metre),
            fec_delay: self.fec_delay.unwrap_or(figures.fec_delay),
            type_bytes: header.type_bytes.unwrap_or(figures.type_bytes),
            trailer_bytes: header.trailer_bytes.unwrap_or(figures.trailer_bytes),
            packet_max: self.packet_max.or(figures.packet_max),
            arbitration: self.arbitration(),
            in_transit: self.in_transit.over(&InTransitParameters::default()),
            switching: preset.switching(kind, self).under(self),
        }
    }

    /// The preset that is named, or the one that holds where the fabric does not decide.
    pub fn preset(&self) -> Preset {
        self.preset.unwrap_or(Preset::DEFAULT)
    }

    /// Description of the simulated network for titles, such as
    /// `infiniband-ndr (whole packets, oldest-first)`: the preset, the switching kind, the
    /// arbitration rule, and a mark if the preset was changed.
    pub fn said(&self) -> String {
        let kind = match self.kind() {
            SwitchingName::Wormhole => "wormhole",
            SwitchingName::VirtualLanes => "virtual lanes",
            SwitchingName::Packets => "whole packets",
        };
        let unchanged = Self { preset: self.preset, switching: self.switching, ..Self::default() };
        let changed = if *self == unchanged { "" } else { ", changed" };
        let arbiter = match self.arbitration() {
            Arbitration::OldestFirst => "oldest-first",
            Arbitration::RoundRobin => "round-robin",
            Arbitration::StrictPriority => "strict-priority",
        };
        format!("{} ({kind}, {arbiter}{changed})", self.preset().name())
    }

    /// Arbitration rule of a switch among packets for the same output: the configured one, or the
    /// default of the switching kind.
    fn arbitration(&self) -> Arbitration {
        self.arbitration.unwrap_or(match self.kind() {
            SwitchingName::Packets => Arbitration::OldestFirst,
            SwitchingName::Wormhole | SwitchingName::VirtualLanes => Arbitration::RoundRobin,
        })
    }

    /// The switching kind that is named, or the preset's own.
    pub(crate) fn kind(&self) -> SwitchingName {
        self.switching.unwrap_or_else(|| self.preset().own_kind())
    }
}
