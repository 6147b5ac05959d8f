//! Events of whole-packet networks, in the order of their phases.
//!
//! The derived order is the total order of `docs/concepts/timing-packets.md`: by phase, then by the
//! id of the component (the first field).

use crate::packets::journey::JourneyId;
use gingham_kernel::Time;
use gingham_topology::{ChannelId, EndpointId};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// Phase 1: a source creates a message.
    Create {
        source: usize,
    },
    Wake {
        endpoint: EndpointId,
    },
    /// Phase 2: the tail has left the sender.
    Left {
        channel: ChannelId,
    },
    /// Phase 2: the tail has left the input buffer for an output buffer.
    LeftInput {
        channel: ChannelId,
        lane: u8,
        packet: JourneyId,
    },
    /// Phase 2: the receiver repeats its credit update, unless it has sent another update since.
    Repeat {
        channel: ChannelId,
        lane: u8,
        since: Time,
    },
    /// Phase 3: a whole packet has arrived at a host.
    Arrived {
        channel: ChannelId,
        packet: JourneyId,
    },
    /// Phase 4: the receiver checks the fill level.
    CheckBuffer {
        channel: ChannelId,
        lane: u8,
    },
    /// Phase 4: the sender receives a credit update, which sets the total number of blocks that may
    /// be sent.
    Known {
        channel: ChannelId,
        lane: u8,
        limit_blocks: u64,
    },
    /// Phase 4: the sender receives a pause or resume request.
    PauseReceived {
        channel: ChannelId,
        lane: u8,
        is_pause: bool,
    },
    /// Phase 5: a switch reads the head.
    ReadHead {
        channel: ChannelId,
        lane: u8,
        packet: JourneyId,
    },
    /// Phase 5, after all heads are read: the packet may start.
    Ready {
        channel: ChannelId,
        lane: u8,
        packet: JourneyId,
    },
    /// Phase 6: an idle channel chooses a packet.
    Start {
        channel: ChannelId,
    },
    /// Phase 7: all other events simultaneous with the reading of the head have been handled.
    Settle {
        channel: ChannelId,
        lane: u8,
        packet: JourneyId,
    },
}
