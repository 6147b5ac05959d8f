//! Switching kinds and their common interface.
//!
//! ```text
//!                      wormhole                virtual lanes          packets
//!   unit               bytes, one per flit     multi-byte flits       whole packets
//!   lanes              one                     up to 16               up to 16
//!   buffers            slack, per channel      per lane               per lane, of whole packets
//!   flow control       STOP and GO             credits                credits, or pauses
//!   overhead           route, marks, fixed     fixed, in whole flits  fixed
//! ```
//!
//! Outside [`Switching`], only compilation and the start of a run inspect the variant. No match has
//! a wildcard arm, so that an incomplete new kind does not compile.

use crate::{ChannelPlan, PacketsPlan, PathLength, PipelinePlan, Scheduler, WormholePlan};
use std::sync::Arc;

/// Switching kind of a fabric, one per run.
#[derive(Clone, PartialEq, Debug)]
pub enum Switching {
    /// Wormhole switching with slack buffers, STOP and GO.
    Wormhole(WormholePlan),
    /// Virtual lanes with credits.
    VirtualLanes(Arc<PipelinePlan>),
    /// Whole packets in input buffers, with credits or pauses.
    Packets(Arc<PacketsPlan>),
}

impl Switching {
    /// Returns the flit size in bytes; 1 for networks without flits.
    pub fn flit_bytes(&self) -> u32 {
        match self {
            Self::Wormhole(_) | Self::Packets(_) => 1,
            Self::VirtualLanes(pipeline) => pipeline.flit_bytes,
        }
    }

    /// Returns a channel's serialisation time per byte, in picoseconds.
    pub fn byte_ps(&self, channel: &ChannelPlan) -> f64 {
        match self {
            Self::Wormhole(_) => channel.byte_ps(1),
            Self::VirtualLanes(pipeline) => channel.byte_ps(pipeline.flit_bytes),
            Self::Packets(_) => channel.bytes.byte_ps(),
        }
    }

    /// Returns a channel's serialisation time per flit, in picoseconds.
    pub fn flit_ps(&self, channel: &ChannelPlan) -> f64 {
        match self {
            Self::Wormhole(_) | Self::VirtualLanes(_) => channel.byte_ps(1),
            Self::Packets(_) => channel.bytes.byte_ps(),
        }
    }

    /// Returns the cycle time of all switches in picoseconds, if they have one.
    pub fn cycle_ps(&self) -> Option<u64> {
        match self {
            Self::Wormhole(_) | Self::Packets(_) => None,
            Self::VirtualLanes(pipeline) => Some(pipeline.cycle.as_ps()),
        }
    }

    /// Returns whether switches report packets that wait for outputs: true only for whole packets
    /// without output buffers.
    pub fn reports_waiting_for_outputs(&self) -> bool {
        match self {
            Self::Wormhole(_) | Self::VirtualLanes(_) => false,
            Self::Packets(packets) => packets.output_blocks.is_none(),
        }
    }

    /// Returns the scheduler that selects a lane of an input port; `None` without virtual lanes.
    pub fn crossbar_input(&self) -> Option<&Scheduler> {
        match self {
            Self::Wormhole(_) | Self::Packets(_) => None,
            Self::VirtualLanes(pipeline) => Some(&pipeline.crossbar_input),
        }
    }

    /// Returns the scheduler that selects a lane of an output port; `None` if switches have no such
    /// scheduler.
    pub fn crossbar_output(&self) -> Option<&Scheduler> {
        match self {
            Self::Wormhole(_) | Self::Packets(_) => None,
            Self::VirtualLanes(pipeline) => pipeline.crossbar_output.as_ref(),
        }
    }

    /// Returns whether channels are divided into lanes, even if only into one.
    pub const fn has_lanes(&self) -> bool {
        match self {
            Self::Wormhole(_) => false,
            Self::VirtualLanes(_) | Self::Packets(_) => true,
        }
    }

    /// Returns the plural noun for packets in deadlock reports.
    pub const fn packets(&self) -> &'static str {
        match self {
            Self::Wormhole(_) => "worms",
            Self::VirtualLanes(_) | Self::Packets(_) => "packets",
        }
    }

    /// Returns the plural noun for owners of packet buffers in deadlock reports.
    pub const fn buffers(&self) -> &'static str {
        match self {
            Self::Wormhole(_) => "channels",
            Self::VirtualLanes(_) | Self::Packets(_) => "lanes of channels",
        }
    }

    /// Returns an upper bound on a packet's bytes besides payload, for a path with this many
    /// switches.
    pub fn beside_payload_at_most(&self, switches: u64) -> u64 {
        match self {
            Self::Wormhole(wormhole) => {
                // A path visits a switch at most four times: up and down, each once more after an
                // in-transit host.
                let hops = 4 * switches;
                u64::from(wormhole.overhead_bytes) + hops * (1 + u64::from(wormhole.mark_bytes))
            }
            Self::VirtualLanes(pipeline) => {
                u64::from(pipeline.overhead_bytes) + u64::from(pipeline.flit_bytes)
            }
            Self::Packets(packets) => u64::from(packets.overhead_bytes),
        }
    }

    /// Returns the bytes that a packet occupies in the pool of its first in-transit host, after
    /// `switches` switches and without the mark.
    pub fn bytes_at_host(&self, payload_bytes: u32, length: PathLength, switches: u64) -> u64 {
        match self {
            Self::Wormhole(wormhole) => {
                let consumed = if wormhole.route_bytes { switches } else { 0 };
                let worm = wormhole.worm_flits(payload_bytes, length);
                worm - consumed - u64::from(wormhole.mark_bytes)
            }
            Self::VirtualLanes(pipeline) => {
                pipeline.wire_bytes(pipeline.packet_flits(payload_bytes))
            }
            Self::Packets(packets) => packets.wire_bytes(payload_bytes),
        }
    }

    pub(crate) fn has_buffer(&self, channel: &ChannelPlan, is_held: bool) -> bool {
        match self {
            Self::Wormhole(_) => channel.slack.is_some(),
            Self::VirtualLanes(_) | Self::Packets(_) => is_held,
        }
    }

    pub(crate) fn buffer_flits(&self, channel: &ChannelPlan) -> u32 {
        match self {
            Self::Wormhole(_) => channel.slack.map_or(0, |slack| slack.capacity),
            Self::VirtualLanes(pipeline) => pipeline.depths_flits.iter().sum(),
            Self::Packets(packets) => u32::try_from(packets.buffer_bytes()).unwrap_or(u32::MAX),
        }
    }
}
