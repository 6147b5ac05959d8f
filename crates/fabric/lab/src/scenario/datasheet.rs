//! Data-sheet values of a switch, and the parameters that each switching kind derives from them.
//!
//! ```text
//!                    switch_delay             port_buffer, divided equally among the lanes
//!   wormhole         setup_delay              slack buffer; STOP at 7/10 and GO at 1/2 of its capacity
//!   virtual lanes    pipeline_cycles          buffer of each lane, in flits
//!   whole packets    forwarding_delay         buffer of each lane, in bytes
//! ```
//!
//! The fractions for STOP and GO are those of Myrinet: 56 and 40 of 80 flits.

use super::section::Over;
use super::{
    FlowControl, Forwarding, LaneParameters, Network, PacketsParameters, PerLane, Pfc,
    PipelineParameters, RouteHeader, SwitchingName, SwitchingParameters, WormholeParameters,
};
use gingham_kernel::{Bytes, Rate, Span};
use gingham_net::{BLOCK_BYTES, SlackBuffer};
use serde::Deserialize;

/// Cycles from the arrival of a head to its start on the next cable, without `pipeline_cycles` and
/// `routing_cycles` (`docs/concepts/virtual-lanes.md`). Derived parameters set `routing_cycles` to
/// 0, because each routing cycle would add a gap between packets and thereby reduce the rate.
const STAGES: u64 = 4;

const DEPTH_MAX: u64 = 65_535;

const BLOCK: u64 = BLOCK_BYTES as u64;

/// Length of the mark in front of the remaining route, which an in-transit host strips.
const MARK: Bytes = Bytes(2);

pub(super) const RATE: Rate = Rate::from_bytes_per_second(1_000_000_000);

const FLIT: Bytes = Bytes(64);

#[derive(Clone, Copy)]
pub(super) struct Layers<'a> {
    pub(super) preset: &'a Network,
    pub(super) written: &'a Network,
}

impl<'a> Layers<'a> {
    pub(super) fn over<S: Over<T> + 'a, T>(
        self,
        section: impl Fn(&'a Network) -> &'a S,
        base: T,
    ) -> T {
        section(self.written).over(section(self.preset).over(base))
    }

    fn value<T: Copy>(self, key: impl Fn(&Network) -> Option<T>) -> Option<T> {
        key(self.written).or_else(|| key(self.preset))
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Datasheet {
    /// Time from the first byte of a packet at an input port to its first byte at an output port.
    switch_delay: Span,
    /// Buffer capacity of an input port, shared by all lanes.
    port_buffer: Bytes,
    /// Maximum buffer of a lane: the largest credit that flow control can grant.
    lane_buffer_max: Option<Bytes>,
    /// Time from the arrival of a pause frame until the sender applies it.
    pause_response_time: Option<Span>,
    /// Usual packet payload; `None` if the technology has none.
    pub(super) packet: Option<Bytes>,
}

impl Datasheet {
    pub(super) fn under(&self, kind: SwitchingName, layers: Layers<'_>) -> SwitchingParameters {
        match kind {
            SwitchingName::Wormhole => {
                let base = self.wormhole();
                let header = layers.over(|network| &network.header, base.header);
                let base = WormholeParameters { header, ..base };
                SwitchingParameters::Wormhole(layers.over(|network| network, base))
            }
            SwitchingName::VirtualLanes => {
                let base = self.pipeline(layers);
                let base = PipelineParameters { lanes: lanes(layers, base.lanes), ..base };
                let pipeline = layers.over(|network| &network.lanes, base);
                SwitchingParameters::VirtualLanes(Box::new(pipeline))
            }
            SwitchingName::Packets => {
                let base = self.packets(layers);
                let lanes = lanes(layers, base.lanes);
                let lanes = LaneParameters { arbiters: lanes.arbiters.by_packet(), ..lanes };
                let overtaking =
                    layers.over(|network| &network.packets.overtaking, base.overtaking);
                let base = PacketsParameters { lanes, overtaking, ..base };
                let packets = layers.over(|network| &network.packets, base);
                SwitchingParameters::Packets(Box::new(packets))
            }
        }
    }

    fn wormhole(&self) -> WormholeParameters {
        let capacity = u32::try_from(self.lane_buffer(1).0).unwrap_or(u32::MAX);
        let slack = SlackBuffer { capacity, stop: capacity / 10 * 7, go: capacity / 2 };
        WormholeParameters {
            header: RouteHeader { route_bytes: false, mark_bytes: MARK },
            routing_delay: Span::ZERO,
            setup_delay: self.switch_delay,
            slack,
        }
    }

    fn pipeline(&self, layers: Layers<'_>) -> PipelineParameters {
        let ours = PipelineParameters::default();
        let count = lane_count(layers);
        let flit = layers.value(|network| network.lanes.flit).unwrap_or(FLIT);
        let rate = layers.value(|network| network.link_rate).unwrap_or(RATE);
        let cycle = rate.flit_time(flit.0.max(1)).span;
        let cycles = self.switch_delay.div_ceil(cycle).saturating_sub(STAGES);
        let buffer = self.lane_buffer(count);
        let holds_packets = self.packet.is_some_and(|packet| packet < buffer);
        PipelineParameters {
            lanes: LaneParameters { count, ..ours.lanes.clone() },
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

    fn packets(&self, layers: Layers<'_>) -> PacketsParameters {
        let ours = PacketsParameters::default();
        let count = lane_count(layers);
        PacketsParameters {
            lanes: LaneParameters { count, ..ours.lanes.clone() },
            forwarding_delay: self.switch_delay,
            flow_control: self.pause_response_time.map_or(FlowControl::Credits, |response_time| {
                FlowControl::Pfc(Pfc { response_time: Some(response_time), ..Pfc::default() })
            }),
            buffer: PerLane::All(Bytes(self.lane_buffer(count).0 / BLOCK * BLOCK)),
            ..ours
        }
    }

    fn lane_buffer(&self, count: i64) -> Bytes {
        let share = self.port_buffer.0 / u64::try_from(count.max(1)).unwrap_or(1);
        Bytes(self.lane_buffer_max.map_or(share, |most| share.min(most.0)))
    }
}

fn lanes(layers: Layers<'_>, base: LaneParameters) -> LaneParameters {
    let arbiters = layers.over(|network| &network.lanes, base.arbiters);
    layers.over(|network| &network.lanes, LaneParameters { arbiters, ..base })
}

fn lane_count(layers: Layers<'_>) -> i64 {
    layers.value(|network| network.lanes.count).unwrap_or(1)
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
