//! The section on whole packets: input buffers, reads and overtaking.

use super::section::{Over, section};
use super::{CreditLoss, FlowControl, LaneArbiters, LaneParameters, PerLane};
use gingham_kernel::{Bytes, Span};
use gingham_net::{Among, Read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

section! {
/// Switches that store whole packets in one buffer per input and lane (Santos et al. 2002, section
/// III).
pub struct Packets {
    /// Parameters of the whole-packet switch.
    [
        PacketsParameters,
        /// Lane parameters.
        #[serde(flatten)]
        lanes: LaneParameters,
        /// Limits on overtaking.
        overtaking: OvertakingParameters
    ] {
        /// Time from the arrival of a packet's first byte at a switch to its earliest start on an
        /// output; at least the transmission time of one byte on every cable. Default: from the
        /// preset.
        value forwarding_delay: Span,
        /// Minimum time between reads of two packet heads by an input port. Default: from the
        /// preset.
        value head_interval: Span,
        /// Buffer capacity for each input and lane, in whole blocks of 64 B: a single value or a
        /// per-lane list. Default: from the preset.
        value buffer: PerLane<Bytes>,
        /// Buffer capacity for each output and lane of a switch, in whole blocks of 64 B: a single
        /// value or a per-lane list. By default outputs have no buffers. Packets move to output
        /// buffers as soon as there is space, so output buffers cannot be combined with `read` or
        /// `overtaking`.
        open output_buffer: PerLane<Bytes>,
        /// Number of packets that may leave an input port simultaneously. Default: from the preset.
        value read: Read,
        /// Time from the arrival of a credit update until it takes effect. Default: from the
        /// preset.
        value credit_delay: Span,
        /// Loss of credit updates. Default: none.
        open credit_loss: CreditLoss,
        /// How a receiver limits its sender. Default: from the preset.
        merged flow_control: FlowControl,
    }
    [written] {
        /// Limits on overtaking among packets of an input buffer. Default: from the preset.
        only overtaking: Option<Overtaking>,
    }
}
}

section! {
/// Limits on overtaking among packets of an input buffer.
#[derive(Copy, Eq)]
pub struct Overtaking {
    /// Limits on overtaking.
    #[derive(Copy, Eq)]
    [OvertakingParameters] {
        /// Number of times that a packet may be overtaken before the other packets wait for it.
        /// Default: from the preset.
        value at_most: i64,
        /// Packets that count as overtaken. Default: from the preset.
        value among: Among,
    }
}
}

impl Default for PacketsParameters {
    /// Returns the parameters of Santos et al. 2002, table I: a delay of 40 ns, buffers of four
    /// 2,068-byte packets per port (33 blocks of 64 B per packet), and at most four overtakings of
    /// a packet. The single lane and the zero delays of heads and credits are our choice.
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
