//! The section on whole packets: buffers at inputs, reading and overtaking.

use super::section::{Over, section};
use super::{CreditLoss, FlowControl, LaneArbiters, LaneParameters, PerLane};
use gingham_kernel::{Bytes, Span};
use gingham_net::{Among, Read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

section! {
/// Switches that keep whole packets in a buffer of each input and lane (Santos et al. 2002, section
/// III).
pub struct Packets {
    /// The switch of whole packets and its lanes.
    [
        PacketsParameters,
        /// Its lanes.
        #[serde(flatten)]
        lanes: LaneParameters,
        /// How often a packet may be overtaken.
        overtaking: OvertakingParameters
    ] {
        /// From the arrival of the first byte at a switch to the earliest start on an output; at least
        /// the time of a byte on every cable. Default: the preset's.
        value forwarding_delay: Span,
        /// Least time between the heads that one input port reads. Default: the preset's.
        value head_interval: Span,
        /// What the buffer of an input and lane holds, in whole blocks of 64 B, for all lanes or as a
        /// list of one a lane. Default: the preset's.
        value buffer: PerLane<Bytes>,
        /// What the buffer of a lane at each output of a switch holds, in whole blocks of 64 B, for all
        /// lanes or as a list of one a lane. By default outputs have no buffers. Packets cross to
        /// output buffers as soon as there is space, so `read` and `overtaking` mean nothing.
        open output_buffer: PerLane<Bytes>,
        /// How many packets of an input port may leave at once. Default: the preset's.
        value read: Read,
        /// From the arrival of a credit update until it counts. Default: the preset's.
        value credit_delay: Span,
        /// Credit updates that are lost. None by default.
        open credit_loss: CreditLoss,
        /// How a receiver holds back its sender. Default: the preset's.
        merged flow_control: FlowControl,
    }
    [written] {
        /// How often a packet may be overtaken. Default: the preset's.
        only overtaking: Option<Overtaking>,
    }
}
}

section! {
/// How often a packet may be overtaken, and by which.
#[derive(Copy, Eq)]
pub struct Overtaking {
    /// How often a packet may be overtaken, and by which.
    #[derive(Copy, Eq)]
    [OvertakingParameters] {
        /// How often; from then on the others wait for it. Default: the preset's.
        value at_most: i64,
        /// By which packets. Default: the preset's.
        value among: Among,
    }
}
}

impl Default for PacketsParameters {
    /// Santos et al. 2002, table I: 40 ns, four packets of 2,068 B a port (33 blocks of 64 B each),
    /// four times overtaken. One lane, heads and credits that cost no time are ours.
    fn default() -> Self {
        Self {
            lanes: LaneParameters { arbiters: LaneArbiters::default().by_packet(), count: 1 },
            forwarding_delay: Span::from_ns(40),
            head_interval: Span::ZERO,
            buffer: PerLane::All(Bytes(4 * 33 * 64)),
            output_buffer: None,
            read: Read::Any,
            overtaking: OvertakingParameters { at_most: 4, among: Among::SameOutput },
            credit_delay: Span::ZERO,
            credit_loss: None,
            flow_control: FlowControl::default(),
        }
    }
}
