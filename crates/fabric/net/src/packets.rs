//! Switching of whole packets, which are stored in input buffers.
//!
//! ```text
//!   input port 1   lane 0  [ p4 p7 ]  ─┐                       ┌─► output 2   oldest first, a lane at a time
//!                  lane 1  [ p9 ]     ─┤ any number, or one at a time
//!   input port 2   lane 0  [ p5 ]     ─┘                       └─► output 3
//! ```
//!
//! A packet reserves space for its whole length in the next input buffer when it starts at the
//! sender, and releases the space when its tail has left: virtual cut-through (Kermani and
//! Kleinrock 1979). Timing: `docs/concepts/timing-packets.md`.
//!
//! Source: Santos, Turner and Janakiraman 2002, section III and table I; credits: InfiniBand
//! Architecture Specification, Volume 1, section 7.9.

use crate::{Arbitration, CreditLossPlan, PausesPlan};
use gingham_kernel::Span;
use gingham_topology::routing::LANES_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit of buffers and credits, in bytes.
pub const BLOCK_BYTES: u32 = 64;

/// Buffer capacity of each lane, in blocks of [`BLOCK_BYTES`]; 0 for absent lanes.
pub type LaneBlocks = [u32; LANES_MAX as usize];

/// Number of packets that may leave a switch's input port at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Read {
    /// Any number of packets, each to a different output.
    #[default]
    #[schemars(extend("x-source" = "Santos et al. 2002, footnote 6"))]
    Any,
    /// One packet: other packets of the port wait until its tail has left, even packets for other
    /// outputs.
    #[schemars(extend("x-source" = "Santos et al. 2002, table I: \"when crossbar is busy\""))]
    One,
}

/// Packets that count as overtaken when a later packet starts before them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Among {
    /// Packets that wait for the same output.
    #[default]
    #[schemars(extend("x-source" = "Santos et al. 2002, table I; that it is of one output is ours"))]
    SameOutput,
    /// Packets in the same buffer, for any output.
    #[schemars(extend("x-source" = "ours, another reading of Santos et al. 2002, table I"))]
    AnyOutput,
}

/// Limit on overtaking.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OvertakingPlan {
    /// Number of times that a packet may be overtaken before later packets must wait for it.
    pub at_most: u32,
    /// Packets that count as overtaken.
    pub among: Among,
}

/// Parameters of switches that store whole packets at their inputs.
#[derive(Clone, PartialEq, Debug)]
pub struct PacketsPlan {
    /// Header and trailer bytes of a packet.
    pub overhead_bytes: u32,
    /// Time from the arrival of a packet's first byte to the packet's earliest start on the output;
    /// at least one byte time on every channel.
    pub forwarding_delay: Span,
    /// Minimum time between reading two packet heads at the same input port.
    pub head_interval: Span,
    /// Capacity of each input buffer.
    pub buffer_blocks: LaneBlocks,
    /// Capacity of each output buffer; `None` without output buffers.
    pub output_blocks: Option<LaneBlocks>,
    /// Limit on how many packets of an input port may leave at the same time.
    pub read: Read,
    /// Limit on overtaking.
    pub overtaking: OvertakingPlan,
    /// Time from the arrival of a credit update until it takes effect.
    pub credit_delay: Span,
    /// Random loss of credit updates, if any.
    pub credit_loss: Option<CreditLossPlan>,
    /// Lane pauses that receivers request, instead of credits.
    pub pauses: Option<PausesPlan>,
    /// Arbitration among packets that request the same output.
    pub arbitration: Arbitration,
}

impl PacketsPlan {
    /// Returns the length of a packet on the wire, in bytes.
    #[inline]
    pub const fn wire_bytes(&self, payload_bytes: u32) -> u64 {
        payload_bytes as u64 + self.overhead_bytes as u64
    }

    /// Returns the number of blocks that a packet occupies in a buffer.
    #[inline]
    pub const fn blocks(wire_bytes: u64) -> u64 {
        wire_bytes.div_ceil(BLOCK_BYTES as u64)
    }

    /// Returns the capacity of an input port over all lanes, in bytes.
    pub fn buffer_bytes(&self) -> u64 {
        let blocks: u64 = self.buffer_blocks.iter().copied().map(u64::from).sum();
        blocks * u64::from(BLOCK_BYTES)
    }
}
