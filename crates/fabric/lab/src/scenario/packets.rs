//! The section on whole packets: buffers at inputs, reading and overtaking.

use super::{CreditLoss, FlowControl, LaneParameters, Lanes, PerLane};
use gingham_kernel::{Bytes, Span};
use gingham_net::{Among, Read, Scheduler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Switches that keep whole packets in a buffer of each input and lane (Santos et al. 2002, section
/// III).
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Packets {
    /// From the arrival of the first byte at a switch to the earliest start on an output; at least
    /// the time of a byte on every cable. Default: the preset's.
    pub forwarding_delay: Option<Span>,
    /// Least time between the heads that one input port reads. Default: the preset's.
    pub head_interval: Option<Span>,
    /// What the buffer of an input and lane holds, in whole blocks of 64 B, for all lanes or as a
    /// list of one a lane. Default: the preset's.
    pub buffer: Option<PerLane<Bytes>>,
    /// What the buffer of a lane at each output of a switch holds, in whole blocks of 64 B, for all
    /// lanes or as a list of one a lane. By default outputs have no buffers. Packets cross to
    /// output buffers as soon as there is space, so `read` and `overtaking` mean nothing.
    pub output_buffer: Option<PerLane<Bytes>>,
    /// How many packets of an input port may leave at once. Default: the preset's.
    pub read: Option<Read>,
    /// How often a packet may be overtaken. Default: the preset's.
    pub overtaking: Option<Overtaking>,
    /// From the arrival of a credit update until it counts. Default: the preset's.
    pub credit_delay: Option<Span>,
    /// Credit updates that are lost. None by default.
    pub credit_loss: Option<CreditLoss>,
    /// How a receiver holds back its sender. Default: the preset's.
    pub flow_control: Option<FlowControl>,
}

/// How often a packet may be overtaken, and by which.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Overtaking {
    /// How often; from then on the others wait for it. Default: the preset's.
    pub at_most: Option<i64>,
    /// By which packets. Default: the preset's.
    pub among: Option<Among>,
}

/// Figures of the switch of whole packets and its lanes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PacketsParameters {
    /// Its lanes.
    #[serde(flatten)]
    pub lanes: LaneParameters,
    /// From the arrival of the first byte to the earliest start on an output.
    pub forwarding_delay: Span,
    /// Least time between the heads that one input port reads.
    pub head_interval: Span,
    /// What the buffer of an input and lane holds.
    pub buffer: PerLane<Bytes>,
    /// What that of an output and lane holds, if there are any.
    pub output_buffer: Option<PerLane<Bytes>>,
    /// How many packets of an input port may leave at once.
    pub read: Read,
    /// How often a packet may be overtaken.
    pub overtaking: OvertakingParameters,
    /// From the arrival of a credit update until it counts.
    pub credit_delay: Span,
    /// Credit updates that are lost.
    pub credit_loss: Option<CreditLoss>,
    /// How a receiver holds back its sender.
    pub flow_control: FlowControl,
}

/// How often a packet may be overtaken, and by which.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct OvertakingParameters {
    /// How often.
    pub at_most: i64,
    /// By which packets.
    pub among: Among,
}

impl Default for PacketsParameters {
    /// Santos et al. 2002, table I: 40 ns, four packets of 2,068 B a port (33 blocks of 64 B each),
    /// four times overtaken. One lane, heads and credits that cost no time are ours.
    fn default() -> Self {
        Self {
            lanes: LaneParameters {
                count: 1,
                link_output: Scheduler::default().by_packet(),
                adapter_port: Scheduler::default().by_packet(),
            },
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

impl Packets {
    /// A preset's figures with the departures of this section and of that on lanes applied.
    pub(super) fn over(&self, lanes: &Lanes, preset: &PacketsParameters) -> PacketsParameters {
        let overtaking = self.overtaking.unwrap_or_default();
        PacketsParameters {
            lanes: lanes.over(&preset.lanes).by_packet(),
            forwarding_delay: self.forwarding_delay.unwrap_or(preset.forwarding_delay),
            head_interval: self.head_interval.unwrap_or(preset.head_interval),
            buffer: self.buffer.as_ref().unwrap_or(&preset.buffer).clone(),
            output_buffer: self.output_buffer.as_ref().or(preset.output_buffer.as_ref()).cloned(),
            read: self.read.unwrap_or(preset.read),
            overtaking: OvertakingParameters {
                at_most: overtaking.at_most.unwrap_or(preset.overtaking.at_most),
                among: overtaking.among.unwrap_or(preset.overtaking.among),
            },
            credit_delay: self.credit_delay.unwrap_or(preset.credit_delay),
            credit_loss: self.credit_loss.or(preset.credit_loss),
            flow_control: match &self.flow_control {
                None => preset.flow_control.clone(),
                Some(written) => written.over(&preset.flow_control),
            },
        }
    }
}
