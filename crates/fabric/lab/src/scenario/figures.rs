//! A table of numbers of a network that names no switching kind, and what each kind makes of it.
//!
//! ```text
//!                    switch_delay             port_buffer, shared out among the lanes
//!   wormhole         setup_delay              slack buffer, STOP at 7/10, GO at 1/2
//!   virtual lanes    pipeline_cycles          flits of each lane
//!   whole packets    forwarding_delay         bytes of each lane
//! ```
//!
//! STOP and GO stand where Myrinet has them: at 56 and 40 of 80.

use super::{
    FlowControl, Forwarding, Network, PacketsParameters, PerLane, Pfc, PipelineParameters,
    SwitchingName, SwitchingParameters, WormholeParameters,
};
use gingham_kernel::{Bytes, Length, Rate, Span};
use gingham_net::{BLOCK_BYTES, SlackBuffer};

/// Cycles from a head's arrival to its start on the next cable in a switch of five stages, beside
/// those of its pipeline and of routing (`docs/concepts/virtual-lanes.md`). Routing takes none by
/// itself, so that it costs no rate between two packets.
const STAGES: u64 = 4;

/// What a lane holds at most (`network.lanes.depth`).
const DEPTH_MAX: u64 = 65_535;

/// Buffers of whole packets are counted in these.
const BLOCK: u64 = BLOCK_BYTES as u64;

/// Numbers of a network, whatever its switching kind.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Figures {
    pub(super) link_rate: Rate,
    pub(super) cable_length: Length,
    pub(super) delay_per_metre: Span,
    pub(super) fec_delay: Span,
    /// Bytes before the payload.
    pub(super) type_bytes: Bytes,
    /// Bytes after it.
    pub(super) trailer_bytes: Bytes,
    /// From the first byte of a packet at one port to its first byte at another.
    pub(super) switch_delay: Span,
    /// What an input port holds, over all lanes.
    pub(super) port_buffer: Bytes,
    /// The most that flow control can grant on one lane.
    pub(super) lane_buffer_max: Option<Bytes>,
    /// Where pauses hold senders back, from the arrival of one until it is obeyed; else credits do.
    pub(super) pause_answer: Option<Span>,
    /// What one flit carries, where flits are sent.
    pub(super) flit: Bytes,
    /// Lanes in use.
    pub(super) lanes: i64,
    /// The most payload of a packet, where the network has an opinion.
    pub(super) packet: Option<Bytes>,
    /// Largest payload of a packet that the technology allows, if it sets a limit.
    pub(super) packet_max: Option<Bytes>,
}

impl Figures {
    /// What a switching kind makes of the numbers, where the network may say otherwise.
    pub(super) fn under(&self, kind: SwitchingName, network: &Network) -> SwitchingParameters {
        match kind {
            SwitchingName::Wormhole => SwitchingParameters::Wormhole(self.wormhole()),
            SwitchingName::VirtualLanes => {
                SwitchingParameters::VirtualLanes(Box::new(self.pipeline(network)))
            }
            SwitchingName::Packets => SwitchingParameters::Packets(Box::new(self.packets(network))),
        }
    }

    fn wormhole(&self) -> WormholeParameters {
        let capacity = u32::try_from(self.lane_buffer(1).0).unwrap_or(u32::MAX);
        let slack = SlackBuffer { capacity, stop: capacity / 10 * 7, go: capacity / 2 };
        WormholeParameters {
            routing_delay: Span::ZERO,
            setup_delay: self.switch_delay,
            slack,
            route_bytes: false,
            mark_bytes: Bytes(2),
        }
    }

    fn pipeline(&self, network: &Network) -> PipelineParameters {
        let ours = PipelineParameters::default();
        let count = self.lane_count(network);
        let flit = network.lanes.flit.unwrap_or(self.flit);
        let rate = network.link_rate.unwrap_or(self.link_rate);
        let cycle = rate.flit_time(flit.0.max(1)).span;
        let cycles = self.switch_delay.div_ceil(cycle).saturating_sub(STAGES);
        let buffer = self.lane_buffer(count);
        let holds_packets = self.packet.is_some_and(|packet| packet < buffer);
        PipelineParameters {
            lanes: super::LaneParameters { count, ..ours.lanes.clone() },
            depth: PerLane::All(signed(buffer.0.div_ceil(flit.0.max(1)).min(DEPTH_MAX))),
            flit,
            forwarding: PerLane::All(if holds_packets {
                Forwarding::VirtualCutThrough
            } else {
                Forwarding::Wormhole
            }),
            pipeline_cycles: signed(cycles),
            routing_cycles: 0,
            ..ours
        }
    }

    fn packets(&self, network: &Network) -> PacketsParameters {
        let ours = PacketsParameters::default();
        let count = self.lane_count(network);
        PacketsParameters {
            lanes: super::LaneParameters { count, ..ours.lanes.clone() },
            forwarding_delay: self.switch_delay,
            flow_control: self.pause_answer.map_or(FlowControl::Credits, |answer| {
                FlowControl::Pfc(Pfc { answer: Some(answer), ..Pfc::default() })
            }),
            buffer: PerLane::All(Bytes(self.lane_buffer(count).0 / BLOCK * BLOCK)),
            ..ours
        }
    }

    fn lane_count(&self, network: &Network) -> i64 {
        network.lanes.count.unwrap_or(self.lanes)
    }

    /// What an input port holds of one lane of `count`.
    fn lane_buffer(&self, count: i64) -> Bytes {
        let share = self.port_buffer.0 / u64::try_from(count.max(1)).unwrap_or(1);
        Bytes(self.lane_buffer_max.map_or(share, |most| share.min(most.0)))
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
