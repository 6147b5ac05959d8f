//! The network section: a preset, and the keys that override it.

use super::datasheet::{Layers, RATE};
use super::preset::PresetFile;
use super::section::{Over, section};
use super::{Adapters, Admission, InTransit, Lanes, Packets, Parameters, Preset, SwitchingName};
use crate::catalogue::name_of;
use gingham_kernel::{Bytes, Length, Rate, Span};
use gingham_net::{Arbitration, InTransitParameters, Marking, SlackBuffer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

section! {
/// Links, switches and adapters.
pub struct Network {
    [written] {
        /// Preset whose parameters apply unless other keys override them. Default: the preset of
        /// the fastest InfiniBand generation in the fabric if cable speeds are known, and
        /// `myrinet-1280` otherwise. An ibnetdiscover dump without speeds requires a preset.
        only preset: Option<Preset>,
        /// How switches forward packets. Default: `wormhole` under Myrinet presets; `virtual-lanes`
        /// under `yum-1600`, `peh-dally-2001`, `booksim-iq` and `caminos-basic`; `packets` under
        /// all others.
        only switching: Option<SwitchingName>,
    }
    /// Link and packet parameters common to all switching kinds.
    [LinkParameters] {
        /// Rate of every cable. Overrides the cable speeds in the fabric and the preset's rate.
        value link_rate: Rate,
        /// Length of each cable without a length in the fabric. Default: from the preset.
        value cable_length: Length,
        /// Propagation delay of one metre of cable. Default: from the preset.
        value delay_per_metre: Span,
        /// Delay that forward error correction adds to every cable. Default: from the preset.
        value fec_delay: Span,
        /// Largest payload of a packet, and upper limit of `segmentation`. Default: 4 KiB under
        /// InfiniBand presets, the usual packet payload under RoCE presets, and no limit under
        /// others.
        open packet_max: Bytes,
    }
    /// Parameters of wormhole switches with slack buffers, STOP and GO.
    [
        WormholeParameters,
        /// Header bytes that switches and in-transit hosts consume.
        #[serde(flatten)]
        header: RouteHeader
    ] {
        /// Time from reading a header to the request for an output. Default: from the preset.
        #[schemars(extend("x-needs" = "slack-buffers"))]
        #[schemars(extend("x-instead" = "a switch takes network.lanes.routing_cycles to find an output"))]
        value routing_delay: Span,
        /// Time from the grant of an output to the first flit on its cable. Default: from the
        /// preset.
        #[schemars(extend("x-needs" = "slack-buffers"))]
        #[schemars(extend("x-instead" = "its five stages take the place of a set-up delay"))]
        value setup_delay: Span,
        /// Input buffer of every switch port, in flits; a buffer set here is used for all cables.
        /// Default: from the preset, enlarged for each cable that needs more.
        #[schemars(extend("x-needs" = "slack-buffers"))]
        #[schemars(extend("x-instead" = "its buffers are those of the lanes, network.lanes.depth"))]
        value slack: SlackBuffer,
    }
    [written] {
        /// Header and trailer bytes. Default: from the preset.
        only header: Option<Header>,
        /// How a switch chooses among packets for the same output. Default: from the preset.
        only arbitration: Option<Arbitration>,
        /// Rule by which a switch that reads a packet head decides whether to mark the packet.
        /// Default: no marks.
        only marking: Option<Marking>,
        /// Handling of in-transit packets at hosts.
        #[schemars(extend("x-needs" = "in-transit-hosts"))]
        only in_transit: InTransit,
        /// Channel adapters with a send buffer for posted messages. Without adapters, a message
        /// enters the queue of its host when it is created, however long the queue is.
        only adapters: Option<Adapters>,
        /// Admission control of streams: a probe reserves the rate of a stream at every node of its
        /// path, unless a node refuses the probe. Without admission control, streams send without a
        /// reservation.
        #[schemars(extend("x-source" = "Yum et al. 2002, section 4.1"))]
        #[schemars(extend("x-example" = r#"network.admission = { share = 0.5 }

[[traffic]]
load = 0.5
streams = { data = { mpeg2 = { mean = "1280 B", deviation = "200 B" } }, interval = "20 us" }"#))]
        only admission: Option<Admission>,
        /// Hosts that crash during the run. Default: none.
        only crashes: Vec<Crash>,
        /// Lanes, crossbar and arbiters. Default: from the preset.
        #[schemars(extend("x-needs" = "lanes"))]
        only lanes: Lanes,
        /// Buffers for whole packets, and how packets leave them. Default: from the preset.
        #[schemars(extend("x-needs" = "whole-packets"))]
        only packets: Packets,
    }
}
}

/// Hosts that crash. After its crash, a host creates no messages and ignores responses to probes,
/// so the reservations of its streams remain. Messages created earlier are still sent, and arriving
/// packets are still accepted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Crash {
    /// Names of the hosts, or patterns.
    pub hosts: Vec<String>,
    /// Time of the crash.
    pub at: Span,
}

section! {
/// Bytes that a packet carries in addition to its payload.
#[derive(Copy, Eq)]
pub struct Header {
    /// Header of wormhole networks, which switches and in-transit hosts consume.
    #[derive(Copy, Eq)]
    [RouteHeader] {
        /// Whether the packet carries one route byte for each switch, which the switch consumes.
        /// Default: from the preset.
        #[schemars(extend("x-needs" = "slack-buffers"))]
        #[schemars(extend("x-instead" = "the head flit carries the route"))]
        value route_bytes: bool,
        /// Bytes before the remaining route, one group for each in-transit host. They mark the
        /// packet as in transit and give the length of the remaining route; the in-transit host
        /// strips them. Default: from the preset.
        #[schemars(extend("x-needs" = "slack-buffers"))]
        #[schemars(extend("x-instead" = "the head flit carries the marks"))]
        value mark_bytes: Bytes,
    }
    /// Header and trailer bytes of every packet.
    #[derive(Copy, Eq)]
    [HeaderParameters] {
        /// Bytes before the payload that give the packet type. Default: from the preset.
        value type_bytes: Bytes,
        /// Trailer bytes (checksum) after the payload. Default: from the preset.
        value trailer_bytes: Bytes,
    }
}
}

impl Default for LinkParameters {
    /// Returns ideal cables. Every preset sets all values except the packet limit.
    fn default() -> Self {
        Self {
            link_rate: RATE,
            cable_length: Length::from_mm(0),
            delay_per_metre: Span::ZERO,
            fec_delay: Span::ZERO,
            packet_max: None,
        }
    }
}

impl Network {
    /// Returns the parameters in effect. Keys of other switching kinds are ignored here, because
    /// the compilation rejects them.
    pub fn parameters(&self) -> Parameters {
        let PresetFile { network: preset, datasheet, .. } = self.preset().file();
        let layers = Layers { preset, written: self };
        Parameters {
            links: layers.over(|network| network, LinkParameters::default()),
            header: layers.over(
                |network| &network.header,
                HeaderParameters { type_bytes: Bytes(0), trailer_bytes: Bytes(0) },
            ),
            arbitration: self.arbitration(),
            in_transit: layers.over(|network| &network.in_transit, InTransitParameters::default()),
            switching: datasheet.under(self.kind(), layers),
        }
    }

    /// Returns the configured preset, or the default.
    pub fn preset(&self) -> Preset {
        self.preset.unwrap_or(Preset::DEFAULT)
    }

    /// Describes the network for titles, such as `infiniband-ndr (whole packets, oldest-first)`:
    /// preset, switching kind, arbitration rule, and a note if keys override the preset.
    pub fn describe(&self) -> String {
        let kind = match self.kind() {
            SwitchingName::Wormhole => "wormhole",
            SwitchingName::VirtualLanes => "virtual lanes",
            SwitchingName::Packets => "whole packets",
        };
        let unchanged = Self { preset: self.preset, switching: self.switching, ..Self::default() };
        let changed = if *self == unchanged { "" } else { ", changed" };
        let arbiter = name_of(self.arbitration());
        format!("{} ({kind}, {arbiter}{changed})", self.preset().name())
    }

    fn arbitration(&self) -> Arbitration {
        self.arbitration.unwrap_or(match self.kind() {
            SwitchingName::Packets => Arbitration::OldestFirst,
            SwitchingName::Wormhole | SwitchingName::VirtualLanes => Arbitration::RoundRobin,
        })
    }

    pub(crate) fn kind(&self) -> SwitchingName {
        self.switching.unwrap_or_else(|| self.preset().own_kind())
    }
}
