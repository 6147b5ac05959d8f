//! Presets: tables of numbers that a network starts from, and the switching kind that is theirs unless
//! the network names another.
//!
//! ```text
//!   Preset ──► Figures ──under a kind──► SwitchingParameters
//!      └────── of a paper: its own figures of the kind that the paper models
//! ```
//!
//! Sources: Kwan et al. 1996, section 2 (80-byte slack buffer, 25 m); Flich et al. 2001, section
//! IV-A (160 MB/s, 10 m, 4.92 ns/m, 150 ns, first flit consumed, in-transit hosts); Yum et al.
//! 2002, sections 3.1 and 4 (1.6 Gbit/s, flits of 128 bits, 16 lanes of 10 flits); Santos et al.
//! 2002, table I (1 GB/s, 20 B beside the payload, 40 ns, 4 packets a port). The marks 56 and 40,
//! two type bytes, one checksum byte and two bytes before an in-transit host are ours, from memory
//! of Myrinet's documents; cables of 10 m under Yum et al. and Santos et al. are ours. The numbers
//! of networks of today, each with its source, are those of `docs/adr/0011-networks-of-today.md`.

use super::figures::Figures;
use super::{
    Forwarding, LaneParameters, Network, PacketsParameters, PerLane, PipelineParameters,
    SwitchingName, SwitchingParameters, WormholeParameters,
};
use gingham_kernel::{Bytes, Length, Rate, Span};
use gingham_net::{Allocator, Crossbar, Injection, Islip, Reallocation, SlackBuffer, VcAllocator};
use gingham_topology::{Generation, LinkSpeed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Spells each preset once: its help and source, its name, and its numbers.
macro_rules! presets {
    ($($(#[$about:meta])+ $variant:ident = $name:literal => $figures:expr,)+) => {
        /// A named set of figures for a network, with the switching kind that is its own.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
        pub enum Preset {
            $($(#[$about])+ #[serde(rename = $name)] $variant,)+
        }

        impl Preset {
            /// All presets.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name in scenarios.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            pub(super) fn figures(self) -> Figures {
                match self {
                    $(Self::$variant => $figures,)+
                }
            }
        }
    };
}

presets! {
    /// Myrinet at 640 Mbit/s as Kwan et al. 1996 model it: 80 MB/s, cables of 25 m, 150 ns a
    /// switch that hide behind the worm in front, no header bytes.
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 2"))]
    Myrinet640 = "myrinet-640" => myrinet(80_000_000, 25, [0, 0]),
    /// Myrinet at 1.28 Gbit/s as Flich et al. 2001 model it: 160 MB/s, cables of 10 m, 150 ns
    /// from the grant to the first flit, route bytes that switches consume.
    #[schemars(extend("x-source" = "Flich et al. 2001, section IV-A"))]
    Myrinet1280 = "myrinet-1280" => myrinet(160_000_000, 10, [2, 1]),
    /// Virtual lanes at 1.6 Gbit/s as Yum et al. 2002 model them: 200 MB/s, cables of 10 m, 16
    /// lanes of 10 flits of 16 B, five stages of 80 ns. A multiplexed crossbar; round robin
    /// everywhere.
    #[schemars(extend("x-source" = "Yum et al. 2002, sections 3.1 and 4; cables of 10 m are ours"))]
    Yum1600 = "yum-1600" => Figures {
        switch_delay: Span::from_ns(400),
        port_buffer: Bytes(16 * 10 * 16),
        lanes: 16,
        ..of_a_paper(200_000_000, 10)
    },
    /// BookSim 2's router `iq`: 16 lanes of 8 flits, no buffers at outputs, one iteration of iSLIP, hosts
    /// that send one packet at a time. Credits are taken at the crossing and come back in two cycles.
    /// Heads are routed a switch ahead, as its examples have it (`routing_delay = 0`). A flit of 16 B
    /// takes 1 ns, and so does a metre of cable, of which there is none.
    #[schemars(extend("x-source" = "BookSim 2, src/booksim_config.cpp, src/routers/iq_router.cpp and src/examples; the delay of credits is between both, and was chosen by what a mesh accepts; flits of 16 B and 1 ns are ours"))]
    BooksimIq = "booksim-iq" => of_cycles(16, 8),
    /// CAMINOS's router `Basic` as its defaults have it: 2 lanes of 64 flits, output lanes of 32,
    /// virtual cut-through, every lane by itself through the crossbar, hosts that send one packet at a
    /// time. Its switch takes one cycle, ours four. A flit of 16 B takes 1 ns, and so does a metre of
    /// cable, of which there is none.
    #[schemars(extend("x-source" = "CAMINOS, caminos-lib, src/defaults/main.cfg and src/router/basic.rs; flits of 16 B and 1 ns are ours"))]
    CaminosBasic = "caminos-basic" => of_cycles(2, 64),
    /// Peh and Dally's router of virtual channels without speculation: 2 lanes of 4 flits, four stages,
    /// no buffers at outputs, a separable allocator, credits of a cycle. A flit of 16 B takes 1 ns, and
    /// so does a metre of cable, of which there is none.
    #[schemars(extend("x-source" = "Peh and Dally 2001, from memory; flits of 16 B and 1 ns are ours"))]
    PehDally2001 = "peh-dally-2001" => of_cycles(2, 4),
    /// InfiniBand of four lines as Santos et al. 2002 model it: 1 GB/s, cables of 10 m, whole
    /// packets with 20 B of overhead, 40 ns a switch. An input has a buffer of four packets of
    /// 2,068 B; the oldest packet goes first.
    #[schemars(extend("x-source" = "Santos et al. 2002, table I; one lane and cables of 10 m are ours"))]
    Santos4x = "santos-4x" => Figures {
        type_bytes: Bytes(20),
        switch_delay: Span::from_ns(40),
        port_buffer: Bytes(4 * 33 * 64),
        flit: Bytes(64),
        ..of_a_paper(1_000_000_000, 10)
    },
    /// InfiniBand SDR of four lanes: 1 GB/s, cables of 10 m, 200 ns a switch, 64,000 B an input
    /// port. Packets carry 2,048 B, with 28 B of overhead.
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification; 200 ns: Cisco SFS 7000 Series, Q&A; buffer: a later switch"))]
    InfinibandSdr = "infiniband-sdr" => infiniband(Generation::Sdr, 200, 64_000),
    /// InfiniBand DDR of four lanes: 2 GB/s, cables of 10 m, 200 ns a switch, 64,000 B an input
    /// port. Packets carry 2,048 B, with 28 B of overhead.
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification; 200 ns: Cisco SFS 7000 Series, Q&A; buffer: a later switch"))]
    InfinibandDdr = "infiniband-ddr" => infiniband(Generation::Ddr, 200, 64_000),
    /// InfiniBand QDR of four lanes: 4 GB/s, cables of 10 m, 100 ns a switch, 64,000 B an input
    /// port. Packets carry 2,048 B, with 28 B of overhead.
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification; 100 ns and 64,000 B: Mellanox's model of InfiniScale IV, ib_flit_sim"))]
    InfinibandQdr = "infiniband-qdr" => infiniband(Generation::Qdr, 100, 64_000),
    /// InfiniBand FDR of four lanes: 6.8 GB/s, cables of 10 m, 170 ns a switch, 128 KiB an input
    /// port. Packets carry 4,096 B, with 26 B of overhead.
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification; 170 ns: SX6036 product brief, from memory; the buffer is ours"))]
    InfinibandFdr = "infiniband-fdr" => infiniband(Generation::Fdr, 170, 128 << 10),
    /// InfiniBand EDR of four lanes: 12.5 GB/s, cables of 10 m, 90 ns a switch, 128 KiB an input
    /// port. Packets carry 4,096 B, with 26 B of overhead.
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification; 90 ns: SB7700 and SB7800 product briefs, from memory; the buffer is ours"))]
    InfinibandEdr = "infiniband-edr" => infiniband(Generation::Edr, 90, 128 << 10),
    /// InfiniBand HDR of four lanes: 25 GB/s, cables of 10 m, 130 ns a switch, 256 KiB an input
    /// port. Packets carry 4,096 B, with 26 B of overhead.
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification; 130 ns: QM8790 product brief, second hand; the buffer is ours"))]
    InfinibandHdr = "infiniband-hdr" => infiniband(Generation::Hdr, 130, 256 << 10),
    /// InfiniBand NDR of four lanes: 50 GB/s, cables of 10 m, 150 ns a switch, 512 KiB an input
    /// port. Packets carry 4,096 B, with 26 B of overhead.
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification; nothing is published: 150 ns and the buffer are ours"))]
    InfinibandNdr = "infiniband-ndr" => infiniband(Generation::Ndr, 150, 512 << 10),
    /// InfiniBand XDR of four lanes: 100 GB/s, cables of 10 m, 150 ns a switch, 1 MiB an input
    /// port. Packets carry 4,096 B, with 26 B of overhead.
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification; nothing is published: 150 ns and the buffer are ours"))]
    InfinibandXdr = "infiniband-xdr" => infiniband(Generation::Xdr, 150, 1 << 20),
    /// Lossless Ethernet at 25 Gb/s with RoCEv2: 3.125 GB/s, cables of 10 m and 205 ns of error
    /// correction, 300 ns a switch, 500,000 B an input port, priority flow control (PFC). Packets
    /// carry 1,024 B, with 82 B of overhead.
    #[schemars(extend("x-source" = "IEEE 802.3, 802.1Qbb; 300 ns: TechRepublic on Spectrum; 16 MB of Spectrum, shared by 32 ports evenly: ours"))]
    Roce25 = "roce-25" => roce(3_125, 205, 300, 16_000_000 / 32, 80),
    /// Lossless Ethernet at 100 Gb/s with RoCEv2: 12.5 GB/s, cables of 10 m and 51 ns of error
    /// correction, 300 ns a switch, 500,000 B an input port, priority flow control (PFC). Packets
    /// carry 4,096 B, with 82 B of overhead.
    #[schemars(extend("x-source" = "IEEE 802.3, 802.1Qbb; 300 ns: TechRepublic on Spectrum; 16 MB of Spectrum, shared by 32 ports evenly: ours"))]
    Roce100 = "roce-100" => roce(12_500, 51, 300, 16_000_000 / 32, 394),
    /// Lossless Ethernet at 200 Gb/s with RoCEv2: 25 GB/s, cables of 10 m and 51 ns of error
    /// correction, 425 ns a switch, 1,312,500 B an input port, priority flow control (PFC). Packets
    /// carry 4,096 B, with 82 B of overhead.
    #[schemars(extend("x-source" = "IEEE 802.3, 802.1Qbb; 425 ns: SN3000 product brief, from memory; 42 MB of Spectrum-2, shared by 32 ports evenly: ours"))]
    Roce200 = "roce-200" => roce(25_000, 51, 425, 42_000_000 / 32, 453),
    /// Lossless Ethernet at 400 Gb/s with RoCEv2: 50 GB/s, cables of 10 m and 26 ns of error
    /// correction, 425 ns a switch, 2,000,000 B an input port, priority flow control (PFC). Packets
    /// carry 4,096 B, with 82 B of overhead.
    #[schemars(extend("x-source" = "IEEE 802.3, 802.1Qbb; nothing is published: 425 ns as at 200; 64 MB of Spectrum-3, shared by 32 ports evenly: ours"))]
    Roce400 = "roce-400" => roce(50_000, 26, 425, 64_000_000 / 32, 905),
    /// Lossless Ethernet at 800 Gb/s with RoCEv2: 100 GB/s, cables of 10 m and 26 ns of error
    /// correction, 500 ns a switch, 2,500,000 B an input port, priority flow control (PFC). Packets
    /// carry 4,096 B, with 82 B of overhead.
    #[schemars(extend("x-source" = "IEEE 802.3, 802.1Qbb; nothing is published: 500 ns; 160 MB of Spectrum-4, shared by 64 ports evenly: ours"))]
    Roce800 = "roce-800" => roce(100_000, 26, 500, 160_000_000 / 64, 905),
}

/// What the papers have in common.
const fn of_a_paper(bytes_per_second: u64, metres: u64) -> Figures {
    Figures {
        link_rate: Rate::from_bytes_per_second(bytes_per_second),
        cable_length: Length::from_mm(1_000 * metres),
        delay_per_metre: Span::from_ps(4_920),
        fec_delay: Span::ZERO,
        type_bytes: Bytes(0),
        trailer_bytes: Bytes(0),
        switch_delay: Span::ZERO,
        port_buffer: Bytes(0),
        lane_buffer_max: None,
        pause_answer: None,
        flit: Bytes(16),
        lanes: 1,
        packet: None,
        packet_max: None,
    }
}

/// Networks whose papers know cycles alone: one takes 1 ns.
fn of_cycles(lanes: u32, depth: u32) -> Figures {
    Figures {
        delay_per_metre: Span::from_ns(1),
        switch_delay: Span::from_ns(5),
        port_buffer: Bytes(u64::from(lanes) * u64::from(depth) * 16),
        lanes: lanes.into(),
        ..of_a_paper(16_000_000_000, 0)
    }
}

const fn myrinet(bytes_per_second: u64, metres: u64, around: [u64; 2]) -> Figures {
    let [before, after] = around;
    Figures {
        type_bytes: Bytes(before),
        trailer_bytes: Bytes(after),
        switch_delay: Span::from_ns(150),
        port_buffer: Bytes(80),
        ..of_a_paper(bytes_per_second, metres)
    }
}

/// Four lanes of a generation. A packet has 8 B of local route header and 12 of base transport
/// header before its payload, and checksums of 4 and 2 B behind it, up to QDR with two delimiters.
fn infiniband(generation: Generation, switch_ns: u64, port_buffer: u64) -> Figures {
    let is_coded_by_the_byte = generation <= Generation::Qdr;
    Figures {
        link_rate: LinkSpeed::InfiniBand { width: 4, generation }.rate(),
        delay_per_metre: Span::from_ps(5_000),
        type_bytes: Bytes(8 + 12),
        trailer_bytes: Bytes(if is_coded_by_the_byte { 4 + 2 + 2 } else { 4 + 2 }),
        switch_delay: Span::from_ns(switch_ns),
        port_buffer: Bytes(port_buffer),
        lane_buffer_max: Some(Bytes(GRANT_MAX)),
        flit: Bytes(64),
        packet: Some(Bytes(if is_coded_by_the_byte { 2_048 } else { 4_096 })),
        packet_max: Some(INFINIBAND_PACKET_MAX),
        ..of_a_paper(1, 10)
    }
}

/// Ethernet with RoCEv2. Before the payload of a packet stand preamble (8 B), Ethernet (14), IPv4
/// (20), UDP (8) and base transport header (12), behind it two checksums (4 each) and the gap (12).
/// A pause is obeyed within `quanta` of 512 bit times (IEEE 802.3, 31B.3.7; at 800 Gb/s those of
/// 400).
fn roce(
    megabytes_per_second: u64,
    fec_ns: u64,
    switch_ns: u64,
    port_buffer: u64,
    quanta: u64,
) -> Figures {
    let link_rate = Rate::from_bytes_per_second(megabytes_per_second * 1_000_000);
    let is_narrow = megabytes_per_second == 3_125;
    let packet = Some(Bytes(if is_narrow { 1_024 } else { 4_096 }));
    Figures {
        link_rate,
        delay_per_metre: Span::from_ps(5_000),
        fec_delay: Span::from_ns(fec_ns),
        type_bytes: Bytes(8 + 14 + 20 + 8 + 12),
        trailer_bytes: Bytes(4 + 4 + 12),
        switch_delay: Span::from_ns(switch_ns),
        port_buffer: Bytes(port_buffer),
        pause_answer: Some(link_rate.flit_time(quanta * 64).span),
        flit: Bytes(64),
        packet,
        packet_max: packet,
        ..of_a_paper(1, 10)
    }
}

/// InfiniBand grants at most 2,048 blocks of 64 B at a time (InfiniBand Architecture
/// Specification, Volume 1, section 7.9.4.2).
const GRANT_MAX: u64 = 2_048 * 64;

/// Longest path MTU of InfiniBand, and thus the largest payload of a packet (InfiniBand
/// Architecture Specification, Volume 1, section 7.7.8).
pub(crate) const INFINIBAND_PACKET_MAX: Bytes = Bytes(4_096);

/// Presets of InfiniBand, by generation; FDR10 has the switches of FDR.
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
    /// What a network starts from that names none, over a fabric that does not decide.
    pub const DEFAULT: Self = Self::Myrinet1280;

    /// That of InfiniBand of a generation.
    pub(super) fn of_generation(generation: Generation) -> Self {
        let found = GENERATIONS.iter().find(|(of, _)| *of == generation);
        found.expect("every generation has a preset").1
    }

    /// Whether this is a generation of InfiniBand.
    pub(crate) fn is_infiniband(self) -> bool {
        GENERATIONS.iter().any(|(_, preset)| *preset == self)
    }

    /// Whether it stands for links of a generation; `None` for one that stands for no InfiniBand of
    /// today.
    pub(super) fn stands_for(self, generation: Generation) -> Option<bool> {
        self.is_infiniband().then(|| Self::of_generation(generation) == self)
    }

    /// The kind that its paper models, if it is of one.
    pub(crate) fn modelled_kind(self) -> Option<SwitchingName> {
        self.of_its_paper().map(|own| own.name())
    }

    /// The kind of a network that names none.
    pub(super) fn own_kind(self) -> SwitchingName {
        self.modelled_kind().unwrap_or(SwitchingName::Packets)
    }

    /// What a switching kind makes of it, where the network may say otherwise.
    pub(super) fn switching(self, kind: SwitchingName, network: &Network) -> SwitchingParameters {
        let own = self.of_its_paper().filter(|own| own.name() == kind);
        own.unwrap_or_else(|| self.figures().under(kind, network))
    }

    /// The switch of five stages of a router of the literature.
    fn router(self) -> PipelineParameters {
        let figures = self.figures();
        let ours = PipelineParameters::default();
        let depth = figures.port_buffer.0 / (16 * figures.lanes.unsigned_abs());
        let common = PipelineParameters {
            lanes: LaneParameters { count: figures.lanes, ..ours.lanes.clone() },
            depth: PerLane::All(i64::try_from(depth).expect("lanes are not that deep")),
            injection: Injection::OneAtATime,
            ..ours
        };
        if self == Self::CaminosBasic {
            return PipelineParameters {
                output_depth: Some(PerLane::All(32)),
                forwarding: PerLane::All(Forwarding::VirtualCutThrough),
                routing_cycles: 0,
                crossbar: Crossbar::Full,
                ..common
            };
        }
        let peh_dally = PipelineParameters {
            output_depth: Some(PerLane::All(0)),
            credit_delay: Some(1),
            reallocation: Reallocation::AfterTail,
            allocator: Allocator::SeparableInputFirst,
            ..common
        };
        if self == Self::BooksimIq {
            return PipelineParameters {
                routing_cycles: 0,
                credit_delay: Some(2),
                allocator: Allocator::Islip(Islip::default()),
                vc_allocator: VcAllocator::Islip(Islip::default()),
                ..peh_dally
            };
        }
        peh_dally
    }

    /// The figures of the kind that its paper models.
    fn of_its_paper(self) -> Option<SwitchingParameters> {
        let first_flit_delay = Span::from_ns(150);
        let slack = SlackBuffer { capacity: 80, stop: 56, go: 40 };
        match self {
            Self::Myrinet640 => Some(SwitchingParameters::Wormhole(WormholeParameters {
                routing_delay: first_flit_delay,
                setup_delay: Span::ZERO,
                slack,
                route_bytes: false,
                mark_bytes: Bytes(0),
            })),
            Self::Myrinet1280 => Some(SwitchingParameters::Wormhole(WormholeParameters {
                routing_delay: Span::ZERO,
                setup_delay: first_flit_delay,
                slack,
                route_bytes: true,
                mark_bytes: Bytes(2),
            })),
            Self::Yum1600 => {
                Some(SwitchingParameters::VirtualLanes(Box::<PipelineParameters>::default()))
            }
            Self::BooksimIq | Self::CaminosBasic | Self::PehDally2001 => {
                Some(SwitchingParameters::VirtualLanes(Box::new(self.router())))
            }
            Self::Santos4x => {
                Some(SwitchingParameters::Packets(Box::<PacketsParameters>::default()))
            }
            _ => None,
        }
    }
}
