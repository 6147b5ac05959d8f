//! Physical properties of channels.

use crate::SlackBuffer;
use gingham_kernel::{ByteTime, Span};

/// Timing and buffering of one direction of a cable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChannelPlan {
    /// Serialisation time of one flit or, in networks without flits, of one byte; rounded to 1 ps.
    pub flit: Span,
    /// Exact serialisation time per byte, for networks without flits.
    pub bytes: ByteTime,
    /// Propagation delay.
    pub delay: Span,
    /// Slack buffer at the receiving end; `None` without wormhole switching, and at hosts that
    /// accept every flit.
    pub slack: Option<SlackBuffer>,
}

impl ChannelPlan {
    /// Returns the serialisation time per byte in picoseconds.
    #[expect(clippy::cast_precision_loss, reason = "flit times are small")]
    pub fn byte_ps(&self, flit_bytes: u32) -> f64 {
        self.flit.as_ps() as f64 / f64::from(flit_bytes)
    }
}
