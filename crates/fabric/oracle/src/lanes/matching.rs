//! Switch allocation of a multiplexed crossbar: matching of crossbar inputs with crossbar outputs.
//!
//! ```text
//!   port p, lanes 0 1 2 3      input 0 ◄ lanes 0 2      a port with speedup s has s crossbar inputs (or
//!                              input 1 ◄ lanes 1 3      outputs); lane l uses number l mod s
//! ```
//!
//! One side proposes and the other side accepts. Unmatched ports repeat both steps for the number
//! of iterations of the [`Allocator`](gingham_net::Allocator).
//!
//! - Output first: every crossbar output grants one crossbar input by round robin, or the holder of
//!   the output lane that its arbiter selects. Every input with grants accepts one grant, by the
//!   arbiter over its lanes or by round robin.
//! - Input first: every crossbar input proposes to one output by round robin. Every output accepts
//!   one of the proposals that it receives.

use crate::lanes::clock::Tick;
use crate::lanes::ports::{Chooser, CrossbarInput, Granting};
use crate::lanes::round_robin::RoundRobin;
use crate::lanes::simulation::Simulation;
use gingham_fairq::Head;
use gingham_topology::{ChannelId, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// Crossbar input at the end of a channel, or crossbar output at the start of a channel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct CrossbarPort {
    channel: ChannelId,
    number: u8,
}

struct Grant {
    output: CrossbarPort,
    lanes: Vec<u8>,
    /// State of the output's arbitration if the grant is accepted.
    after: Granting,
}

struct Match {
    input: CrossbarPort,
    output: CrossbarPort,
    lane: u8,
    /// State of the input's and the output's arbitration after the match.
    after: (CrossbarInput, Granting),
}

impl Simulation {
    pub(crate) fn traverse_matched(&mut self, node: NodeId) {
        let (tick, allocator) = (self.tick(), self.lane_plan.allocator);
        let has_flits = |input: &ChannelId| self.input(*input).fill() > 0;
        let crossbar_ports = |channels: Vec<ChannelId>, count: u8| -> BTreeSet<CrossbarPort> {
            let of = |channel| (0..count).map(move |number| CrossbarPort { channel, number });
            channels.into_iter().flat_map(of).collect()
        };
        let into = self.channels_into(node).into_iter().filter(has_flits).collect();
        let mut inputs = crossbar_ports(into, self.lane_plan.input_speedup);
        let mut outputs = crossbar_ports(self.channels_from(node), self.lane_plan.output_speedup);
        for iteration in 0..allocator.iterations() {
            let matches = if allocator.is_input_first() {
                self.accept_inputs(&inputs, &outputs, tick)
            } else {
                self.accept_outputs(&inputs, &outputs, tick)
            };
            if matches.is_empty() {
                return;
            }
            for Match { input, output, lane, after: (crossbar_input, crossbar_output) } in matches {
                inputs.remove(&input);
                outputs.remove(&output);
                let crossbar_port = self.input_mut(input.channel).crossbar_port_of(lane);
                crossbar_port.chooser = crossbar_input.chooser;
                if allocator.moves_in(iteration) {
                    crossbar_port.outputs = crossbar_input.outputs;
                    let crossbar_ports = &mut self.outputs[output.channel.index()].crossbar_ports;
                    crossbar_ports[usize::from(output.number)] = crossbar_output;
                }
                self.traverse_switch(input.channel, lane, tick);
            }
        }
    }

    fn accept_outputs(
        &self,
        inputs: &BTreeSet<CrossbarPort>,
        outputs: &BTreeSet<CrossbarPort>,
        tick: Tick,
    ) -> Vec<Match> {
        let mut granted: BTreeMap<CrossbarPort, Vec<Grant>> = BTreeMap::new();
        for output in outputs {
            if let Some((input, grant)) = self.grant(*output, inputs, tick) {
                granted.entry(input).or_default().push(grant);
            }
        }
        granted.into_iter().filter_map(|(input, grants)| self.take_one(input, grants)).collect()
    }

    /// Returns the unmatched input that a crossbar output grants: either the first able input by
    /// round robin, with all its able lanes, or the holder of the output lane chosen by the
    /// arbiter.
    fn grant(
        &self,
        output: CrossbarPort,
        inputs: &BTreeSet<CrossbarPort>,
        tick: Tick,
    ) -> Option<(CrossbarPort, Grant)> {
        match &self.outputs[output.channel.index()].crossbar_ports[usize::from(output.number)] {
            Granting::Inputs(pointer) => self.grant_input(output, *pointer, inputs, tick),
            Granting::Lanes(chooser) => self.grant_lane_of(output, chooser, inputs, tick),
        }
    }

    fn grant_input(
        &self,
        output: CrossbarPort,
        pointer: RoundRobin,
        inputs: &BTreeSet<CrossbarPort>,
        tick: Tick,
    ) -> Option<(CrossbarPort, Grant)> {
        let able = |input: &&CrossbarPort| !self.lanes_to(**input, output, tick).is_empty();
        let (input, after) = self.first_input(output, pointer, inputs.iter().filter(able))?;
        let lanes = self.lanes_to(input, output, tick);
        Some((input, Grant { output, lanes, after: Granting::Inputs(after) }))
    }

    fn first_input<'a>(
        &self,
        output: CrossbarPort,
        mut pointer: RoundRobin,
        inputs: impl Iterator<Item = &'a CrossbarPort>,
    ) -> Option<(CrossbarPort, RoundRobin)> {
        let numbered: BTreeMap<usize, CrossbarPort> =
            inputs.map(|input| (self.number_of_input(*input), *input)).collect();
        let count = self.ports(self.plan.ends(output.channel).source.node)
            * usize::from(self.lane_plan.input_speedup);
        let number = pointer.first(count, |number| numbered.contains_key(&number))?;
        pointer.won(number);
        Some((numbered[&number], pointer))
    }

    fn grant_lane_of(
        &self,
        output: CrossbarPort,
        chooser: &Chooser,
        inputs: &BTreeSet<CrossbarPort>,
        tick: Tick,
    ) -> Option<(CrossbarPort, Grant)> {
        let holder = |lane: u8| {
            let (channel, from) = self.outputs[output.channel.index()].lane(lane).holder?;
            Some((CrossbarPort { channel, number: from % self.lane_plan.input_speedup }, from))
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

    /// Chooses a granted lane, among all grants or among the grants of the output selected by round
    /// robin.
    fn take_one(&self, input: CrossbarPort, mut grants: Vec<Grant>) -> Option<Match> {
        let mut crossbar_port = self.crossbar_input(input).clone();
        if self.lane_plan.allocator.takes_outputs_in_turn() {
            let of = grants.iter().map(|grant| grant.output);
            let output = self.next_output(input, &mut crossbar_port.outputs, of)?;
            grants.retain(|grant| grant.output == output);
        }
        let lanes = grants.iter().flat_map(|grant| grant.lanes.iter().copied()).collect();
        let lane = self.next_lane(input, &mut crossbar_port.chooser, &lanes)?;
        let Grant { output, after, .. } =
            grants.into_iter().find(|grant| grant.lanes.contains(&lane))?;
        Some(Match { input, output, lane, after: (crossbar_port, after) })
    }

    fn accept_inputs(
        &self,
        inputs: &BTreeSet<CrossbarPort>,
        outputs: &BTreeSet<CrossbarPort>,
        tick: Tick,
    ) -> Vec<Match> {
        let mut proposed: BTreeMap<CrossbarPort, BTreeMap<CrossbarPort, (u8, CrossbarInput)>> =
            BTreeMap::new();
        for input in inputs {
            let mut crossbar_port = self.crossbar_input(*input).clone();
            let able = |output: &CrossbarPort| !self.lanes_to(*input, *output, tick).is_empty();
            let among = outputs.iter().copied().filter(able);
            let Some(output) = self.next_output(*input, &mut crossbar_port.outputs, among) else {
                continue;
            };
            let lanes = self.lanes_to(*input, output, tick).into_iter().collect();
            let lane = self.next_lane(*input, &mut crossbar_port.chooser, &lanes);
            let lane = lane.expect("lanes in turn, of which one can send");
            proposed.entry(output).or_default().insert(*input, (lane, crossbar_port));
        }
        let accepted =
            |(output, mut inputs): (CrossbarPort, BTreeMap<CrossbarPort, (u8, CrossbarInput)>)| {
                let crossbar_port = &self.outputs[output.channel.index()].crossbar_ports
                    [usize::from(output.number)];
                let Granting::Inputs(pointer) = crossbar_port else {
                    panic!("it takes ways in in turn")
                };
                let (input, after) = self.first_input(output, *pointer, inputs.keys())?;
                let (lane, crossbar_input) = inputs.remove(&input)?;
                Some(Match {
                    input,
                    output,
                    lane,
                    after: (crossbar_input, Granting::Inputs(after)),
                })
            };
        proposed.into_iter().filter_map(accepted).collect()
    }

    fn crossbar_input(&self, input: CrossbarPort) -> &CrossbarInput {
        &self.input(input.channel).crossbar_ports[usize::from(input.number)]
    }

    /// Returns the first output by round robin, and advances the input's pointer.
    fn next_output(
        &self,
        input: CrossbarPort,
        turn: &mut RoundRobin,
        outputs: impl Iterator<Item = CrossbarPort>,
    ) -> Option<CrossbarPort> {
        let speedup = usize::from(self.lane_plan.output_speedup);
        let number = |output: CrossbarPort| {
            let port = usize::from(self.plan.ends(output.channel).source.port);
            port * speedup + usize::from(output.number)
        };
        let numbered: BTreeMap<usize, CrossbarPort> =
            outputs.map(|output| (number(output), output)).collect();
        let count = self.ports(self.plan.ends(input.channel).target.node) * speedup;
        let next = turn.first(count, |number| numbered.contains_key(&number))?;
        turn.won(next);
        Some(numbered[&next])
    }

    fn number_of_input(&self, input: CrossbarPort) -> usize {
        let port = usize::from(self.plan.ends(input.channel).target.port);
        port * usize::from(self.lane_plan.input_speedup) + usize::from(input.number)
    }

    fn next_lane(
        &self,
        input: CrossbarPort,
        chooser: &mut Chooser,
        lanes: &BTreeSet<u8>,
    ) -> Option<u8> {
        let head =
            |lane| lanes.contains(&lane).then(|| self.head_at_input(input.channel, lane, chooser));
        let candidates: Vec<Option<Head>> = (0..self.plan.lanes.count).map(head).collect();
        let lane = chooser.choose(&candidates)?;
        let flit = self.input(input.channel).lane(lane).first().expect("a flit stands first").flit;
        chooser.sent(lane, self.journeys.get(flit.packet).is_tail(flit.index));
        Some(lane)
    }

    fn head_at_input(&self, input: ChannelId, lane: u8, arbiter: &Chooser) -> Head {
        let first = self.input(input).lane(lane).first().expect("a flit stands first");
        self.head_of(&first, arbiter.is_by_packet())
    }

    fn lanes_to(&self, input: CrossbarPort, output: CrossbarPort, tick: Tick) -> Vec<u8> {
        let is_of = |lane: &u8| lane % self.lane_plan.input_speedup == input.number;
        let can_send = |lane: &u8| self.can_be_matched(input.channel, *lane, tick) == Some(output);
        (0..self.plan.lanes.count).filter(is_of).filter(can_send).collect()
    }

    /// Returns the crossbar output that can receive a flit from a lane. With packet-level
    /// arbitration, returns `None` while another lane of the input or output has a packet in
    /// progress.
    fn can_be_matched(&self, input: ChannelId, lane: u8, tick: Tick) -> Option<CrossbarPort> {
        let channel = self.can_cross(input, lane, tick)?;
        let hold = self.input(input).lane(lane).holds?;
        let output = CrossbarPort { channel, number: hold.lane % self.lane_plan.output_speedup };
        let crossbar_input =
            CrossbarPort { channel: input, number: lane % self.lane_plan.input_speedup };
        let granting = &self.outputs[channel.index()].crossbar_ports[usize::from(output.number)];
        let is_open = self.crossbar_input(crossbar_input).chooser.is_open_to(lane)
            && granting.is_open_to(hold.lane);
        is_open.then_some(output)
    }
}
