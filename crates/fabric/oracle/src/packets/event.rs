//! The events of a network of whole packets, in the order of their phases.
//!
//! The derived order is the total order of `docs/concepts/timing-packets.md`: variants are in the
//! order of phases, and the component's id is the first field of each.

use crate::packets::journey::JourneyId;
use gingham_kernel::Time;
use gingham_topology::{ChannelId, EndpointId};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// Phase 1: a source creates a message.
    Create { source: usize },
    /// Phase 1: a wake-up of an endpoint is due.
    Wake { endpoint: EndpointId },
    /// Phase 2: the tail of the packet on `channel` has left its sender.
    Left { channel: ChannelId },
    /// Phase 2: the tail of a packet that arrived by `channel` has left the buffer there, into that
    /// of an output.
    LeftInput { channel: ChannelId, lane: u8, packet: JourneyId },
    /// Phase 2: the receiver of `channel` repeats its credit update of a lane, unless it has sent
    /// another since.
    Repeat { channel: ChannelId, lane: u8, since: Time },
    /// Phase 3: a packet has arrived completely at the host at the end of `channel`.
    Arrived { channel: ChannelId, packet: JourneyId },
    /// Phase 4: the receiver of `channel` checks the fill of the buffer of a lane.
    CheckBuffer { channel: ChannelId, lane: u8 },
    /// Phase 4: a credit update reaches the sender of `channel`, with the new limit on the count of
    /// blocks sent on a lane.
    Known { channel: ChannelId, lane: u8, limit_blocks: u64 },
    /// Phase 4: the sender of `channel` receives a pause of a lane, or its end.
    PauseReceived { channel: ChannelId, lane: u8, is_pause: bool },
    /// Phase 5: the head of a packet that arrived by `channel` is read.
    ReadHead { channel: ChannelId, lane: u8, packet: JourneyId },
    /// Phase 5, after all heads: a packet that arrived by `channel` may start.
    Ready { channel: ChannelId, lane: u8, packet: JourneyId },
    /// Phase 6: `channel` chooses a packet, if it is idle.
    Start { channel: ChannelId },
    /// Phase 7: a packet that arrived by `channel` had its head read in this instant, which is now
    /// over.
    Settle { channel: ChannelId, lane: u8, packet: JourneyId },
}
