//! The events of the wormhole network, in the order of their phases.
//!
//! The derived order is the total order of `docs/concepts/timing.md`: variants are in the order of
//! phases, and the component's id is the first field of each.

use crate::wormhole::worm::WormId;
use gingham_topology::{ChannelId, EndpointId};

/// A control flit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Symbol {
    /// The sender may start data flits.
    Go,
    /// The sender must not start data flits.
    Stop,
}

/// A data flit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Flit {
    pub(crate) worm: WormId,
    /// Index in the worm at its source, from 0.
    pub(crate) index: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// Phase 1: a source creates a message.
    Create { source: usize },
    /// Phase 1: a wake-up of an endpoint is due.
    Wake { endpoint: EndpointId },
    /// Phase 2: a control flit reaches the sender of `channel`.
    ControlArrives { channel: ChannelId, symbol: Symbol },
    /// Phase 3: a data flit has arrived completely at the end of `channel`.
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
