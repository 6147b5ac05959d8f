//! Switch allocation of a multiplexed crossbar: ways in are matched with ways out.
//!
//! ```text
//!   port p, lanes 0 1 2 3      way 0 ◄ lanes 0 2        a port has as many ways as its speedup says,
//!                              way 1 ◄ lanes 1 3        and lane l goes by way l mod that
//! ```
//!
//! One side proposes, the other accepts, and what is accepted is matched; again with those that are
//! not, as often as [`Allocator`](gingham_net::Allocator) says.
//!
//! - Output first: every way out grants one way in, in turn, or the holder of one of its output
//!   lanes, by its arbiter; every way in that was granted takes one of these, by the arbiter over its
//!   lanes, or in turn.
//! - Input first: every way in proposes to one way out, in turn; every way out takes one of those
//!   that did.

use crate::lanes::clock::Tick;
use crate::lanes::ports::{Chooser, Granting, WayIn};
use crate::lanes::round_robin::RoundRobin;
use crate::lanes::simulation::Simulation;
use gingham_fairq::Head;
use gingham_topology::{ChannelId, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// A way into the crossbar from where a channel ends, or out of it to where one begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Way {
    channel: ChannelId,
    number: u8,
}

/// What a way out grants a way in.
struct Grant {
    output: Way,
    /// Lanes of the way in, of which one may send.
    lanes: Vec<u8>,
    /// How the way out grants from now on, if it is matched so.
    after: Granting,
}

/// A way in that is matched with a way out.
struct Match {
    input: Way,
    output: Way,
    /// The lane that sends.
    lane: u8,
    /// How either chooses from now on.
    after: (WayIn, Granting),
}

impl Simulation {
    /// One flit a way in and one a way out.
    pub(crate) fn traverse_matched(&mut self, node: NodeId) {
        let (tick, allocator) = (self.tick(), self.lane_plan.allocator);
        let has_flits = |input: &ChannelId| self.input(*input).fill() > 0;
        let ways = |channels: Vec<ChannelId>, count: u8| -> BTreeSet<Way> {
            let of = |channel| (0..count).map(move |number| Way { channel, number });
            channels.into_iter().flat_map(of).collect()
        };
        let into = self.channels_into(node).into_iter().filter(has_flits).collect();
        let mut inputs = ways(into, self.lane_plan.input_speedup);
        let mut outputs = ways(self.channels_from(node), self.lane_plan.output_speedup);
        for iteration in 0..allocator.iterations() {
            let matches = if allocator.is_input_first() {
                self.accept_inputs(&inputs, &outputs, tick)
            } else {
                self.accept_outputs(&inputs, &outputs, tick)
            };
            if matches.is_empty() {
                return;
            }
            for Match { input, output, lane, after: (way_in, way_out) } in matches {
                inputs.remove(&input);
                outputs.remove(&output);
                let way = self.input_mut(input.channel).way_of(lane);
                way.chooser = way_in.chooser;
                if allocator.moves_in(iteration) {
                    way.outputs = way_in.outputs;
                    let ways = &mut self.outputs[output.channel.index()].ways;
                    ways[usize::from(output.number)] = way_out;
                }
                self.traverse_switch(input.channel, lane, tick);
            }
        }
    }

    // Output first.

    /// Ways out grant ways in, and each of these takes one.
    fn accept_outputs(
        &self,
        inputs: &BTreeSet<Way>,
        outputs: &BTreeSet<Way>,
        tick: Tick,
    ) -> Vec<Match> {
        let mut granted: BTreeMap<Way, Vec<Grant>> = BTreeMap::new();
        for output in outputs {
            if let Some((input, grant)) = self.grant(*output, inputs, tick) {
                granted.entry(input).or_default().push(grant);
            }
        }
        granted.into_iter().filter_map(|(input, grants)| self.take_one(input, grants)).collect()
    }

    /// The way in that a way out grants, among those not matched yet that have a lane which can
    /// send to it: the first, round robin, with all these lanes; or, by lane, the holder of the
    /// output lane that its arbiter chooses.
    fn grant(&self, output: Way, inputs: &BTreeSet<Way>, tick: Tick) -> Option<(Way, Grant)> {
        match &self.outputs[output.channel.index()].ways[usize::from(output.number)] {
            Granting::Inputs(pointer) => self.grant_input(output, *pointer, inputs, tick),
            Granting::Lanes(chooser) => self.grant_lane_of(output, chooser, inputs, tick),
        }
    }

    fn grant_input(
        &self,
        output: Way,
        pointer: RoundRobin,
        inputs: &BTreeSet<Way>,
        tick: Tick,
    ) -> Option<(Way, Grant)> {
        let able = |input: &&Way| !self.lanes_to(**input, output, tick).is_empty();
        let (input, after) = self.first_input(output, pointer, inputs.iter().filter(able))?;
        let lanes = self.lanes_to(input, output, tick);
        Some((input, Grant { output, lanes, after: Granting::Inputs(after) }))
    }

    /// The first of some ways in, round robin, and the pointer of the way out if that is matched.
    fn first_input<'a>(
        &self,
        output: Way,
        mut pointer: RoundRobin,
        inputs: impl Iterator<Item = &'a Way>,
    ) -> Option<(Way, RoundRobin)> {
        let numbered: BTreeMap<usize, Way> =
            inputs.map(|input| (self.number_of_input(*input), *input)).collect();
        let count = self.ports(self.plan.ends(output.channel).source.node)
            * usize::from(self.lane_plan.input_speedup);
        let number = pointer.first(count, |number| numbered.contains_key(&number))?;
        pointer.won(number);
        Some((numbered[&number], pointer))
    }

    fn grant_lane_of(
        &self,
        output: Way,
        chooser: &Chooser,
        inputs: &BTreeSet<Way>,
        tick: Tick,
    ) -> Option<(Way, Grant)> {
        let holder = |lane: u8| {
            let (channel, from) = self.outputs[output.channel.index()].lane(lane).holder?;
            Some((Way { channel, number: from % self.lane_plan.input_speedup }, from))
        };
        let candidate = |lane: u8| {
            let (input, from) = holder(lane).filter(|(input, _)| inputs.contains(input))?;
            (self.can_be_matched(input.channel, from, tick)? == output)
                .then(|| self.head_at_input(input.channel, from, chooser))
        };
        let candidates: Vec<Option<Head>> = (0..self.plan.lanes.count).map(candidate).collect();
        let mut after = chooser.clone();
        let lane = after.choose(&candidates)?;
        let (input, from) = holder(lane)?;
        let first = self.input(input.channel).lane(from).first()?.flit;
        after.sent(lane, self.journeys.get(first.packet).is_tail(first.index));
        Some((input, Grant { output, lanes: vec![from], after: Granting::Lanes(after) }))
    }

    /// A way in that was granted takes one of its lanes that were: at once among all of them, or
    /// among those to the way out whose turn it is.
    fn take_one(&self, input: Way, mut grants: Vec<Grant>) -> Option<Match> {
        let mut way = self.way_in(input).clone();
        if self.lane_plan.allocator.takes_outputs_in_turn() {
            let of = grants.iter().map(|grant| grant.output);
            let output = self.next_output(input, &mut way.outputs, of)?;
            grants.retain(|grant| grant.output == output);
        }
        let lanes = grants.iter().flat_map(|grant| grant.lanes.iter().copied()).collect();
        let lane = self.next_lane(input, &mut way.chooser, &lanes)?;
        let Grant { output, after, .. } =
            grants.into_iter().find(|grant| grant.lanes.contains(&lane))?;
        Some(Match { input, output, lane, after: (way, after) })
    }

    // Input first.

    /// Ways in propose themselves to ways out, and each of these takes one.
    fn accept_inputs(
        &self,
        inputs: &BTreeSet<Way>,
        outputs: &BTreeSet<Way>,
        tick: Tick,
    ) -> Vec<Match> {
        let mut proposed: BTreeMap<Way, BTreeMap<Way, (u8, WayIn)>> = BTreeMap::new();
        for input in inputs {
            let mut way = self.way_in(*input).clone();
            let able = |output: &Way| !self.lanes_to(*input, *output, tick).is_empty();
            let among = outputs.iter().copied().filter(able);
            let Some(output) = self.next_output(*input, &mut way.outputs, among) else { continue };
            let lanes = self.lanes_to(*input, output, tick).into_iter().collect();
            let lane = self.next_lane(*input, &mut way.chooser, &lanes);
            let lane = lane.expect("lanes in turn, of which one can send");
            proposed.entry(output).or_default().insert(*input, (lane, way));
        }
        let accepted = |(output, mut inputs): (Way, BTreeMap<Way, (u8, WayIn)>)| {
            let way = &self.outputs[output.channel.index()].ways[usize::from(output.number)];
            let Granting::Inputs(pointer) = way else { panic!("it takes ways in in turn") };
            let (input, after) = self.first_input(output, *pointer, inputs.keys())?;
            let (lane, way_in) = inputs.remove(&input)?;
            Some(Match { input, output, lane, after: (way_in, Granting::Inputs(after)) })
        };
        proposed.into_iter().filter_map(accepted).collect()
    }

    // What both ask.

    fn way_in(&self, input: Way) -> &WayIn {
        &self.input(input.channel).ways[usize::from(input.number)]
    }

    /// The first of some ways out, round robin, with which the turn of a way in goes on.
    fn next_output(
        &self,
        input: Way,
        turn: &mut RoundRobin,
        outputs: impl Iterator<Item = Way>,
    ) -> Option<Way> {
        let speedup = usize::from(self.lane_plan.output_speedup);
        let number = |output: Way| {
            let port = usize::from(self.plan.ends(output.channel).source.port);
            port * speedup + usize::from(output.number)
        };
        let numbered: BTreeMap<usize, Way> =
            outputs.map(|output| (number(output), output)).collect();
        let count = self.ports(self.plan.ends(input.channel).target.node) * speedup;
        let next = turn.first(count, |number| numbered.contains_key(&number))?;
        turn.won(next);
        Some(numbered[&next])
    }

    fn number_of_input(&self, input: Way) -> usize {
        let port = usize::from(self.plan.ends(input.channel).target.port);
        port * usize::from(self.lane_plan.input_speedup) + usize::from(input.number)
    }

    /// The lane that the arbiter of a way in chooses of some, and that sends.
    fn next_lane(&self, input: Way, chooser: &mut Chooser, lanes: &BTreeSet<u8>) -> Option<u8> {
        let head =
            |lane| lanes.contains(&lane).then(|| self.head_at_input(input.channel, lane, chooser));
        let candidates: Vec<Option<Head>> = (0..self.plan.lanes.count).map(head).collect();
        let lane = chooser.choose(&candidates)?;
        let flit = self.input(input.channel).lane(lane).first().expect("a flit stands first").flit;
        chooser.sent(lane, self.journeys.get(flit.packet).is_tail(flit.index));
        Some(lane)
    }

    /// What an arbiter sees of what stands first in a lane buffer.
    fn head_at_input(&self, input: ChannelId, lane: u8, arbiter: &Chooser) -> Head {
        let first = self.input(input).lane(lane).first().expect("a flit stands first");
        self.head_of(&first, arbiter.is_by_packet())
    }

    /// The lanes of a way in that can send to a way out.
    fn lanes_to(&self, input: Way, output: Way, tick: Tick) -> Vec<u8> {
        let is_of = |lane: &u8| lane % self.lane_plan.input_speedup == input.number;
        let can_send = |lane: &u8| self.can_be_matched(input.channel, *lane, tick) == Some(output);
        (0..self.plan.lanes.count).filter(is_of).filter(can_send).collect()
    }

    /// The way out that a lane can send to: not while another lane of its way in, or of that way
    /// out, is in the middle of a packet, by the packet.
    fn can_be_matched(&self, input: ChannelId, lane: u8, tick: Tick) -> Option<Way> {
        let channel = self.can_cross(input, lane, tick)?;
        let hold = self.input(input).lane(lane).holds?;
        let output = Way { channel, number: hold.lane % self.lane_plan.output_speedup };
        let way_in = Way { channel: input, number: lane % self.lane_plan.input_speedup };
        let granting = &self.outputs[channel.index()].ways[usize::from(output.number)];
        let is_open =
            self.way_in(way_in).chooser.is_open_to(lane) && granting.is_open_to(hold.lane);
        is_open.then_some(output)
    }
}
