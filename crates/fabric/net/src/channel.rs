//! Channels: what one direction of a cable is like.

use crate::SlackBuffer;
use gingham_kernel::{ByteTime, Span};

/// One direction of a cable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChannelPlan {
    /// Time of one flit; of a byte, to the picosecond, where packets are not cut into flits.
    pub flit: Span,
    /// Time of bytes, where packets are not cut into flits.
    pub bytes: ByteTime,
    /// Propagation delay.
    pub delay: Span,
    /// The slack buffer at its end; `None` where a host takes in all that comes, and in networks
    /// that are not wormhole.
    pub slack: Option<SlackBuffer>,
}

impl ChannelPlan {
    /// Time of a byte in picoseconds, where so many travel in a flit.
    #[expect(clippy::cast_precision_loss, reason = "flit times are small")]
    pub fn byte_ps(&self, flit_bytes: u32) -> f64 {
        self.flit.as_ps() as f64 / f64::from(flit_bytes)
    }
}
