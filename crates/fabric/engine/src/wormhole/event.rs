//! Events of the engine, in the order of their phases.
//!
//! ```text
//!   a worm's life at one switch, undisturbed           and possible disturbances
//!
//!   ReadHead ─► Request ─► Arbitrate ─► Release          EmitControl ─► ControlArrives
//!   (head has  (routing   (the output  (the tail        (a threshold     (STOP cuts the
//!    arrived)   is over)   is granted)  has left)        was crossed)     predictions, GO resumes)
//! ```
//!
//! An event is only a hint: its prediction may have been revoked in the meantime, so every handler
//! first checks that the predicted condition holds. Revoking a prediction therefore costs nothing.

use crate::packed::Packed;
use crate::wormhole::worm::WormId;
use gingham_topology::{ChannelId, EndpointId};

/// Event, with variants in the order of the phases in `docs/concepts/timing.md`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// Phase 1: a source creates a message.
    Create { source: u32 },
    /// Phase 1: an endpoint is woken.
    Wake { endpoint: EndpointId },
    /// Phase 2: a STOP or GO arrives at the sender of `channel`.
    ControlArrives { channel: ChannelId, stop: bool },
    /// Phase 3: a worm's tail has arrived at a host.
    Deliver { channel: ChannelId, worm: WormId },
    /// Phase 4: a worm's tail has left the output.
    Release { output: ChannelId },
    /// Phase 4: the input may have a header to read.
    ReadHead { channel: ChannelId },
    /// Phase 4: the header is decoded.
    Request { channel: ChannelId },
    /// Phase 5: the output grants a request.
    Arbitrate { output: ChannelId },
    /// Phase 6: the host may start a worm.
    StartWorm { channel: ChannelId },
    /// Phase 6: the channel is idle and may send a waiting control flit.
    SendControl { channel: ChannelId },
    /// Phase 7: the fill level of the input may have crossed a threshold.
    EmitControl { channel: ChannelId },
}

const EMIT_CONTROL: u64 = 12;

pub(crate) const fn is_last_phase(packed: Packed) -> bool {
    packed.kind() == EMIT_CONTROL
}

impl From<Packed> for Event {
    fn from(event: Packed) -> Self {
        let (index, rest) = (event.index(), event.rest());
        let channel = ChannelId::new(index);
        match event.kind() {
            1 => Self::Create { source: u32::try_from(index).expect("28 bits") },
            2 => Self::Wake { endpoint: EndpointId::new(index) },
            3 => Self::ControlArrives { channel, stop: rest != 0 },
            4 => Self::Deliver { channel, worm: WormId::new(rest) },
            5 => Self::Release { output: channel },
            6 => Self::ReadHead { channel },
            7 => Self::Request { channel },
            8 => Self::Arbitrate { output: channel },
            9 => Self::StartWorm { channel },
            10 => Self::SendControl { channel },
            EMIT_CONTROL => Self::EmitControl { channel },
            kind => unreachable!("no event has the kind {kind}"),
        }
    }
}

impl From<Event> for Packed {
    fn from(event: Event) -> Self {
        let (kind, index, rest) = match event {
            Event::Create { source } => (1, source as usize, 0),
            Event::Wake { endpoint } => (2, endpoint.index(), 0),
            Event::ControlArrives { channel, stop } => (3, channel.index(), stop.into()),
            Event::Deliver { channel, worm } => (4, channel.index(), worm.index()),
            Event::Release { output } => (5, output.index(), 0),
            Event::ReadHead { channel } => (6, channel.index(), 0),
            Event::Request { channel } => (7, channel.index(), 0),
            Event::Arbitrate { output } => (8, output.index(), 0),
            Event::StartWorm { channel } => (9, channel.index(), 0),
            Event::SendControl { channel } => (10, channel.index(), 0),
            Event::EmitControl { channel } => (EMIT_CONTROL, channel.index(), 0),
        };
        Self::new(kind, index, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::INDEX_MAX;

    #[test]
    fn packed_events_unpack_and_keep_their_order() {
        let (low, high) = (ChannelId::new(3), ChannelId::new(INDEX_MAX));
        let events = [
            Event::Create { source: 9 },
            Event::Wake { endpoint: EndpointId::new(7) },
            Event::ControlArrives { channel: low, stop: false },
            Event::ControlArrives { channel: low, stop: true },
            Event::Deliver { channel: high, worm: WormId::new(0xffff_ffff) },
            Event::Release { output: low },
            Event::ReadHead { channel: low },
            Event::Request { channel: low },
            Event::Arbitrate { output: low },
            Event::StartWorm { channel: high },
            Event::SendControl { channel: low },
            Event::EmitControl { channel: low },
            Event::EmitControl { channel: high },
        ];
        for pair in events.windows(2) {
            assert!(pair[0] < pair[1] && Packed::from(pair[0]) < Packed::from(pair[1]));
        }
        for event in events {
            assert_eq!(Event::from(Packed::from(event)), event);
        }
    }
}
