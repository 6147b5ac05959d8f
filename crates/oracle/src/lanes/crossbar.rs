//! Stage 4: switch allocation, then switch traversal from lane buffers into output lanes.
//!
//! The allocator of a multiplexed crossbar is separable, output first, and iterated: every output
//! that is not matched grants one input port, round robin; every input port that was granted
//! chooses one of its lanes to those outputs, by its arbiter; again, until an iteration matches
//! nobody. The pointer of an output moves when it is matched, in whichever iteration.

use crate::lanes::clock::Tick;
use crate::lanes::ports::BufferedFlit;
use crate::lanes::simulation::Simulation;
use gingham_fairq::Head;
use gingham_model::Crossbar;
use gingham_topology::{ChannelId, NodeId};
use std::collections::{BTreeMap, BTreeSet};

impl Simulation {
    pub(crate) fn allocate_switch(&mut self, node: NodeId) {
        match self.lane_plan.crossbar {
            Crossbar::Full => self.traverse_all(node),
            Crossbar::Multiplexed => self.traverse_matched(node),
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

    /// One flit an input port and one an output port, until nobody can be matched any more.
    fn traverse_matched(&mut self, node: NodeId) {
        let tick = self.tick();
        let has_flits = |input: &ChannelId| self.input(*input).fill() > 0;
        let mut inputs: BTreeSet<ChannelId> =
            self.channels_into(node).into_iter().filter(has_flits).collect();
        let mut outputs: BTreeSet<ChannelId> = self.channels_from(node).into_iter().collect();
        loop {
            let mut granted: BTreeMap<ChannelId, Vec<ChannelId>> = BTreeMap::new();
            for output in &outputs {
                if let Some(input) = self.grant(*output, &inputs, tick) {
                    granted.entry(input).or_default().push(*output);
                }
            }
            let before = inputs.len();
            for (input, by) in granted {
                if let Some(output) = self.accept(input, &by, tick) {
                    inputs.remove(&input);
                    outputs.remove(&output);
                }
            }
            if inputs.len() == before {
                return;
            }
        }
    }

    /// The input that an output grants: the first, round robin, among those not matched yet that
    /// have a lane which can send to it.
    fn grant(
        &self,
        output: ChannelId,
        inputs: &BTreeSet<ChannelId>,
        tick: Tick,
    ) -> Option<ChannelId> {
        let node = self.plan.ends(output).source.node;
        let can_send = |port: usize| {
            let input = self.input_at(node, port).filter(|input| inputs.contains(input))?;
            let mut lanes = 0..self.plan.lanes.count;
            lanes
                .any(|lane| self.can_be_matched(input, lane, tick) == Some(output))
                .then_some(input)
        };
        let pointer = self.outputs[output.index()].input_pointer;
        can_send(pointer.first(self.ports(node), |port| can_send(port).is_some())?)
    }

    /// An input that was granted chooses a lane among those that can send to the outputs that
    /// granted it: with which of them it is matched.
    fn accept(&mut self, input: ChannelId, by: &[ChannelId], tick: Tick) -> Option<ChannelId> {
        let candidate = |lane: u8| {
            let output = self.can_be_matched(input, lane, tick)?;
            by.contains(&output).then(|| self.head_at_input(input, lane))
        };
        let candidates: Vec<Option<Head>> = (0..self.plan.lanes.count).map(candidate).collect();
        let lane = self.input_mut(input).chooser.choose(&candidates)?;
        let output = self.can_be_matched(input, lane, tick)?;
        let flit = self.input(input).lane(lane).first().expect("a flit stands first").flit;
        let is_tail = self.journeys.get(flit.packet).is_tail(flit.index);
        self.input_mut(input).chooser.sent(lane, is_tail);
        let port = self.plan.ends(input).target.port;
        self.outputs[output.index()].input_pointer.won(port.into());
        self.traverse_switch(input, lane, tick);
        Some(output)
    }

    fn head_at_input(&self, input: ChannelId, lane: u8) -> Head {
        let input = self.input(input);
        let first = input.lane(lane).first().expect("a flit stands first");
        self.head_of(&first, input.chooser.is_by_packet())
    }

    /// Where a lane can send to at a multiplexed crossbar: not while another lane of its port is in
    /// the middle of a packet, by the packet.
    fn can_be_matched(&self, input: ChannelId, lane: u8, tick: Tick) -> Option<ChannelId> {
        let is_open = self.input(input).chooser.is_open_to(lane);
        self.can_cross(input, lane, tick).filter(|_| is_open)
    }

    /// The output that a lane can send to: it holds a lane of it since before this tick, its first
    /// flit was there before this tick, and the output lane has room.
    fn can_cross(&self, input: ChannelId, lane: u8, tick: Tick) -> Option<ChannelId> {
        let input_lane = self.input(input).lane(lane);
        let hold = input_lane.holds.filter(|hold| hold.since < tick)?;
        input_lane.first().filter(|first| first.since < tick)?;
        self.has_room(hold.output, hold.lane).then_some(hold.output)
    }

    /// Whether an output lane has room for a flit.
    pub(crate) fn has_room(&self, output: ChannelId, lane: u8) -> bool {
        let depth = self.lane_plan.output_depths_flits[usize::from(lane)];
        self.outputs[output.index()].lane(lane).buffer.len() < depth as usize
    }

    /// The first flit of a lane buffer leaves it and crosses into the output lane that it holds.
    fn traverse_switch(&mut self, input: ChannelId, lane: u8, tick: Tick) {
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
            self.input_mut(input).release(lane, tick);
        }
        self.return_credit(input, lane);
    }
}
