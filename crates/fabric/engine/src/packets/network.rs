//! Network between the hosts, and state shared by switches and hosts.

use crate::bits::Bits;
use crate::packets::buffer_fills::BufferFills;
use crate::packets::clock::Clock;
use crate::packets::credits::Credits;
use crate::packets::event::Event;
use crate::packets::flow_control::FlowControl;
use crate::packets::links::{DELIVER_FIFO, Line, Links};
use crate::packets::packet::{Moving, PacketId, Packets, Place};
use crate::packets::reading::is_plain;
use crate::packets::switches::LANES;
use crate::packets::switches::OutputBuffers;
use crate::packets::waiting::Waiting;
use gingham_fairq::Head;
use gingham_net::measure::ChannelCount;
use gingham_net::{
    ArbiterPlace, Endpoints, LaneArbiter, LaneBlocks, Notice, OutputLoad, PacketsPlan, Plan, Wanted,
};
use gingham_topology::routing::LaneSet;
use gingham_topology::{ChannelId, EndpointId, Fabric};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) plan: Arc<Plan>,
    pub(crate) packets_plan: Arc<PacketsPlan>,
    pub(crate) clock: Clock,
    pub(crate) endpoints: Endpoints,
    pub(crate) wanted: Wanted,
    pub(crate) packets: Packets,
    pub(crate) links: Links,
    pub(crate) credits: Credits,
    pub(crate) flow_control: FlowControl,
    pub(crate) output_buffers: Option<OutputBuffers>,
    /// Lane arbiter of each channel; empty if there is only one lane.
    pub(crate) arbiters: Vec<LaneArbiter>,
    pub(crate) waiting: Waiting,
    pub(crate) buffer_fills: BufferFills,
    /// Packets whose heads were read at the current time, if a mechanism needs them.
    pub(crate) read: Vec<gingham_net::Stay>,
    /// Channels whose counts may have changed since the last section.
    pub(crate) active: Bits,
    pub(crate) section_ps: u64,
    pub(crate) watched: Watched,
}

impl Network {
    pub(crate) fn new(plan: Arc<Plan>, packets_plan: Arc<PacketsPlan>) -> Self {
        let endpoints = Endpoints::new(Arc::clone(&plan));
        let channels = plan.channels.len();
        let wanted = endpoints.wanted();
        Self {
            clock: Clock::new(),
            wanted,
            endpoints,
            packets: Packets::default(),
            links: Links::new(&plan),
            credits: Credits::new(&plan, &packets_plan.buffer_blocks, |channel| {
                plan.channel(Fabric::reverse(channel)).delay + packets_plan.credit_delay
            }),
            flow_control: FlowControl::new(&plan, &packets_plan),
            output_buffers: OutputBuffers::new(&plan, &packets_plan),
            arbiters: arbiters(&plan),
            waiting: Waiting::new(channels, !is_plain(&packets_plan)),
            buffer_fills: BufferFills::new(channels, plan.lanes.count, wanted.read),
            read: Vec::new(),
            active: Bits::new(channels),
            section_ps: 0,
            watched: Watched::new(&plan, &packets_plan),
            packets_plan,
            plan,
        }
    }

    /// Notifies the endpoints. The caller must carry out the resulting orders before anything else.
    #[inline]
    pub(crate) fn notify(&mut self, notice: Notice<'_>) {
        self.endpoints.notify(self.clock.time(), notice);
    }

    #[inline]
    pub(crate) fn serve(
        &mut self,
        channel: ChannelId,
        eligible: u16,
        heads: &[Head; LANES],
    ) -> Option<u8> {
        match self.arbiters.get_mut(channel.index()) {
            None => (eligible == 1).then_some(0),
            Some(arbiter) => arbiter.serve(eligible, heads),
        }
    }

    /// Returns whether buffers have credits without losses, and nothing needs to be known of packets
    /// in the network.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.flow_control, FlowControl::Credits)
            && self.output_buffers.is_none()
            && !self.wanted.read
            && !self.wanted.switched.are_stays()
            && !self.watched.are_outputs()
    }

    #[inline]
    pub(crate) fn is_idle(&self, channel: ChannelId) -> bool {
        self.links.busy_until_ps(channel) <= self.clock.now()
    }
}

fn arbiters(plan: &Plan) -> Vec<LaneArbiter> {
    let arbiter = |channel| {
        let at_host = plan.has_place(ArbiterPlace::AdapterPort, channel);
        let of = if at_host { &plan.lanes.adapter_port } else { &plan.lanes.link_output };
        LaneArbiter::over(of, &plan.lanes)
    };
    let count = if plan.lanes.count > 1 { plan.channels.len() } else { 0 };
    ChannelId::first(count).map(arbiter).collect()
}

#[derive(Clone, Debug)]
pub(crate) struct Watched {
    free: Box<[Option<LaneSet>]>,
    gathered: Box<[ChannelId]>,
    /// Minimum number of free blocks of each lane for the lane to count as having space.
    space_blocks: LaneBlocks,
}

impl Watched {
    pub(crate) fn new(plan: &Plan, packets: &PacketsPlan) -> Self {
        let all = LaneSet::first_n(plan.lanes.count);
        let watched = plan.watched_outputs();
        Self {
            free: watched.into_iter().map(|is_watched| is_watched.then_some(all)).collect(),
            gathered: plan.gathered_channels().into(),
            space_blocks: plan.space_blocks(packets),
        }
    }

    #[inline]
    pub(crate) fn are_outputs(&self) -> bool {
        !self.free.is_empty()
    }
}

impl Network {
    /// Notifies the endpoints if a watched output lane gained or lost space. Lanes without space
    /// are checked again when more credits arrive.
    #[inline(never)]
    pub(crate) fn check_space(&mut self, output: ChannelId, lane: u8) {
        let reported = self.watched.free.get(output.index()).copied().flatten();
        let Some(reported) = reported else { return };
        let blocks = self.watched.space_blocks[usize::from(lane)];
        let has_space = self.has_blocks::<false>(output, lane, blocks);
        if has_space == reported.contains(lane) {
            return;
        }
        let free = LaneSet::from_bits(reported.bits() ^ LaneSet::one(lane).bits());
        self.watched.free[output.index()] = Some(free);
        self.notify(Notice::Lanes { output, free });
        self.carry_out();
    }

    /// Reports to the endpoints how many lane buffers between switches had no space just before the
    /// current time. The caller must carry out the resulting orders.
    #[inline(never)]
    pub(crate) fn notify_gathered(&mut self) {
        let before_ps = self.clock.now() - 1;
        let has_space = |channel: ChannelId, lane: u8| {
            if let Some(pauses) = self.flow_control.pauses() {
                return !pauses.is_paused(channel, lane);
            }
            let blocks = self.watched.space_blocks[usize::from(lane)];
            self.credits.free_until(channel, lane, before_ps) >= blocks
        };
        let lanes = 0..self.plan.lanes.count;
        let of_channel = |channel: &ChannelId| {
            lanes.clone().filter(|lane| !has_space(*channel, *lane)).count() as u64
        };
        let full = self.watched.gathered.iter().map(of_channel).sum();
        self.notify(Notice::Gathered { full });
    }
}

// Loads of outputs, for path selection.

impl Network {
    #[inline(never)]
    pub(crate) fn notify_loads(&mut self, endpoint: EndpointId) {
        let plan = Arc::clone(&self.plan);
        let loads: Vec<OutputLoad> =
            plan.first_outputs(endpoint).map(|output| self.load(output)).collect();
        self.notify(Notice::Loads { endpoint, loads: &loads });
    }

    fn load(&mut self, output: ChannelId) -> OutputLoad {
        let now = self.clock.now();
        let has_credits = self.links.is_into_switch(output) && self.flow_control.pauses().is_none();
        let lanes = (0..self.plan.lanes.count).filter(|_| has_credits);
        let credits_out = lanes.map(|lane| {
            let capacity = self.packets_plan.buffer_blocks[usize::from(lane)];
            u64::from(capacity - self.credits.free_now(output, lane, now))
        });
        let credits_out = credits_out.sum();
        let before_crossing = self.waiting.bytes(output, &self.packets);
        let crossed = self.output_buffers.as_ref().map_or(0, |of| of.bytes(output, &self.packets));
        OutputLoad { credits_out, waiting_bytes: before_crossing + crossed }
    }
}

// Traffic counts of channels, and buffer occupancy.
//
// A packet of W bytes that arrives at time a, and has left by time e, adds W (e - a) to the
// occupancy of its incoming channel when it starts to leave. For the occupancy up to time t, W (t -
// a) is added for each packet still in the buffer, and W (e - t) is subtracted for each packet that
// is leaving.

impl Network {
    pub(crate) fn counts(&self, begin_end: u64, end: u64) -> Vec<ChannelCount> {
        let channels = self.plan.channels.len();
        let present = self.present(end);
        let count = |channel| self.count(channel, [begin_end, end], &present);
        ChannelId::first(channels).map(count).collect()
    }

    pub(crate) fn counts_of_section(
        &mut self,
        end: u64,
        counts: &mut Vec<(ChannelId, ChannelCount)>,
    ) {
        let present = self.present(end);
        let begin = std::mem::replace(&mut self.section_ps, end);
        let mut active = std::mem::take(&mut self.active);
        counts.clear();
        active.retain(|index| {
            let channel = ChannelId::new(index);
            counts.push((channel, self.count(channel, [end, end], &present)));
            // A channel that was busy in this section is counted once more, in the next section.
            self.links.busy_until_ps(channel) > begin || !self.is_at_rest(channel, end)
        });
        self.active = active;
    }

    fn count(
        &self,
        channel: ChannelId,
        [begin_end, end_ps]: [u64; 2],
        present: &[i128],
    ) -> ChannelCount {
        let left = self.credits.occupancy(channel).cast_signed();
        let area = left + present[channel.index()];
        let pauses = self.flow_control.pauses();
        let credit_wait = || (0, self.links.credit_wait_ps(channel, end_ps));
        let (stops, stopped_ps) =
            pauses.map_or_else(credit_wait, |of| of.pauses_of(channel, end_ps));
        ChannelCount {
            stops,
            stopped_ps,
            data_flits: self.links.bytes_before(channel, begin_end),
            occupancy_flit_ps: u128::try_from(area).expect("a packet leaves after it came"),
            ..ChannelCount::default()
        }
    }

    /// Returns, for each channel, the occupancy up to `end` minus the occupancy that was already
    /// added for packets that have started to leave.
    fn present(&self, end: u64) -> Vec<i128> {
        let mut areas = vec![0_i128; self.plan.channels.len()];
        for (_, packet) in self.packets.in_inputs() {
            let stay_ps = end.saturating_sub(packet.came_ps);
            areas[packet.input.index()] += i128::from(packet.wire_bytes) * i128::from(stay_ps);
        }
        for channel in self.active.iter().map(ChannelId::new) {
            let early_ps = self.links.busy_until_ps(channel).saturating_sub(end);
            if early_ps == 0 {
                continue;
            }
            let Some(input) = self.links.came_by(channel) else { continue };
            let (wire_bytes, _) = self.links.last(channel);
            areas[input.index()] -= i128::from(wire_bytes) * i128::from(early_ps);
        }
        for (input, wire_bytes, early_ps) in
            self.output_buffers.iter().flat_map(|buffers| buffers.staying(end))
        {
            areas[input.index()] -= i128::from(wire_bytes) * i128::from(early_ps);
        }
        areas
    }

    /// Returns whether only a packet start on the channel can change its counts after `end`.
    fn is_at_rest(&self, channel: ChannelId, end: u64) -> bool {
        if self.links.busy_until_ps(channel) > end || !self.links.is_into_switch(channel) {
            return self.links.busy_until_ps(channel) <= end;
        }
        if let Some(pauses) = self.flow_control.pauses() {
            return pauses.is_at_rest(channel, end);
        }
        let is_free = |lane: u8| {
            let blocks = self.packets_plan.buffer_blocks[usize::from(lane)];
            self.credits.free_until(channel, lane, end) == blocks
        };
        (0..self.plan.lanes.count).all(is_free)
    }
}

#[inline]
pub(crate) fn blocks_of(wire_bytes: u32) -> u32 {
    let blocks = PacketsPlan::blocks(wire_bytes.into());
    u32::try_from(blocks).expect("fewer blocks than bytes")
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Stay {
    pub(crate) input: ChannelId,
    pub(crate) lane: u8,
    pub(crate) wire_bytes: u32,
    pub(crate) came_ps: u64,
}

impl From<&Moving> for Stay {
    #[inline]
    fn from(packet: &Moving) -> Self {
        let Moving { input, lane, wire_bytes, came_ps, .. } = *packet;
        Self { input, lane, wire_bytes, came_ps }
    }
}

impl Network {
    /// Starts a packet on an idle channel with enough space; `from` is its incoming channel if a
    /// switch forwards it. Returns the packet's stay in the previous buffer, and the time when its
    /// tail will have left, in ps.
    ///
    /// With `PLAIN`, [`Self::is_plain`] must hold.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn start<const PLAIN: bool>(
        &mut self,
        id: PacketId,
        (channel, lane): (ChannelId, u8),
        from: impl FnOnce(&Stay) -> Option<ChannelId>,
    ) -> (Stay, u64) {
        let Self {
            plan, packets_plan, clock, packets, links, credits, flow_control, active, ..
        } = self;
        let now = clock.now();
        let packet = packets.get_mut(id);
        let stay = Stay::from(&*packet);
        let wire_bytes = stay.wire_bytes;
        let sender = links.sender_mut(channel);
        let Line { bytes, delay_ps, target, is_into_switch, ready_fifo } = sender.line;
        let span_ps = bytes.of(wire_bytes.into()).as_ps();
        let (end_ps, arrival_ps) = (now + span_ps, now + delay_ps);
        sender.begin(wire_bytes, end_ps, from(&stay));
        packet.came_ps = arrival_ps;
        active.insert(channel.index());
        if !is_into_switch {
            packet.place = Place::Leaving;
            let event = Event::Deliver { channel, packet: id };
            clock.schedule_after_delay(DELIVER_FIFO, arrival_ps + span_ps, event);
            return (stay, end_ps);
        }
        let head_ps = sender.read_head(arrival_ps, packets_plan);
        packet.come(plan, (channel, lane), target);
        assert!(!packet.lanes.is_empty(), "no packet is sent that would be dropped");
        let output = packet.output;
        match flow_control {
            FlowControl::Pauses(pauses) if !PLAIN => {
                let whole_ps = arrival_ps + bytes.of(1).as_ps();
                pauses.come((channel, lane), wire_bytes, whole_ps, clock);
            }
            _ => credits.take(channel, lane, blocks_of(wire_bytes)),
        }
        if !PLAIN && self.wanted.read {
            // The endpoint may divert the packet when its head is read, which changes the ready
            // time.
            self.buffer_fills.come(channel, lane, wire_bytes, arrival_ps);
            clock.schedule(head_ps, Event::Read { channel, packet: id });
        } else {
            let last_ps = arrival_ps + span_ps;
            let dry_ps = links.never_dry_ps((channel, output), wire_bytes, last_ps);
            let event = Event::Ready { channel, packet: id };
            clock.schedule_after_delay(ready_fifo, head_ps.max(dry_ps), event);
            if !PLAIN && dry_ps > head_ps && self.wanted.switched.are_stays() {
                clock.schedule(head_ps, Event::Read { channel, packet: id });
            }
        }
        if !PLAIN && self.watched.are_outputs() {
            self.check_space(channel, lane);
        }
        (stay, end_ps)
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn leave_buffer<const PLAIN: bool>(&mut self, of: Stay, end_ps: u64) {
        let Stay { input, lane, wire_bytes, came_ps } = of;
        let stay_ps = end_ps - came_ps;
        if !PLAIN && self.wanted.read {
            let times = (self.clock.now(), end_ps);
            self.buffer_fills.leave(input, lane, wire_bytes, times);
        }
        let Self { flow_control, credits, clock, .. } = self;
        match flow_control {
            FlowControl::LossyCredits(_) if !PLAIN => {
                credits.occupy(input, lane, wire_bytes, stay_ps);
                self.free_at(input, lane, blocks_of(wire_bytes), end_ps);
            }
            FlowControl::Pauses(pauses) if !PLAIN => {
                credits.occupy(input, lane, wire_bytes, stay_ps);
                pauses.leave((input, lane), wire_bytes, end_ps, clock);
            }
            _ => credits.leave(input, lane, (wire_bytes, stay_ps), end_ps, clock),
        }
    }
}
