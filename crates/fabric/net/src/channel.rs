//! Physical properties of channels, one direction of a cable each.

use crate::SlackBuffer;
use gingham_kernel::{ByteTime, Span};

/// One direction of a cable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChannelPlan {
    /// Time of one flit; in networks without flits, of one byte, rounded to the picosecond.
    pub flit: Span,
    /// Exact transmission time per byte, for networks without flits.
    pub bytes: ByteTime,
    /// Propagation delay.
    pub delay: Span,
    /// Slack buffer at the end of the channel; `None` without wormhole switching and at hosts that
    /// accept everything.
    pub slack: Option<SlackBuffer>,
}

impl ChannelPlan {
    /// Time of a byte in picoseconds.
    #[expect(clippy::cast_precision_loss, reason = "flit times are small")]
    pub fn byte_ps(&self, flit_bytes: u32) -> f64 {
        self.flit.as_ps() as f64 / f64::from(flit_bytes)
    }
}
