//! Channels: what one direction of a cable is like.

use crate::SlackBuffer;
use gingham_kernel::Span;

/// One direction of a cable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChannelPlan {
    /// Time of one flit.
    pub flit: Span,
    /// Propagation delay.
    pub delay: Span,
    /// The slack buffer at its end; `None` where a host takes in all that comes, and in networks of
    /// virtual lanes.
    pub slack: Option<SlackBuffer>,
}

impl ChannelPlan {
    /// Time of a byte in picoseconds, where so many travel in a flit.
    #[expect(clippy::cast_precision_loss, reason = "flit times are small")]
    pub fn byte_ps(&self, flit_bytes: u32) -> f64 {
        self.flit.as_ps() as f64 / f64::from(flit_bytes)
    }
}
