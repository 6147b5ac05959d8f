//! The switching kinds: what one asks of a kind, and what each answers.
//!
//! ```text
//!                      wormhole                virtual lanes          packets
//!   moves              bytes, one a flit       flits of some bytes    packets, whole
//!   lanes              one                     up to 16               up to 16
//!   buffers            slack, a channel        one a lane             one a lane, of whole packets
//!   held back by       STOP and GO             credits                credits, or pauses
//!   beside payload     route, marks, overhead  overhead, whole flits  overhead
//! ```
//!
//! A kind is a variant of [`Switching`], and what model and record need to know of a kind is asked
//! here; beside it only compilation and the start of a run look at the variant. No match has a
//! wildcard: a new kind compiles once it has answered every question.

use crate::{ChannelPlan, PacketsPlan, PathLength, PipelinePlan, Scheduler, WormholePlan};
use std::sync::Arc;

/// The switching kind of a fabric: one kind a run.
#[derive(Clone, PartialEq, Debug)]
pub enum Switching {
    /// Wormhole with slack buffers, STOP and GO.
    Wormhole(WormholePlan),
    /// Virtual lanes with credits.
    VirtualLanes(Arc<PipelinePlan>),
    /// Whole packets in input buffers, with credits or pauses.
    Packets(Arc<PacketsPlan>),
}

impl Switching {
    /// Bytes of a flit; of packets that are not cut into flits, a byte is what counts for one.
    pub fn flit_bytes(&self) -> u32 {
        match self {
            Self::Wormhole(_) | Self::Packets(_) => 1,
            Self::VirtualLanes(pipeline) => pipeline.flit_bytes,
        }
    }

    /// Time of a byte on a channel, in picoseconds.
    pub fn byte_ps(&self, channel: &ChannelPlan) -> f64 {
        match self {
            Self::Wormhole(_) => channel.byte_ps(1),
            Self::VirtualLanes(pipeline) => channel.byte_ps(pipeline.flit_bytes),
            Self::Packets(_) => channel.bytes.byte_ps(),
        }
    }

    /// Time of a flit on a channel, in picoseconds.
    pub fn flit_ps(&self, channel: &ChannelPlan) -> f64 {
        match self {
            Self::Wormhole(_) | Self::VirtualLanes(_) => channel.byte_ps(1),
            Self::Packets(_) => channel.bytes.byte_ps(),
        }
    }

    /// The cycle of all switches in picoseconds, where they tick.
    pub fn cycle_ps(&self) -> Option<u64> {
        match self {
            Self::Wormhole(_) | Self::Packets(_) => None,
            Self::VirtualLanes(pipeline) => Some(pipeline.cycle.as_ps()),
        }
    }

    /// Whether its switches tell what waits for their outputs: those that keep whole packets, at
    /// their inputs alone.
    pub fn tells_switched(&self) -> bool {
        match self {
            Self::Wormhole(_) | Self::VirtualLanes(_) => false,
            Self::Packets(packets) => packets.output_blocks.is_none(),
        }
    }

    /// How an input port of a switch chooses among its lanes, where it has to.
    pub fn crossbar_input(&self) -> Option<&Scheduler> {
        match self {
            Self::Wormhole(_) | Self::Packets(_) => None,
            Self::VirtualLanes(pipeline) => Some(&pipeline.crossbar_input),
        }
    }

    /// How an output port of a switch chooses among its output lanes whose holders can send, where
    /// it does.
    pub fn crossbar_output(&self) -> Option<&Scheduler> {
        match self {
            Self::Wormhole(_) | Self::Packets(_) => None,
            Self::VirtualLanes(pipeline) => pipeline.crossbar_output.as_ref(),
        }
    }

    /// Whether channels are divided into lanes, be it into one.
    pub const fn has_lanes(&self) -> bool {
        match self {
            Self::Wormhole(_) => false,
            Self::VirtualLanes(_) | Self::Packets(_) => true,
        }
    }

    /// What packets that wait for each other are called.
    pub const fn packets(&self) -> &'static str {
        match self {
            Self::Wormhole(_) => "worms",
            Self::VirtualLanes(_) | Self::Packets(_) => "packets",
        }
    }

    /// What the buffers in which they wait belong to.
    pub const fn buffers(&self) -> &'static str {
        match self {
            Self::Wormhole(_) => "channels",
            Self::VirtualLanes(_) | Self::Packets(_) => "lanes of channels",
        }
    }

    /// No packet has more bytes beside its payload, in a fabric of so many switches.
    pub fn beside_payload_at_most(&self, switches: u64) -> u64 {
        match self {
            Self::Wormhole(wormhole) => {
                // No path comes to a switch more than four times: up and down, each once more from
                // a host.
                let hops = 4 * switches;
                u64::from(wormhole.overhead_bytes) + hops * (1 + u64::from(wormhole.mark_bytes))
            }
            Self::VirtualLanes(pipeline) => {
                u64::from(pipeline.overhead_bytes) + u64::from(pipeline.flit_bytes)
            }
            Self::Packets(packets) => u64::from(packets.overhead_bytes),
        }
    }

    /// What a packet takes of the pool of the first in-transit host of a path of this length,
    /// behind its first `switches`: its bytes there, less the mark.
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

    /// Whether there is a buffer at the end of a channel; `is_held` says whether what takes its
    /// flits there may hold them back.
    pub(crate) fn has_buffer(&self, channel: &ChannelPlan, is_held: bool) -> bool {
        match self {
            Self::Wormhole(_) => channel.slack.is_some(),
            Self::VirtualLanes(_) | Self::Packets(_) => is_held,
        }
    }

    /// What that buffer holds, that of all lanes together, where there is one.
    pub(crate) fn buffer_flits(&self, channel: &ChannelPlan) -> u32 {
        match self {
            Self::Wormhole(_) => channel.slack.map_or(0, |slack| slack.capacity),
            Self::VirtualLanes(pipeline) => pipeline.depths_flits.iter().sum(),
            Self::Packets(packets) => u32::try_from(packets.buffer_bytes()).unwrap_or(u32::MAX),
        }
    }
}
