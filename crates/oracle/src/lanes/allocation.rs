//! Stages 2 and 3: heads are routed, and given output lanes.

use crate::lanes::clock::Tick;
use crate::lanes::event::Flit;
use crate::lanes::ports::Hold;
use crate::lanes::simulation::Simulation;
use gingham_topology::routing::{DatelineClass, LaneSet};
use gingham_topology::{ChannelId, NodeId};
use std::collections::BTreeSet;

/// A head that asks for a lane of an output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking {
    /// Its lane buffer.
    from: (ChannelId, u8),
    /// The input port and lane as one number, which orders them.
    place: usize,
    head: Flit,
    pub(crate) output: ChannelId,
    level: usize,
    /// The lanes that it may take.
    pub(crate) lanes: LaneSet,
    /// Its dateline class there.
    dateline_class: DatelineClass,
}

impl Simulation {
    pub(crate) fn allocate(&mut self, node: NodeId) {
        let tick = self.tick();
        let asking = self.all_asking(node, tick);
        let outputs: BTreeSet<ChannelId> = asking.iter().map(|head| head.output).collect();
        for output in outputs {
            let mut heads = asking.clone();
            heads.retain(|head| head.output == output);
            while let Some(winner) = self.give_a_lane(output, &heads, tick) {
                heads.retain(|head| head.place != winner);
            }
        }
        if self.holds_a_flit(node) {
            self.wake_switch(node, tick + 1);
        }
    }

    /// All heads of a switch that ask, in the order of input port and lane.
    fn all_asking(&self, node: NodeId, tick: Tick) -> Vec<Asking> {
        let lanes = |input| (0..self.plan.lanes.count).map(move |lane| (input, lane));
        let places = self.channels_into(node).into_iter().flat_map(lanes);
        places.filter_map(|(input, lane)| self.asking(input, lane, tick)).collect()
    }

    /// Gives a lane of an output to one of these heads that ask for it, if any of them could be given one: which it is.
    fn give_a_lane(&mut self, output: ChannelId, heads: &[Asking], tick: Tick) -> Option<usize> {
        let could_be_given = |head: &&Asking| !self.lanes_to_give(head).is_empty();
        let heads: Vec<Asking> = heads.iter().filter(could_be_given).copied().collect();
        let highest = heads.iter().map(|head| head.level).max()?;
        let head_at =
            |place| heads.iter().find(|head| head.level == highest && head.place == place);
        let node = self.plan.ends(output).source.node;
        let count = self.ports(node) * usize::from(self.plan.lanes.count);
        let turn = self.outputs[output.index()].turns_of_heads[highest];
        let winner = turn.first(count, |place| head_at(place).is_some());
        let winner = winner.expect("a head is of the highest level");
        let asking = *head_at(winner).expect("the winner asks");
        self.outputs[output.index()].turns_of_heads[highest].won(winner);
        self.give(asking, self.lanes_to_give(&asking), tick);
        Some(winner)
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
        let rule = &self.plan.lanes.allowed;
        let (lanes, dateline_class) =
            rule.onward(&self.plan.fabric, packet.vc_class, journey.dateline_class, input, output);
        assert!(!lanes.is_empty(), "no packet is sent that would be dropped");
        let level = self.lane_plan.arbitration.level(packet.priority);
        let port = usize::from(self.plan.ends(input).target.port);
        let place = port * usize::from(self.plan.lanes.count) + usize::from(lane);
        Some(Asking { from: (input, lane), place, head, output, level, lanes, dateline_class })
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
    fn give(&mut self, asking: Asking, to_give: LaneSet, tick: Tick) {
        let Asking { from, head, output, dateline_class, .. } = asking;
        let journey = self.journeys.get_mut(head.packet);
        journey.position += 1;
        journey.dateline_class = dateline_class;
        let flits = journey.flits;
        let state = &mut self.outputs[output.index()];
        let is_to_give = |lane: usize| to_give.lanes().any(|other| usize::from(other) == lane);
        let lane = state.turn_of_lanes.first(self.plan.lanes.count.into(), is_to_give);
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
