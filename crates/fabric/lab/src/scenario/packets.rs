//! The section on whole packets: input buffers, reads and overtaking.

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
    /// Parameters of the switch of whole packets.
    [
        PacketsParameters,
        /// Lane parameters.
        #[serde(flatten)]
        lanes: LaneParameters,
        /// Limits on overtaking.
        overtaking: OvertakingParameters
    ] {
        /// Time from the arrival of the first byte at a switch to the earliest start on an output;
        /// at least one byte time on every cable. Default: the preset's.
        value forwarding_delay: Span,
        /// Minimum time between the heads that one input port reads. Default: the preset's.
        value head_interval: Span,
        /// Capacity of the buffer of an input and lane, in whole blocks of 64 B: one value
        /// for all lanes, or a list with a value for each. Default: the preset's.
        value buffer: PerLane<Bytes>,
        /// Capacity of the buffer of a lane at each output of a switch, in whole blocks of 64 B:
        /// one value for all lanes, or a list with a value for each. By default outputs have no buffers. Packets
        /// cross to output buffers as soon as there is space, so `read` and `overtaking` have no
        /// effect.
        open output_buffer: PerLane<Bytes>,
        /// Number of packets of an input port that may leave simultaneously. Default: the preset's.
        value read: Read,
        /// Time from the arrival of a credit update until it takes effect. Default: the preset's.
        value credit_delay: Span,
        /// Loss of credit updates. None by default.
        open credit_loss: CreditLoss,
        /// How a receiver limits its sender. Default: the preset's.
        merged flow_control: FlowControl,
    }
    [written] {
        /// Limits on overtaking. Default: the preset's.
        only overtaking: Option<Overtaking>,
    }
}
}

section! {
/// Limits on overtaking.
#[derive(Copy, Eq)]
pub struct Overtaking {
    /// Limits on overtaking.
    #[derive(Copy, Eq)]
    [OvertakingParameters] {
        /// How often a packet may be overtaken; after that, other packets wait for it. Default: the
        /// preset's.
        value at_most: i64,
        /// Which packets may overtake. Default: the preset's.
        value among: Among,
    }
}
}

impl Default for PacketsParameters {
    /// Parameters of Santos et al. 2002, table I: 40 ns, four packets of 2,068 B a port (33 blocks
    /// of 64 B each), overtaken at most four times. One lane, and heads and credits without delay,
    /// are ours.
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
