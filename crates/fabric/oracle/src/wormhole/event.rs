//! Events of wormhole networks, in the order of their phases.
//!
//! The derived order is the total order of `docs/concepts/timing.md`: by phase, then by the id of
//! the component (the first field).

use crate::wormhole::worm::WormId;
use gingham_topology::{ChannelId, EndpointId};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Symbol {
    Go,
    Stop,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Flit {
    pub(crate) worm: WormId,
    /// Index of the flit in the worm at its source, from 0.
    pub(crate) index: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// Phase 1: a source creates a message.
    Create {
        source: usize,
    },
    Wake {
        endpoint: EndpointId,
    },
    /// Phase 2: a STOP or GO arrives at the sender of `channel`.
    ControlArrives {
        channel: ChannelId,
        symbol: Symbol,
    },
    /// Phase 3: a whole flit has arrived at the end of `channel`.
    FlitArrives {
        channel: ChannelId,
        flit: Flit,
    },
    /// Phase 4: a tail has left the output.
    Release {
        output: ChannelId,
    },
    /// Phase 4: the input at the end of `channel` may have a header to read.
    ReadHead {
        channel: ChannelId,
    },
    /// Phase 4: the header is decoded.
    Request {
        channel: ChannelId,
    },
    /// Phase 5: the output may be granted.
    Arbitrate {
        output: ChannelId,
    },
    /// Phase 6: the channel may start a flit.
    Transfer {
        channel: ChannelId,
    },
    /// Phase 7: the fill level of the input has changed.
    EmitControl {
        channel: ChannelId,
    },
}
