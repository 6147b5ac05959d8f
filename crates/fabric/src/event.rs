//! The events of the engine, in the order of their phases.
//!
//! ```text
//!   a worm's life over one switch, undisturbed          and what may disturb it
//!
//!   ReadHead ─► Request ─► Arbitrate ─► Release          EmitControl ─► ControlArrives
//!   (head is    (routing   (the output  (the tail        (a mark was      (STOP cuts what is
//!    there)      is over)   is granted)  has left)        crossed)         predicted, GO goes on)
//! ```
//!
//! An event says where to look, not what is so: what was predicted when it was scheduled may have
//! been cut since, so that every handler first asks whether its moment has come. An event whose
//! moment has passed or not come does nothing, which makes revoking a prediction free.

use crate::worm::WormId;
use gingham_topology::ChannelId;

/// Something that may happen at an instant. Variants stand in the order of their phases
/// (`docs/concepts/timing.md`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// Phase 1: counting begins here.
    WarmUpEnds,
    /// Phase 1: a source creates a message.
    Create { source: u32 },
    /// Phase 2: a STOP (or GO) reaches the sender of `channel`.
    ControlArrives { channel: ChannelId, stop: bool },
    /// Phase 3: the tail of the worm has arrived whole at the host at the end of `channel`.
    Deliver { channel: ChannelId, worm: WormId },
    /// Phase 4: the tail has left on `output`.
    Release { output: ChannelId },
    /// Phase 4: the input at the end of `channel` may have a header to read.
    ReadHead { channel: ChannelId },
    /// Phase 4: the header that this input read is decoded.
    Request { channel: ChannelId },
    /// Phase 5: `output` may be granted.
    Arbitrate { output: ChannelId },
    /// Phase 6: the host at the start of `channel` may start its next worm.
    StartWorm { channel: ChannelId },
    /// Phase 6: `channel` is idle and may carry the control flit that waits.
    SendControl { channel: ChannelId },
    /// Phase 7: the fill of the input at the end of `channel` may have crossed a mark.
    EmitControl { channel: ChannelId },
}
