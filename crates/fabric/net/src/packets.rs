//! Whole packets in input buffers: what all switches of such a network have in common.
//!
//! ```text
//!   input port 1   lane 0  [ p4 p7 ]  ─┐                       ┌─► output 2   oldest first, a lane at a time
//!                  lane 1  [ p9 ]     ─┤ any number, or one at a time
//!   input port 2   lane 0  [ p5 ]     ─┘                       └─► output 3
//! ```
//!
//! A packet takes its space of the buffer of an input and lane as it starts at the sender, whole,
//! and gives it back when its tail has left: virtual cut-through (Kermani and Kleinrock 1979). When
//! what happens is told in `docs/concepts/timing-packets.md`.
//!
//! Source: Santos, Turner and Janakiraman 2002, section III and table I; credits are InfiniBand's,
//! InfiniBand Architecture Specification, Volume 1, section 7.9.

use crate::{Arbitration, CreditLossPlan, PausesPlan};
use gingham_kernel::Span;
use gingham_topology::routing::LANES_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The unit of buffers and credits, in bytes.
pub const BLOCK_BYTES: u32 = 64;

/// By lane: the blocks of [`BLOCK_BYTES`] that a buffer holds; 0 for lanes that are not there.
pub type LaneBlocks = [u32; LANES_MAX as usize];

/// How many packets of an input port of a switch may leave at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Read {
    /// Any number, each to another output.
    #[default]
    #[schemars(extend("x-source" = "Santos et al. 2002, footnote 6"))]
    Any,
    /// One: others wait until its tail has left, even those for other outputs.
    #[schemars(extend("x-source" = "Santos et al. 2002, table I: \"when crossbar is busy\""))]
    One,
}

/// What a packet overtakes that starts before one that came earlier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Among {
    /// Those that wait for the same output.
    #[default]
    #[schemars(extend("x-source" = "Santos et al. 2002, table I; that it is of one output is ours"))]
    SameOutput,
    /// Also those in the same buffer, whatever their output.
    #[schemars(extend("x-source" = "ours, another reading of Santos et al. 2002, table I"))]
    AnyOutput,
}

/// How often a packet may be overtaken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OvertakingPlan {
    /// So often; from then on it is waited for.
    pub at_most: u32,
    /// By which packets.
    pub among: Among,
}

/// Switches that keep whole packets at their inputs.
#[derive(Clone, PartialEq, Debug)]
pub struct PacketsPlan {
    /// Bytes of a packet beside its payload: header and trailer.
    pub overhead_bytes: u32,
    /// From the arrival of the first byte to the earliest start on the output; at least the time of
    /// one byte on every channel.
    pub forwarding_delay: Span,
    /// Heads of one input port are read no closer than this.
    pub head_interval: Span,
    /// By lane: the blocks of [`BLOCK_BYTES`] that the buffer of an input holds; 0 for lanes that
    /// are not there.
    pub buffer_blocks: LaneBlocks,
    /// The same of outputs, where they have buffers of their own.
    pub output_blocks: Option<LaneBlocks>,
    /// How many packets of an input may leave at once.
    pub read: Read,
    /// How often a packet may be overtaken.
    pub overtaking: OvertakingPlan,
    /// From the arrival of an update of credits, as far as the cable delays it, to its effect.
    pub credit_delay: Span,
    /// Which updates of credits are lost, if any may be.
    pub credit_loss: Option<CreditLossPlan>,
    /// How receivers pause lanes, where no credits hold senders back.
    pub pauses: Option<PausesPlan>,
    /// Which of the packets for an output goes first.
    pub arbitration: Arbitration,
}

impl PacketsPlan {
    /// Bytes on the wire of a packet with so much payload.
    #[inline]
    pub const fn wire_bytes(&self, payload_bytes: u32) -> u64 {
        payload_bytes as u64 + self.overhead_bytes as u64
    }

    /// Blocks of a buffer that so many bytes on the wire take.
    #[inline]
    pub const fn blocks(wire_bytes: u64) -> u64 {
        wire_bytes.div_ceil(BLOCK_BYTES as u64)
    }

    /// Bytes that the buffers of all lanes of an input hold.
    pub fn buffer_bytes(&self) -> u64 {
        let blocks: u64 = self.buffer_blocks.iter().copied().map(u64::from).sum();
        blocks * u64::from(BLOCK_BYTES)
    }
}
