//! Fill level of each lane buffer in bytes, tracked only if a mechanism needs it.
//!
//! ```text
//!   bytes 320     coming  +64 at 7 us     leaving  -64 at 9 us
//! ```
//!
//! Arrival and departure times are known in advance; the fill level changes only when the current
//! time reaches them.

use gingham_topology::ChannelId;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Change {
    time_ps: u64,
    wire_bytes: u32,
}

#[derive(Clone, Debug, Default)]
struct Fill {
    bytes: u64,
    coming: VecDeque<Change>,
    leaving: VecDeque<Change>,
}

#[derive(Clone, Debug)]
pub(crate) struct BufferFills {
    lane_count: usize,
    buffers: Vec<Fill>,
}

impl Fill {
    fn settle(&mut self, now: u64) {
        while let Some(change) = self.coming.front().filter(|change| change.time_ps <= now) {
            self.bytes += u64::from(change.wire_bytes);
            self.coming.pop_front();
        }
        while let Some(change) = self.leaving.front().filter(|change| change.time_ps <= now) {
            self.bytes -= u64::from(change.wire_bytes);
            self.leaving.pop_front();
        }
    }
}

impl BufferFills {
    pub(crate) fn new(channels: usize, lane_count: u8, is_wanted: bool) -> Self {
        let lane_count = usize::from(lane_count);
        let buffers = if is_wanted { channels * lane_count } else { 0 };
        Self { lane_count, buffers: vec![Fill::default(); buffers] }
    }

    fn buffer(&mut self, input: ChannelId, lane: u8) -> Option<&mut Fill> {
        self.buffers.get_mut(input.index() * self.lane_count + usize::from(lane))
    }

    #[inline]
    pub(crate) fn come(&mut self, input: ChannelId, lane: u8, wire_bytes: u32, came_ps: u64) {
        if let Some(of) = self.buffer(input, lane) {
            of.coming.push_back(Change { time_ps: came_ps, wire_bytes });
        }
    }

    #[inline]
    pub(crate) fn leave(
        &mut self,
        input: ChannelId,
        lane: u8,
        wire_bytes: u32,
        (now, left_ps): (u64, u64),
    ) {
        let Some(of) = self.buffer(input, lane) else { return };
        of.settle(now);
        let place = of.leaving.partition_point(|change| change.time_ps <= left_ps);
        of.leaving.insert(place, Change { time_ps: left_ps, wire_bytes });
    }

    pub(crate) fn bytes(&mut self, input: ChannelId, lane: u8, now: u64) -> u64 {
        self.buffer(input, lane).map_or(0, |of| {
            of.settle(now);
            of.bytes
        })
    }
}
