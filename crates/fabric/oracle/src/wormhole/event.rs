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
    Create { source: usize },
    Wake { endpoint: EndpointId },
    /// Phase 2: a STOP or GO arrives at the sender of `channel`.
    ControlArrives { channel: ChannelId, symbol: Symbol },
    /// Phase 3: a whole flit has arrived at the end of `channel`.
    FlitArrives { channel: ChannelId, flit: Flit },
    Release { output: ChannelId },
    /// Phase 4: the input at the end of `channel` may have a header to read.
    ReadHead { channel: ChannelId },
    Request { channel: ChannelId },
    Arbitrate { output: ChannelId },
    Transfer { channel: ChannelId },
    EmitControl { channel: ChannelId },
}
