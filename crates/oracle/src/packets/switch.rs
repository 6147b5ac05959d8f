//! Switches: heads are read, packets become ready, and idle outputs start them.

use crate::packets::buffer::Buffered;
use crate::packets::event::Event;
use crate::packets::journey::JourneyId;
use crate::packets::order::Waiting;
use crate::packets::output::Leaves;
use crate::packets::simulation::Simulation;
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_model::{Notice, PacketsPlan, Read, Stay};
use gingham_topology::routing::DatelineClass;
use gingham_topology::{ChannelId, NodeId};

impl Simulation {
    // Phase 2: left.

    /// The tail of a packet has left a buffer: its space is free, and the sender will know of it.
    pub(crate) fn left_switch(&mut self, input: ChannelId, lane: u8, packet: JourneyId) {
        let now = self.timeline.now;
        self.input_mut(input).leave(lane, packet, now);
        if self.packets.pauses.is_some() {
            self.timeline.cause(now, Event::Look { channel: input, lane });
        } else {
            self.tell_of_credits(input, lane);
        }
        self.wake_switch(self.plan.ends(input).target.node);
    }

    // Phase 5: ready.

    pub(crate) fn read_head(&mut self, input: ChannelId, lane: u8, packet: JourneyId) {
        if self.endpoints.wanted().read {
            let waiting_flits = self.input(input).waiting_bytes(lane, self.timeline.now);
            let now = self.timeline.now;
            let of_packet = &mut self.journeys.get_mut(packet).packet;
            let diverted = self.endpoints.read(now, (input, lane), waiting_flits, of_packet);
            if let Some(into_end) = diverted {
                self.divert(input, lane, packet, into_end);
            }
            self.carry_out();
        }
        if self.endpoints.wanted().switched.are_stays() {
            let stay = self.stay(input, lane, packet);
            self.endpoints.tell(self.timeline.now, Notice::Queued { stay });
            self.timeline.cause(self.timeline.now, Event::Settle { channel: input, lane, packet });
        }
        let never_dry = self.never_dry(input, lane, packet);
        self.timeline
            .cause(self.timeline.now.max(never_dry), Event::Ready { channel: input, lane, packet });
    }

    /// A packet that was read goes on by the channel into the end of its switch.
    fn divert(&mut self, input: ChannelId, lane: u8, packet: JourneyId, into_end: ChannelId) {
        let journey = self.journeys.get_mut(packet);
        journey.divert(&self.plan, into_end);
        let (lanes, dateline_class) = self.lanes_onward(packet, input);
        let buffered = self.input_mut(input).buffered_mut(lane, packet);
        buffered.output = into_end;
        (buffered.lanes, buffered.dateline_class) = (lanes, dateline_class);
    }

    /// How a packet is in a buffer.
    fn stay(&self, input: ChannelId, lane: u8, packet: JourneyId) -> Stay {
        let mut there = self.input(input).lane(lane).iter();
        let found = there.find(|buffered| buffered.packet == packet).expect("it is here");
        let Buffered { came, wire_bytes, output, lanes, .. } = *found;
        Stay { input, lane, came, wire_bytes, output, lanes }
    }

    /// The earliest start at which no byte has to go on before it is there:
    /// `a + t_in(W) - t_out(W - 1)`, or time zero if that is before, or the rates are the same.
    fn never_dry(&mut self, input: ChannelId, lane: u8, packet: JourneyId) -> Time {
        let buffered = self.input_mut(input).buffered_mut(lane, packet);
        let (came, wire_bytes, output) = (buffered.came, buffered.wire_bytes, buffered.output);
        let [coming, going] = [input, output].map(|channel| self.plan.channel(channel).bytes);
        if coming == going {
            return Time::ZERO;
        }
        let whole = came + coming.of(wire_bytes);
        let last_byte = going.of(wire_bytes - 1);
        Time::from_ps(whole.as_ps().saturating_sub(last_byte.as_ps()))
    }

    pub(crate) fn ready(&mut self, input: ChannelId, lane: u8, packet: JourneyId) {
        self.input_mut(input).buffered_mut(lane, packet).is_ready = true;
        self.wake_switch(self.plan.ends(input).target.node);
    }

    // Phase 6: start.

    /// All outputs of a switch choose, if they are idle.
    fn wake_switch(&mut self, node: NodeId) {
        let outputs: Vec<_> = self.plan.fabric.channels_from(node).collect();
        for channel in outputs {
            self.timeline.cause(self.timeline.now, Event::Start { channel });
        }
    }

    /// Lets an idle output start a packet, if possible. Returns whether a packet is ready but none
    /// has credits.
    pub(crate) fn choose_at_switch(&mut self, channel: ChannelId) -> bool {
        let lanes = 0..self.plan.lanes.count;
        let candidates: Vec<_> = lanes.map(|lane| self.candidate(channel, lane)).collect();
        let head = |(lane, candidate): (u8, &Option<Waiting>)| {
            let buffered = self.waiting((*candidate)?);
            let length = u32::try_from(buffered.wire_bytes).expect("a packet is below 4 GiB");
            let head = Head { length_bytes: length, arrival_ps: buffered.came.as_ps() };
            self.outputs[channel.index()].has_space(lane, buffered.blocks).then_some(head)
        };
        let heads: Vec<_> = (0..).zip(&candidates).map(head).collect();
        if let Some(lane) = self.choose_lane(channel, &heads) {
            let chosen = candidates[usize::from(lane)].expect("a lane that can be chosen was");
            self.start_at_switch(channel, lane, chosen);
        }
        candidates.iter().any(Option::is_some) && heads.iter().all(Option::is_none)
    }

    /// The packet that would go on a lane of an output, whether there is space for it or not.
    fn candidate(&self, output: ChannelId, lane: u8) -> Option<Waiting> {
        for waiting in self.in_order(output, lane) {
            if self.can_be_read(waiting) {
                return Some(waiting);
            }
            if self.is_waited_for(waiting) {
                return None;
            }
        }
        None
    }

    fn can_be_read(&self, waiting: Waiting) -> bool {
        let is_busy = self.packets.read == Read::One && self.input(waiting.input).reading > 0;
        !is_busy && !self.is_held_back(waiting)
    }

    /// The lane that the arbiter of a channel chooses, of those that can be chosen: by lane, what
    /// would start there.
    pub(crate) fn choose_lane(&mut self, channel: ChannelId, heads: &[Option<Head>]) -> Option<u8> {
        let bit = |(lane, head): (usize, &Option<Head>)| u16::from(head.is_some()) << lane;
        let eligible = heads.iter().enumerate().map(bit).sum();
        let heads: Vec<Head> = heads.iter().map(|head| head.unwrap_or_default()).collect();
        self.outputs[channel.index()].arbiter.serve(eligible, &heads)
    }

    fn start_at_switch(&mut self, output: ChannelId, lane: u8, chosen: Waiting) {
        self.overtake(output, lane, chosen);
        let Waiting { input, lane: came_on, place } = chosen;
        let of_input = self.input_mut(input);
        of_input.reading += 1;
        let buffered = &mut of_input.lanes[usize::from(came_on)][place];
        buffered.has_started = true;
        let (packet, dateline_class) = (buffered.packet, buffered.dateline_class);
        self.keep_turn(output, lane, input);
        if self.endpoints.wanted().switched.are_stays() {
            let stay = self.stay(input, came_on, packet);
            let left = self.timeline.now + self.plan.channel(output).bytes.of(stay.wire_bytes);
            let packet = &mut self.journeys.get_mut(packet).packet;
            self.endpoints.tell(self.timeline.now, Notice::Forwarded { stay, left, packet });
        }
        self.go_on(packet, lane, dateline_class, Leaves::Input { channel: input, lane: came_on });
        // What was held back by it may go now, also on channels that have chosen before.
        self.wake_switch(self.plan.ends(output).source.node);
    }

    // Phase 7: settled.

    pub(crate) fn settle(&mut self, input: ChannelId, lane: u8, packet: JourneyId) {
        let stay = self.stay(input, lane, packet);
        let output = &self.outputs[stay.output.index()];
        let blocks = PacketsPlan::blocks(stay.wire_bytes);
        let has_space = !self.endpoints.wanted().switched.is_space()
            || stay.lanes.lanes().any(|lane| output.has_space(lane, blocks));
        self.endpoints.tell(self.timeline.now, Notice::Settled { stay, has_space });
    }

    /// The last packet of a lane of an output came by an input port.
    pub(crate) fn keep_turn(&mut self, output: ChannelId, lane: u8, input: ChannelId) {
        let port = usize::from(self.plan.ends(input).target.port);
        self.outputs[output.index()].last_port[usize::from(lane)] = Some(port);
    }

    /// A packet starts on the next channel of its path.
    pub(crate) fn go_on(
        &mut self,
        packet: JourneyId,
        lane: u8,
        dateline_class: DatelineClass,
        from: Leaves,
    ) {
        let journey = self.journeys.get_mut(packet);
        journey.position += 1;
        journey.dateline_class = dateline_class;
        self.start(packet, lane, from);
    }
}
