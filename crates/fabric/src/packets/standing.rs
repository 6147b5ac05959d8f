//! What stands in each buffer, byte by byte, for whoever looks at that as heads are read. Kept only
//! where somebody does.

use gingham_topology::ChannelId;

/// A packet in a buffer.
#[derive(Clone, Copy, Debug)]
struct Stand {
    wire_bytes: u32,
    came_ps: u64,
    /// When its tail has left; unknown as long as it has not begun to.
    left_ps: u64,
}

/// What stands in all buffers.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    lane_count: usize,
    /// By channel and lane; empty where nobody looks.
    buffers: Vec<Vec<Stand>>,
}

impl Standing {
    pub(crate) fn new(channels: usize, lane_count: u8, is_wanted: bool) -> Self {
        let lane_count = usize::from(lane_count);
        let buffers = if is_wanted { channels * lane_count } else { 0 };
        Self { lane_count, buffers: vec![Vec::new(); buffers] }
    }

    fn buffer(&mut self, input: ChannelId, lane: u8) -> Option<&mut Vec<Stand>> {
        self.buffers.get_mut(input.index() * self.lane_count + usize::from(lane))
    }

    /// The first byte of a packet comes to a buffer at an instant.
    #[inline]
    pub(crate) fn come(&mut self, input: ChannelId, lane: u8, wire_bytes: u32, came_ps: u64) {
        if let Some(buffer) = self.buffer(input, lane) {
            buffer.push(Stand { wire_bytes, came_ps, left_ps: u64::MAX });
        }
    }

    /// The packet that came at an instant will have left at another.
    #[inline]
    pub(crate) fn leave(&mut self, input: ChannelId, lane: u8, came_ps: u64, left_ps: u64) {
        if let Some(buffer) = self.buffer(input, lane) {
            let of = buffer.iter_mut().find(|stand| stand.came_ps == came_ps);
            of.expect("what leaves has come").left_ps = left_ps;
        }
    }

    /// Bytes of the packets that stand in a buffer now.
    pub(crate) fn bytes(&mut self, input: ChannelId, lane: u8, now: u64) -> u64 {
        let Some(buffer) = self.buffer(input, lane) else { return 0 };
        buffer.retain(|stand| stand.left_ps > now);
        let standing = buffer.iter().filter(|stand| stand.came_ps <= now);
        standing.map(|stand| u64::from(stand.wire_bytes)).sum()
    }
}
