//! Counts: what every channel carried, and how full buffers were.
//!
//! A packet of W bytes that comes at a and has left at e adds W (e - a) to the occupancy of the
//! channel by which it came, as it begins to leave. Up to an instant t, what stands there still
//! adds W (t - a), and of what is leaving W (e - t) is too much.

use crate::packets::network::Network;
use gingham_model::measure::ChannelCount;
use gingham_topology::ChannelId;

impl Network {
    /// Counts of all channels: of bytes that started before `begin_end`, and of what stood in
    /// buffers up to `end`.
    pub(crate) fn counts(&self, begin_end: u64, end: u64) -> Vec<ChannelCount> {
        let channels = self.plan.channels.len();
        let present = self.present(end);
        let count = |channel| self.count(channel, [begin_end, end], &present);
        ChannelId::first(channels).map(count).collect()
    }

    /// Counts of channels on which anything may have happened since the section before, up to the
    /// end of one.
    pub(crate) fn counts_of_section(
        &mut self,
        end: u64,
        counts: &mut Vec<(ChannelId, ChannelCount)>,
    ) {
        let present = self.present(end);
        let begin = std::mem::replace(&mut self.section_ps, end);
        let mut active = std::mem::take(&mut self.active);
        counts.clear();
        active.retain(|index| {
            let channel = ChannelId::new(index);
            counts.push((channel, self.count(channel, [end, end], &present)));
            // What was busy in this section is asked for in the next; that is soon enough.
            self.links.busy_until_ps(channel) > begin || !self.is_at_rest(channel, end)
        });
        self.active = active;
    }

    fn count(
        &self,
        channel: ChannelId,
        [begin_end, end_ps]: [u64; 2],
        present: &[i128],
    ) -> ChannelCount {
        let left = self.credits.occupancy(channel).cast_signed();
        let area = left + present[channel.index()];
        let pauses = self.pauses.as_ref();
        let credit_wait = || (0, self.links.credit_wait_ps(channel, end_ps));
        let (stops, stopped_ps) = pauses.map_or_else(credit_wait, |of| of.heard(channel, end_ps));
        ChannelCount {
            stops,
            stopped_ps,
            data_flits: self.links.bytes_before(channel, begin_end),
            occupancy_flit_ps: u128::try_from(area).expect("a packet leaves after it came"),
            ..ChannelCount::default()
        }
    }

    /// By channel: what its occupancy up to an instant is more, or less, than that of packets that
    /// have begun to leave.
    fn present(&self, end: u64) -> Vec<i128> {
        let mut areas = vec![0_i128; self.plan.channels.len()];
        for (_, packet) in self.packets.in_inputs() {
            let stay_ps = end.saturating_sub(packet.came_ps);
            areas[packet.input.index()] += i128::from(packet.wire_bytes) * i128::from(stay_ps);
        }
        for channel in self.active.iter().map(ChannelId::new) {
            let early_ps = self.links.busy_until_ps(channel).saturating_sub(end);
            if early_ps == 0 {
                continue;
            }
            let Some(input) = self.links.came_by(channel) else { continue };
            let (wire_bytes, _) = self.links.last(channel);
            areas[input.index()] -= i128::from(wire_bytes) * i128::from(early_ps);
        }
        for (input, wire_bytes, early_ps) in
            self.output_buffers.iter().flat_map(|buffers| buffers.staying(end))
        {
            areas[input.index()] -= i128::from(wire_bytes) * i128::from(early_ps);
        }
        areas
    }

    /// Whether nothing that counts goes on at a channel after an instant: nothing starts on it, and
    /// nothing stands in the buffers at its end.
    fn is_at_rest(&self, channel: ChannelId, end: u64) -> bool {
        if self.links.busy_until_ps(channel) > end || !self.links.is_into_switch(channel) {
            return self.links.busy_until_ps(channel) <= end;
        }
        if let Some(pauses) = &self.pauses {
            return pauses.is_at_rest(channel, end);
        }
        let is_free = |lane: u8| {
            let blocks = self.packets_plan.buffer_blocks[usize::from(lane)];
            self.credits.free_until(channel, lane, end) == blocks
        };
        (0..self.plan.lanes.count).all(is_free)
    }
}
