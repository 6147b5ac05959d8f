//! Stage 4: switch allocation, then switch traversal from lane buffers into output lanes.
//!
//! The allocator of a multiplexed crossbar is separable, output first, and iterated: every output
//! that is not matched grants one input port, round robin, or the holder of one of its output
//! lanes, by its arbiter; every input port that was granted chooses one of the lanes that were, by
//! its own; again, until an iteration matches nobody. The pointer or the arbiter of an output moves
//! when it is matched, in whichever iteration.

use crate::lanes::clock::Tick;
use crate::lanes::ports::{BufferedFlit, Chooser, Granting};
use crate::lanes::round_robin::RoundRobin;
use crate::lanes::simulation::Simulation;
use gingham_fairq::Head;
use gingham_model::Crossbar;
use gingham_topology::{ChannelId, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// What an output grants an input.
struct Grant {
    output: ChannelId,
    /// Lanes of the input, of which one may send.
    lanes: Vec<u8>,
    /// How the output grants from now on, if it is matched so.
    after: Granting,
}

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
            let mut granted: BTreeMap<ChannelId, Vec<Grant>> = BTreeMap::new();
            for output in &outputs {
                if let Some((input, grant)) = self.grant(*output, &inputs, tick) {
                    granted.entry(input).or_default().push(grant);
                }
            }
            let before = inputs.len();
            for (input, grants) in granted {
                if let Some(output) = self.accept(input, &grants, tick) {
                    inputs.remove(&input);
                    outputs.remove(&output);
                }
            }
            if inputs.len() == before {
                return;
            }
        }
    }

    /// The input that an output grants, among those not matched yet that have a lane which can send
    /// to it: the first, round robin, with all these lanes; or, by lane, the holder of the output
    /// lane that its arbiter chooses.
    fn grant(
        &self,
        output: ChannelId,
        inputs: &BTreeSet<ChannelId>,
        tick: Tick,
    ) -> Option<(ChannelId, Grant)> {
        match &self.outputs[output.index()].granting {
            Granting::Inputs(pointer) => self.grant_input(output, *pointer, inputs, tick),
            Granting::Lanes(chooser) => self.grant_lane_of(output, chooser, inputs, tick),
        }
    }

    fn grant_input(
        &self,
        output: ChannelId,
        pointer: RoundRobin,
        inputs: &BTreeSet<ChannelId>,
        tick: Tick,
    ) -> Option<(ChannelId, Grant)> {
        let node = self.plan.ends(output).source.node;
        let input_at = |port: usize| self.input_at(node, port).filter(|at| inputs.contains(at));
        let lanes = |input: ChannelId| {
            let can_send = |lane: &u8| self.can_be_matched(input, *lane, tick) == Some(output);
            (0..self.plan.lanes.count).filter(can_send).collect::<Vec<u8>>()
        };
        let can_send = |port: usize| input_at(port).is_some_and(|input| !lanes(input).is_empty());
        let port = pointer.first(self.ports(node), can_send)?;
        let (mut pointer, input) = (pointer, input_at(port)?);
        pointer.won(port);
        let lanes = lanes(input);
        Some((input, Grant { output, lanes, after: Granting::Inputs(pointer) }))
    }

    fn grant_lane_of(
        &self,
        output: ChannelId,
        chooser: &Chooser,
        inputs: &BTreeSet<ChannelId>,
        tick: Tick,
    ) -> Option<(ChannelId, Grant)> {
        let holder = |lane: u8| self.outputs[output.index()].lane(lane).holder;
        let candidate = |lane: u8| {
            let (input, input_lane) = holder(lane).filter(|(input, _)| inputs.contains(input))?;
            self.can_be_matched(input, input_lane, tick)?;
            Some(self.head_at_input(input, input_lane, chooser))
        };
        let candidates: Vec<Option<Head>> = (0..self.plan.lanes.count).map(candidate).collect();
        let mut after = chooser.clone();
        let lane = after.choose(&candidates)?;
        let (input, input_lane) = holder(lane)?;
        let first = self.input(input).lane(input_lane).first()?.flit;
        after.sent(lane, self.journeys.get(first.packet).is_tail(first.index));
        Some((input, Grant { output, lanes: vec![input_lane], after: Granting::Lanes(after) }))
    }

    /// An input that was granted chooses among the lanes that were: with which output it is
    /// matched.
    fn accept(&mut self, input: ChannelId, grants: &[Grant], tick: Tick) -> Option<ChannelId> {
        let chooser = &self.input(input).chooser;
        let grant_of = |lane: u8| grants.iter().find(|grant| grant.lanes.contains(&lane));
        let candidate = |lane| grant_of(lane).map(|_| self.head_at_input(input, lane, chooser));
        let candidates: Vec<Option<Head>> = (0..self.plan.lanes.count).map(candidate).collect();
        let lane = self.input_mut(input).chooser.choose(&candidates)?;
        let flit = self.input(input).lane(lane).first().expect("a flit stands first").flit;
        let is_tail = self.journeys.get(flit.packet).is_tail(flit.index);
        self.input_mut(input).chooser.sent(lane, is_tail);
        let Grant { output, after, .. } = grant_of(lane)?;
        self.outputs[output.index()].granting = after.clone();
        self.traverse_switch(input, lane, tick);
        Some(*output)
    }

    /// What an arbiter sees of what stands first in a lane buffer.
    fn head_at_input(&self, input: ChannelId, lane: u8, arbiter: &Chooser) -> Head {
        let first = self.input(input).lane(lane).first().expect("a flit stands first");
        self.head_of(&first, arbiter.is_by_packet())
    }

    /// Where a lane can send to at a multiplexed crossbar: not while another lane of its port, or
    /// of that output, is in the middle of a packet, by the packet.
    fn can_be_matched(&self, input: ChannelId, lane: u8, tick: Tick) -> Option<ChannelId> {
        let output = self.can_cross(input, lane, tick)?;
        let hold = self.input(input).lane(lane).holds?;
        let is_open = self.input(input).chooser.is_open_to(lane)
            && self.outputs[output.index()].is_open_to(hold.lane);
        is_open.then_some(output)
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
