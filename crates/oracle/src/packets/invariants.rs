//! What must hold after every event, counted anew from what there is; slow, for tests.

use crate::packets::buffer::Buffered;
use crate::packets::crossing::OutputLane;
use crate::packets::event::Event;
use crate::packets::simulation::Simulation;
use gingham_model::{BLOCK_BYTES, Read};
use gingham_topology::ChannelId;

impl Simulation {
    /// Checks conservation of packets and of space.
    pub(crate) fn assert_conserved(&self) {
        let to_hosts =
            self.timeline.pending().filter(|e| matches!(e, Event::Arrived { .. })).count();
        let all = self.inputs.iter().flatten().flat_map(|input| input.lanes.iter().flatten());
        let in_buffers = all.filter(|buffered| !buffered.has_started).count();
        let lanes = self.outputs.iter().filter_map(|output| output.buffer.as_ref()).flatten();
        lanes.clone().for_each(OutputLane::assert_no_overflow);
        let crossed = lanes.flat_map(|lane| &lane.packets);
        let at_outputs = crossed.filter(|crossed| !crossed.has_started).count();
        // One that has started, or crossed, is counted where it goes to.
        let there = to_hosts + in_buffers + at_outputs;
        assert_eq!(self.journeys.len(), there, "packets are conserved");
        for channel in ChannelId::first(self.inputs.len()) {
            if self.inputs[channel.index()].is_some() {
                self.assert_read(channel);
                for lane in 0..self.plan.lanes.count {
                    self.assert_space(channel, lane);
                }
            }
        }
    }

    fn assert_read(&self, channel: ChannelId) {
        let input = self.input(channel);
        let started = input.lanes.iter().flatten().filter(|buffered| buffered.has_started).count();
        assert_eq!(input.reading, started, "what has started is being read");
        assert!(self.packets.read == Read::Any || started <= 1, "a port is read by one output");
    }

    fn assert_space(&self, channel: ChannelId, lane: u8) {
        let buffer = self.input(channel).lane(lane);
        let is_in_order = |pair: &[Buffered]| pair[0].came <= pair[1].came;
        assert!(buffer.windows(2).all(is_in_order), "packets of a buffer are in order");
        if self.packets.pauses.is_some() {
            return self.assert_no_overflow(channel, lane);
        }
        let holds = u64::from(self.packets.buffer_blocks[usize::from(lane)]);
        let taken: u64 = buffer.iter().map(|buffered| buffered.blocks).sum();
        let bytes: u64 = buffer.iter().map(|buffered| buffered.wire_bytes).sum();
        assert!(bytes <= holds * u64::from(BLOCK_BYTES), "a buffer overflowed");
        let credits = self.outputs[channel.index()].credits.as_ref().expect("there is a buffer");
        let credits = credits[usize::from(lane)];
        let free = credits.limit - credits.sent;
        let under_way = self.blocks_under_way(channel, lane, credits.limit);
        let came_free = credits.capacity + self.input(channel).freed_blocks[usize::from(lane)];
        let lost = came_free - credits.limit - under_way;
        assert_eq!(free + taken + under_way + lost, holds, "space is conserved");
        let since = self.input(channel).told[usize::from(lane)];
        let heals = |event: &Event| match *event {
            Event::Repeat { channel: of, lane: on, since: then } => {
                (of, on, Some(then)) == (channel, lane, since)
            }
            _ => false,
        };
        assert!(lost == 0 || self.timeline.pending().any(heals), "what was lost is said again");
    }

    /// Blocks of which the sender of a channel will know, by the updates that are scheduled.
    fn blocks_under_way(&self, channel: ChannelId, lane: u8, known: u64) -> u64 {
        let limit = |event: &Event| match *event {
            Event::Known { channel: of, lane: on, limit_blocks } if (of, on) == (channel, lane) => {
                Some(limit_blocks)
            }
            _ => None,
        };
        self.timeline.pending().filter_map(limit).max().map_or(0, |last| last - known)
    }
}
