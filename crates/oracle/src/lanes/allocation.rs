//! Stages 2 and 3: heads are routed, and given output lanes.

use crate::lanes::clock::Tick;
use crate::lanes::event::Flit;
use crate::lanes::ports::Hold;
use crate::lanes::simulation::Simulation;
use gingham_topology::routing::{LaneSet, Layer};
use gingham_topology::{ChannelId, NodeId};

/// A head that asks for a lane of an output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking {
    head: Flit,
    pub(crate) output: ChannelId,
    level: usize,
    /// The lanes that it may take.
    pub(crate) lanes: LaneSet,
    /// Its layer there.
    layer: Layer,
}

impl Simulation {
    pub(crate) fn allocate(&mut self, node: NodeId) {
        let tick = self.tick();
        for output in self.channels_from(node) {
            while self.give_a_lane(output, tick) {}
        }
        if self.holds_a_flit(node) {
            self.wake_switch(node, tick + 1);
        }
    }

    /// Gives a lane of an output to a head that asks and may take it, if there are such a lane and such a head.
    fn give_a_lane(&mut self, output: ChannelId, tick: Tick) -> bool {
        // By input port and lane, as one number: the head, and the lanes that it could be given.
        let node = self.plan.ends(output).source.node;
        let lanes = usize::from(self.lane_plan.count);
        let place = |number: usize| {
            let lane = u8::try_from(number % lanes).expect("lanes are few");
            Some((self.input_at(node, number / lanes)?, lane))
        };
        let could_take = |number: usize| {
            let (input, lane) = place(number)?;
            let asking = self.asking(input, lane, tick).filter(|asking| asking.output == output)?;
            let lanes = self.lanes_to_give(&asking);
            (!lanes.is_empty()).then_some((asking, lanes))
        };
        let count = self.ports(node) * lanes;
        let levels = (0..count).filter_map(could_take).map(|(asking, _)| asking.level);
        let Some(highest) = levels.max() else { return false };
        let turn = self.outputs[output.index()].turns_of_heads[highest];
        let is_of_highest =
            |number| could_take(number).is_some_and(|(head, _)| head.level == highest);
        let winner = turn.first(count, is_of_highest).expect("a head is of the highest level");
        let (asking, to_give) = could_take(winner).expect("the winner could take a lane");
        let from = place(winner).expect("the winner is a lane");
        self.outputs[output.index()].turns_of_heads[highest].won(winner);
        self.give(asking, to_give, from, tick);
        true
    }

    /// A head that stands first in its lane buffer asks from `h + 1 + R` on.
    pub(crate) fn asking(&self, input: ChannelId, lane: u8, tick: Tick) -> Option<Asking> {
        let (head, first_since) = self.input(input).lane(lane).head()?;
        if tick < first_since + 1 + u64::from(self.lane_plan.routing_cycles) {
            return None;
        }
        let journey = self.journeys.get(head.packet);
        let (packet, output) = (&journey.packet, journey.next_channel());
        assert_eq!(journey.path[journey.position], input, "a head is where its path leads");
        let rule = &self.lane_plan.lanes;
        let (lanes, layer) =
            rule.onward(&self.plan.fabric, packet.binding, journey.layer, input, output);
        assert!(!lanes.is_empty(), "no packet is sent that would be dropped");
        let level = self.lane_plan.arbitration.level(packet.priority);
        Some(Asking { head, output, level, lanes, layer })
    }

    /// The flits of the packet whose head asks.
    pub(crate) fn flits_of(&self, asking: &Asking) -> u64 {
        self.journeys.get(asking.head.packet).flits
    }

    /// The lanes that a head may take and that can be given to it.
    pub(crate) fn lanes_to_give(&self, asking: &Asking) -> LaneSet {
        let flits = self.flits_of(asking);
        let output = &self.outputs[asking.output.index()];
        let can_be_given = |lane: &u8| {
            let is_free = output.lane(*lane).holder.is_none();
            let cuts_through = self.lane_plan.cut_through.contains(*lane);
            is_free && (!cuts_through || output.lane(*lane).has_credits(flits))
        };
        asking.lanes.lanes().filter(can_be_given).collect()
    }

    /// Gives a head the first of these lanes, in turn from the one after the last that this output gave.
    fn give(&mut self, asking: Asking, to_give: LaneSet, from: (ChannelId, u8), tick: Tick) {
        let Asking { head, output, layer, .. } = asking;
        let journey = self.journeys.get_mut(head.packet);
        journey.position += 1;
        journey.layer = layer;
        let flits = journey.flits;
        let state = &mut self.outputs[output.index()];
        let is_to_give = |lane: usize| to_give.lanes().any(|other| usize::from(other) == lane);
        let lane = state.turn_of_lanes.first(self.lane_plan.count.into(), is_to_give);
        let lane = lane.expect("a lane can be given");
        state.turn_of_lanes.won(lane);
        let lane = u8::try_from(lane).expect("lanes are few");
        state.lane_mut(lane).holder = Some(from);
        if self.lane_plan.cut_through.contains(lane) {
            state.lane_mut(lane).promise(flits);
        }
        let (input, input_lane) = from;
        self.input_mut(input).lane_mut(input_lane).holds = Some(Hold { output, lane, since: tick });
    }
}
