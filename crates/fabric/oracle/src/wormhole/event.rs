//! The events of the wormhole network, in the order of their phases.
//!
//! The derived order is the total order of `docs/concepts/timing.md`: variants stand in the order
//! of phases, and what identifies the component comes first in each.

use crate::wormhole::worm::WormId;
use gingham_topology::{ChannelId, EndpointId};

/// A control flit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Symbol {
    /// The sender may start data flits.
    Go,
    /// The sender may not.
    Stop,
}

/// A data flit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Flit {
    /// The worm it belongs to.
    pub(crate) worm: WormId,
    /// Its place in the worm at the source, from 0.
    pub(crate) index: u64,
}

/// Something that happens at an instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// Phase 1: a source creates a message.
    Create { source: usize },
    /// Phase 1: an endpoint is woken.
    Wake { endpoint: EndpointId },
    /// Phase 2: a control flit reaches the sender of `channel`.
    ControlArrives { channel: ChannelId, symbol: Symbol },
    /// Phase 3: a data flit has arrived whole at the end of `channel`.
    FlitArrives { channel: ChannelId, flit: Flit },
    /// Phase 4: the tail has left on `output`.
    Release { output: ChannelId },
    /// Phase 4: the input at the end of `channel` may have a header to read.
    ReadHead { channel: ChannelId },
    /// Phase 4: the header that this input read is decoded.
    Request { channel: ChannelId },
    /// Phase 5: `output` may be granted.
    Arbitrate { output: ChannelId },
    /// Phase 6: `channel` may start a flit.
    Transfer { channel: ChannelId },
    /// Phase 7: the fill of the input at the end of `channel` changed.
    EmitControl { channel: ChannelId },
}
