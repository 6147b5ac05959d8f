//! The events of a network of whole packets, in the order of their phases.
//!
//! The derived order is the total order of `docs/concepts/timing-packets.md`: variants stand in the
//! order of phases, and what identifies the component comes first in each.

use crate::packets::journey::JourneyId;
use gingham_kernel::Time;
use gingham_topology::{ChannelId, EndpointId};

/// Something that happens at an instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// Phase 1: a source creates a message.
    Create { source: usize },
    /// Phase 1: an endpoint is woken.
    Wake { endpoint: EndpointId },
    /// Phase 2: the tail of what `channel` carries has left.
    Left { channel: ChannelId },
    /// Phase 2: the tail of a packet that came by `channel` has left the buffer there, for that of an
    /// output.
    LeftInput { channel: ChannelId, lane: u8, packet: JourneyId },
    /// Phase 2: the receiver of `channel` says again how much it holds of a lane, if it has said nothing
    /// since then.
    Repeat { channel: ChannelId, lane: u8, since: Time },
    /// Phase 3: a packet has arrived whole at the host at the end of `channel`.
    Arrived { channel: ChannelId, packet: JourneyId },
    /// Phase 4: the receiver of `channel` looks at what fills the buffer of a lane.
    Look { channel: ChannelId, lane: u8 },
    /// Phase 4: the sender of `channel` knows up to which count of blocks it may send on a lane.
    Known { channel: ChannelId, lane: u8, limit_blocks: u64 },
    /// Phase 4: the sender of `channel` hears that a lane is paused, or that it may go on.
    Heard { channel: ChannelId, lane: u8, is_pause: bool },
    /// Phase 5: the head of a packet that came by `channel` is read.
    ReadHead { channel: ChannelId, lane: u8, packet: JourneyId },
    /// Phase 5, after all heads: a packet that came by `channel` may start.
    Ready { channel: ChannelId, lane: u8, packet: JourneyId },
    /// Phase 6: `channel` chooses, if it is idle.
    Start { channel: ChannelId },
    /// Phase 7: all has happened of the instant at which the head of a packet was read that came by
    /// `channel`.
    Settle { channel: ChannelId, lane: u8, packet: JourneyId },
}
