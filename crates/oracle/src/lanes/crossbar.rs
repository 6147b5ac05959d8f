//! Stage 4: switch traversal from lane buffers into output lanes, of the lanes that `matching` lets
//! cross.
//!
//! ```text
//!   full          every lane that can cross does
//!   multiplexed   one a way in and a way out, as they are matched
//! ```

use crate::lanes::clock::Tick;
use crate::lanes::ports::BufferedFlit;
use crate::lanes::simulation::Simulation;
use gingham_model::Crossbar;
use gingham_topology::{ChannelId, NodeId};

impl Simulation {
    pub(crate) fn allocate_switch(&mut self, node: NodeId) {
        match self.lane_plan.crossbar {
            Crossbar::Full => self.traverse_all(node),
            Crossbar::Multiplexed => self.traverse_matched(node),
        }
        if self.lane_plan.pays_at_crossing() {
            self.note_unpaid(node);
        }
    }

    /// Every lane that can send does.
    fn traverse_all(&mut self, node: NodeId) {
        let tick = self.tick();
        for input in self.channels_into(node) {
            for lane in 0..self.plan.lanes.count {
                if self.can_cross(input, lane, tick).is_some() {
                    self.traverse_switch(input, lane, tick);
                }
            }
        }
    }

    /// The output that a lane can send to: it holds a lane of it since before this tick, its first
    /// flit was there before this tick, and the output lane has room.
    pub(crate) fn can_cross(&self, input: ChannelId, lane: u8, tick: Tick) -> Option<ChannelId> {
        let input_lane = self.input(input).lane(lane);
        let hold = input_lane.holds.filter(|hold| hold.since < tick)?;
        input_lane.first().filter(|first| first.since < tick)?;
        self.has_room(hold.output, hold.lane).then_some(hold.output)
    }

    /// Whether an output lane has room for a flit; where it holds none, whether there is a credit for
    /// it and nothing is to go on the link.
    pub(crate) fn has_room(&self, output: ChannelId, lane: u8) -> bool {
        if self.lane_plan.pays_at_crossing() {
            let output = &self.outputs[output.index()];
            return output.fill() == 0 && output.lane(lane).has_credit();
        }
        let depth = self.lane_plan.output_depths_flits[usize::from(lane)];
        self.outputs[output.index()].lane(lane).buffer.len() < depth as usize
    }

    /// The first flit of a lane buffer leaves it and crosses into the output lane that it holds.
    pub(crate) fn traverse_switch(&mut self, input: ChannelId, lane: u8, tick: Tick) {
        let now = self.timeline.now;
        let flit = self.input_mut(input).leave(lane, now);
        let hold = self.input(input).lane(lane).holds.expect("it holds an output lane");
        let output_lane = self.outputs[hold.output.index()].lane_mut(hold.lane);
        output_lane.buffer.push_back(BufferedFlit { flit, since: tick });
        if self.journeys.get(flit.packet).is_tail(flit.index) {
            assert_eq!(
                output_lane.holder.take(),
                Some((input, lane)),
                "an output lane has one holder"
            );
            output_lane.released = Some(tick);
            self.input_mut(input).release(lane, tick);
        }
        self.return_credit(input, lane);
    }
}
