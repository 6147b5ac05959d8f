//! VC allocation by iSLIP: which heads that request an output are matched with which of its lanes.
//!
//! ```text
//!   lane that is free ── grants ──► the first head, round robin, that could take it
//!   head              ── accepts ─► the first lane, round robin, of those that granted it      n times
//! ```
//!
//! Both pointers move for what is matched in the first iteration alone. The pointer of a head's input
//! lane is among all output lanes of the switch. Source: McKeown 1999, section III, over lanes.

use crate::lanes::allocation::Request;
use crate::lanes::clock::Tick;
use crate::lanes::simulation::Simulation;
use gingham_topology::ChannelId;
use gingham_topology::routing::LaneSet;
use std::collections::BTreeMap;

impl Simulation {
    /// Grants lanes of an output to heads that request it, in so many iterations.
    pub(crate) fn match_heads(
        &mut self,
        output: ChannelId,
        mut requests: Vec<Request>,
        iterations: u32,
        tick: Tick,
    ) {
        for iteration in 0..iterations {
            let matched = self.matched_heads(output, &requests, tick);
            if matched.is_empty() {
                return;
            }
            for (number, lane) in matched {
                let place = requests.iter().position(|request| request.number == number);
                let request = requests.remove(place.expect("it made a request"));
                if iteration == 0 {
                    let of_switch = self.number_of_lane(output, lane);
                    let (input, input_lane) = request.from;
                    self.input_mut(input).lane_mut(input_lane).lane_pointer.won(of_switch);
                    let state = self.outputs[output.index()].lane_mut(lane);
                    state.head_pointers[request.level].won(number);
                }
                self.hold(request, lane, tick);
            }
        }
    }

    /// Heads by their number, and the lane that each accepts of those that grant it.
    fn matched_heads(
        &self,
        output: ChannelId,
        requests: &[Request],
        tick: Tick,
    ) -> BTreeMap<usize, u8> {
        let mut grants: BTreeMap<usize, LaneSet> = BTreeMap::new();
        for lane in 0..self.plan.lanes.count {
            if let Some(number) = self.granted_head(output, lane, requests, tick) {
                let lanes = grants.entry(number).or_insert(LaneSet::EMPTY);
                *lanes = *lanes | LaneSet::one(lane);
            }
        }
        let accepted = |(number, lanes): (usize, LaneSet)| {
            let request = requests.iter().find(|request| request.number == number);
            let (input, input_lane) = request.expect("it made a request").from;
            let pointer = self.input(input).lane(input_lane).lane_pointer;
            let is_granted = |of_switch: usize| {
                lanes.lanes().any(|lane| self.number_of_lane(output, lane) == of_switch)
            };
            let first = pointer.first(self.lanes_of_switch(output), is_granted);
            let first = first.expect("a lane grants it");
            let lane = lanes.lanes().find(|lane| self.number_of_lane(output, *lane) == first);
            (number, lane.expect("it is one of these"))
        };
        grants.into_iter().map(accepted).collect()
    }

    /// The head, by its number, that a lane of an output grants, if it could grant any.
    fn granted_head(
        &self,
        output: ChannelId,
        lane: u8,
        requests: &[Request],
        tick: Tick,
    ) -> Option<usize> {
        let could_take = |request: &&Request| self.lanes_to_grant(request, tick).contains(lane);
        let able: Vec<&Request> = requests.iter().filter(could_take).collect();
        let highest = able.iter().map(|request| request.level).max()?;
        let pointer = self.outputs[output.index()].lane(lane).head_pointers[highest];
        let is_able = |number: usize| {
            able.iter().any(|request| request.level == highest && request.number == number)
        };
        pointer.first(self.lanes_of_switch(output), is_able)
    }

    /// The input lanes, or output lanes, of the switch of an output.
    pub(crate) fn lanes_of_switch(&self, output: ChannelId) -> usize {
        self.ports(self.plan.ends(output).source.node) * usize::from(self.plan.lanes.count)
    }

    /// The number of an output lane in its switch.
    fn number_of_lane(&self, output: ChannelId, lane: u8) -> usize {
        let port = usize::from(self.plan.ends(output).source.port);
        port * usize::from(self.plan.lanes.count) + usize::from(lane)
    }
}
