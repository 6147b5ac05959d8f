//! Stages 2 and 3: heads are routed and request lanes of their output (virtual-channel allocation).

use crate::lanes::clock::Tick;
use crate::lanes::event::Flit;
use crate::lanes::ports::{BufferedFlit, Hold};
use crate::lanes::simulation::Simulation;
use gingham_net::{Crossbar, HeadPlace, Islip, OutputChoice, Reallocation, VcAllocator};
use gingham_topology::routing::{DatelineClass, LaneSet};
use gingham_topology::{ChannelId, NodeId, PortRef};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) from: (ChannelId, u8),
    /// Number that combines the head's input port and lane, for round robin.
    pub(crate) number: usize,
    head: Flit,
    pub(crate) output: ChannelId,
    pub(crate) level: usize,
    pub(crate) lanes: LaneSet,
    /// Lanes whose credits measure the load of the output.
    judged: LaneSet,
    dateline_class: DatelineClass,
}

impl Simulation {
    pub(crate) fn allocate_lanes(&mut self, node: NodeId) {
        let tick = self.tick();
        if self.endpoints.wanted().read {
            self.notify_read(node, tick);
        }
        self.choose_for_good(node, tick);
        let requests = self.requests(node, tick);
        let outputs: BTreeSet<ChannelId> = requests.iter().map(|request| request.output).collect();
        for output in outputs {
            let mut to_output = requests.clone();
            to_output.retain(|request| request.output == output);
            match self.lane_plan.vc_allocator {
                VcAllocator::Maximal => {
                    while let Some(winner) = self.grant_lane(output, &to_output, tick) {
                        to_output.retain(|request| request.number != winner);
                    }
                }
                VcAllocator::Islip(Islip { iterations }) => {
                    self.match_heads(output, to_output, iterations, tick);
                }
            }
        }
        self.note_short(node, tick);
        if self.holds_a_flit(node) {
            self.wake_switch(node, tick + 1);
        }
    }

    /// Reports routed heads to the endpoints, in order of input port and lane.
    fn notify_read(&mut self, node: NodeId, tick: Tick) {
        for input in self.channels_into(node) {
            for lane in 0..self.plan.lanes.count {
                let Some((head, first_since)) = self.input(input).lane(lane).head() else {
                    continue;
                };
                if tick != first_since + 1 + u64::from(self.lane_plan.routing_cycles) {
                    continue;
                }
                let waiting_flits = self.input(input).lane(lane).fill() as u64;
                let packet = &mut self.journeys.get_mut(head.packet).packet;
                let now = self.timeline.now;
                let diverted = self.endpoints.read(now, (input, lane), waiting_flits, packet);
                if let Some(into_end) = diverted {
                    self.journeys.get_mut(head.packet).divert(&self.plan, into_end);
                }
                self.carry_out(tick + 1);
            }
        }
    }

    fn requests(&self, node: NodeId, tick: Tick) -> Vec<Request> {
        let lanes = |input| (0..self.plan.lanes.count).map(move |lane| (input, lane));
        let all = self.channels_into(node).into_iter().flat_map(lanes);
        all.filter_map(|(input, lane)| self.request(input, lane, tick)).collect()
    }

    fn grant_lane(&mut self, output: ChannelId, requests: &[Request], tick: Tick) -> Option<usize> {
        let could_be_granted = |request: &&Request| !self.lanes_to_grant(request, tick).is_empty();
        let requests: Vec<Request> = requests.iter().filter(could_be_granted).copied().collect();
        let highest = requests.iter().map(|request| request.level).max()?;
        let numbered = |number| {
            requests.iter().find(|request| request.level == highest && request.number == number)
        };
        let pointer = self.outputs[output.index()].head_pointers[highest];
        let winner =
            pointer.first(self.lanes_of_switch(output), |number| numbered(number).is_some());
        let winner = winner.expect("a head is of the highest level");
        let request = *numbered(winner).expect("the winner made a request");
        self.outputs[output.index()].head_pointers[highest].won(winner);
        let lanes = self.lanes_to_grant(&request, tick);
        let is_one = |lane: usize| lanes.lanes().any(|other| usize::from(other) == lane);
        let state = &mut self.outputs[output.index()];
        let lane = state.lane_pointer.first(self.plan.lanes.count.into(), is_one);
        let lane = lane.expect("a lane can be granted");
        state.lane_pointer.won(lane);
        self.hold(request, u8::try_from(lane).expect("lanes are few"), tick);
        Some(winner)
    }

    /// Selects outputs for routed heads if each head selects only once.
    fn choose_for_good(&mut self, node: NodeId, tick: Tick) {
        let Some(switch_chooser) =
            self.switch_chooser.as_ref().filter(|switch_chooser| switch_chooser.is_for_good())
        else {
            return;
        };
        let mut chosen = Vec::new();
        for input in self.channels_into(node) {
            for lane in 0..self.plan.lanes.count {
                let all = self.requests_of(input, lane, tick);
                if all.is_empty() || self.input(input).lane(lane).chosen.is_some() {
                    continue;
                }
                let credits: Vec<u64> = all.iter().map(|of| self.credits_of(of)).collect();
                let place =
                    HeadPlace { switch: node, port: self.plan.ends(input).target.port, lane };
                chosen.push((
                    input,
                    lane,
                    all[switch_chooser.choose(place, tick, &credits)].output,
                ));
            }
        }
        for (input, lane, output) in chosen {
            self.input_mut(input).lane_mut(lane).chosen = Some(output);
        }
    }

    /// Returns the request of the head at the front of a lane, from tick `h + 1 + R` on. A head
    /// that may use several outputs requests an output that could grant a lane.
    pub(crate) fn request(&self, input: ChannelId, lane: u8, tick: Tick) -> Option<Request> {
        let Some(switch_chooser) = &self.switch_chooser else {
            return self.only_request(input, lane, tick);
        };
        let mut open = self.requests_of(input, lane, tick);
        open.retain(|request| !self.lanes_to_grant(request, tick).is_empty());
        if let Some(chosen) = self.input(input).lane(lane).chosen {
            // If the chosen output cannot grant a lane, only escape lanes on the path remain.
            let is_chosen = |request: &&Request| request.output == chosen;
            return open.iter().find(is_chosen).or(open.first()).copied();
        }
        let credits: Vec<u64> = open.iter().map(|request| self.credits_of(request)).collect();
        if credits.is_empty() {
            return None;
        }
        let PortRef { node: switch, port } = self.plan.ends(input).target;
        Some(open[switch_chooser.choose(HeadPlace { switch, port, lane }, tick, &credits)])
    }

    fn credits_of(&self, request: &Request) -> u64 {
        let output = &self.outputs[request.output.index()];
        let of = |lane| output.lane(lane).credits.map_or(0, |of| of.here - of.promised);
        request.judged.lanes().map(of).sum()
    }

    /// Returns the requests of a routed head, one for each permitted output.
    pub(crate) fn requests_of(&self, input: ChannelId, lane: u8, tick: Tick) -> Vec<Request> {
        let Some(only) = self.only_request(input, lane, tick) else { return Vec::new() };
        if self.switch_chooser.is_none() {
            return vec![only];
        }
        let packet = &self.journeys.get(only.head.packet).packet;
        let switch = self.plan.ends(input).target.node;
        let chosen = self.input(input).lane(lane).chosen;
        let outputs = self.plan.outputs(switch, packet.destination, packet.vc_class, chosen);
        let request =
            |OutputChoice { output, lanes, judged }| Request { output, lanes, judged, ..only };
        outputs.map(request).collect()
    }

    fn only_request(&self, input: ChannelId, lane: u8, tick: Tick) -> Option<Request> {
        let (head, first_since) = self.input(input).lane(lane).head()?;
        if tick < first_since + 1 + u64::from(self.lane_plan.routing_cycles) {
            return None;
        }
        let journey = self.journeys.get(head.packet);
        let (packet, output) = (&journey.packet, journey.next_channel());
        assert_eq!(journey.path[journey.position], input, "a head is where its path leads");
        let state = (journey.position, journey.dateline_class);
        let channels = [input, output];
        let (lanes, dateline_class) =
            journey.legs.lanes_onward(&self.plan, packet, state, channels);
        let level = self.lane_plan.arbitration.level(packet.priority);
        let port = usize::from(self.plan.ends(input).target.port);
        let number = port * usize::from(self.plan.lanes.count) + usize::from(lane);
        let from = (input, lane);
        Some(Request { from, number, head, output, level, lanes, judged: lanes, dateline_class })
    }

    pub(crate) fn flits_of(&self, request: &Request) -> u64 {
        self.journeys.get(request.head.packet).flits
    }

    pub(crate) fn lanes_to_grant(&self, request: &Request, tick: Tick) -> LaneSet {
        let flits = self.flits_of(request);
        let output = &self.outputs[request.output.index()];
        let can_be_granted = |lane: &u8| {
            let (plan, state) = (&self.lane_plan, output.lane(*lane));
            let is_at_rest = plan.reallocation != Reallocation::TailCredit || state.is_at_rest();
            let needed = plan.credits_to_be_given(*lane, flits);
            is_at_rest && state.has_credits(needed)
        };
        self.free_lanes(request, tick).filter(can_be_granted).collect()
    }

    /// Returns the permitted lanes that no input lane holds, regardless of credits.
    pub(crate) fn free_lanes(
        &self,
        request: &Request,
        tick: Tick,
    ) -> impl Iterator<Item = u8> + use<'_> {
        let output = &self.outputs[request.output.index()];
        let is_free = move |lane: &u8| {
            let state = output.lane(*lane);
            let is_late = self.lane_plan.reallocation == Reallocation::AfterTail;
            state.holder.is_none() && (!is_late || state.released < Some(tick))
        };
        request.lanes.lanes().filter(is_free)
    }

    pub(crate) fn hold(&mut self, request: Request, lane: u8, tick: Tick) {
        let Request { from, head, output, dateline_class, .. } = request;
        let journey = self.journeys.get_mut(head.packet);
        journey.take(&self.plan, output);
        journey.dateline_class = dateline_class;
        let flits = journey.flits;
        let state = &mut self.outputs[output.index()];
        state.lane_mut(lane).holder = Some(from);
        if self.lane_plan.cut_through.contains(lane) {
            state.lane_mut(lane).promise(flits);
        }
        let (input, input_lane) = from;
        let state = self.input_mut(input).lane_mut(input_lane);
        state.holds = Some(Hold { output, lane, since: tick });
        state.chosen = None;
    }
}

// VC allocation by iSLIP: matching of heads with the lanes of their output.
//
// ```text
//   free lane ── grants ──► the first head, by round robin, that could take the lane
//   head      ── accepts ─► the first lane, by round robin, that granted the head            (n iterations)
// ```
//
// Both pointers advance only for matches of the first iteration. The pointer of a head's input lane
// ranges over all output lanes of the switch. Source: McKeown 1999, section III, applied to lanes.

impl Simulation {
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

    pub(crate) fn lanes_of_switch(&self, output: ChannelId) -> usize {
        self.ports(self.plan.ends(output).source.node) * usize::from(self.plan.lanes.count)
    }

    fn number_of_lane(&self, output: ChannelId, lane: u8) -> usize {
        let port = usize::from(self.plan.ends(output).source.port);
        port * usize::from(self.plan.lanes.count) + usize::from(lane)
    }
}

// Stage 4: switch traversal from lane buffers into output lanes.

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

    /// Returns the output that can receive a flit from a lane. Before this tick, the lane must have
    /// been granted an output lane, and its first flit must have arrived. The output lane needs
    /// space.
    pub(crate) fn can_cross(&self, input: ChannelId, lane: u8, tick: Tick) -> Option<ChannelId> {
        let input_lane = self.input(input).lane(lane);
        let hold = input_lane.holds.filter(|hold| hold.since < tick)?;
        input_lane.first().filter(|first| first.since < tick)?;
        self.has_room(hold.output, hold.lane).then_some(hold.output)
    }

    /// Returns whether a flit fits into an output lane. If the lane's depth is 0, a credit must be
    /// available and no flit may wait for the link.
    pub(crate) fn has_room(&self, output: ChannelId, lane: u8) -> bool {
        if self.lane_plan.pays_at_crossing() {
            let output = &self.outputs[output.index()];
            return output.fill() == 0 && output.lane(lane).has_credit();
        }
        let depth = self.lane_plan.output_depths_flits[usize::from(lane)];
        self.outputs[output.index()].lane(lane).buffer.len() < depth as usize
    }

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
