//! Lane pauses (PFC) instead of credits: the fill level of each buffer, and its requested and
//! active pauses.
//!
//! ```text
//!   fill 320 B      coming  +64 at 7 us          checked when an arrival may raise the fill above
//!                   going   -64 at 9 us          `pause` and, while a pause is requested, at each
//!                                                departure
//! ```
//!
//! Arrival and departure times are known in advance, so future fill levels can be computed.
//!
//! Invariant: no buffer overflows.

use crate::packets::clock::Clock;
use crate::packets::event::Event;
use crate::packets::network::Network;
use crate::packets::packet::{Moving, PacketId, Place};
use gingham_kernel::Time;
use gingham_net::{BLOCK_BYTES, Notice, PacketsPlan, PausesPlan, Plan, Stay};
use gingham_topology::{ChannelId, Fabric};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Change {
    time_ps: u64,
    bytes: u64,
}

#[derive(Clone, Debug, Default)]
struct LanePause {
    fill_bytes: u64,
    coming: VecDeque<Change>,
    going: Vec<Change>,
    /// Whether the receiver's last request was to pause rather than to resume.
    is_asked: bool,
    is_paused: bool,
    in_flight: u32,
    /// Whether the sender has a packet to start once the pause ends.
    is_awaited: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct ReceivedPauses {
    pauses: u64,
    paused_lanes: u32,
    since_ps: u64,
    past_ps: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Pauses {
    plan: PausesPlan,
    lane_count: usize,
    lanes: Vec<LanePause>,
    received: Vec<ReceivedPauses>,
    holds_bytes: Vec<u64>,
    /// Delay from a pause or resume request until it takes effect, for each channel, in ps.
    effect_delay_ps: Vec<u64>,
}

impl LanePause {
    fn settle(&mut self, now: u64) {
        while let Some(change) = self.coming.front().filter(|change| change.time_ps <= now) {
            self.fill_bytes += change.bytes;
            self.coming.pop_front();
        }
        self.going.retain(|change| {
            let is_over = change.time_ps <= now;
            self.fill_bytes -= if is_over { change.bytes } else { 0 };
            !is_over
        });
    }

    /// Returns the number of bytes in the buffer or on their way to it, excluding bytes that leave
    /// by `time_ps`.
    fn taken_bytes(&self, time_ps: u64) -> u64 {
        let coming: u64 = self.coming.iter().map(|change| change.bytes).sum();
        let gone = self.going.iter().filter(|change| change.time_ps <= time_ps);
        self.fill_bytes + coming - gone.map(|change| change.bytes).sum::<u64>()
    }
}

impl Pauses {
    pub(crate) fn new(plan: &Plan, packets: &PacketsPlan) -> Option<Self> {
        let pauses = packets.pauses.clone()?;
        let lane_count = usize::from(plan.lanes.count);
        let blocks = packets.buffer_blocks[..lane_count].iter();
        let effect_delay = |channel: ChannelId| {
            pauses.effect_delay(plan.channel(Fabric::reverse(channel))).as_ps()
        };
        let channels = plan.channels.len();
        Some(Self {
            lane_count,
            lanes: vec![LanePause::default(); channels * lane_count],
            received: vec![ReceivedPauses::default(); channels],
            holds_bytes: blocks.map(|of| u64::from(*of) * u64::from(BLOCK_BYTES)).collect(),
            effect_delay_ps: ChannelId::first(channels).map(effect_delay).collect(),
            plan: pauses,
        })
    }

    fn place(&self, channel: ChannelId, lane: u8) -> usize {
        channel.index() * self.lane_count + usize::from(lane)
    }

    fn lane(&self, channel: ChannelId, lane: u8) -> &LanePause {
        &self.lanes[self.place(channel, lane)]
    }

    fn lane_mut(&mut self, channel: ChannelId, lane: u8) -> &mut LanePause {
        let place = self.place(channel, lane);
        &mut self.lanes[place]
    }

    pub(crate) fn come(
        &mut self,
        (channel, lane): (ChannelId, u8),
        wire_bytes: u32,
        time_ps: u64,
        clock: &mut Clock,
    ) {
        let pause_bytes = self.plan.pause_bytes[usize::from(lane)];
        let of = self.lane_mut(channel, lane);
        of.settle(clock.now());
        of.coming.push_back(Change { time_ps, bytes: wire_bytes.into() });
        if of.taken_bytes(time_ps) > pause_bytes {
            clock.schedule(time_ps, Event::CheckBuffer { channel, lane });
        }
    }

    pub(crate) fn leave(
        &mut self,
        (channel, lane): (ChannelId, u8),
        wire_bytes: u32,
        time_ps: u64,
        clock: &mut Clock,
    ) {
        let of = self.lane_mut(channel, lane);
        of.settle(clock.now());
        of.going.push(Change { time_ps, bytes: wire_bytes.into() });
        if of.is_asked {
            clock.schedule(time_ps, Event::CheckBuffer { channel, lane });
        }
    }

    pub(crate) fn check_buffer(&mut self, channel: ChannelId, lane: u8, clock: &mut Clock) {
        let [pause_bytes, resume_bytes] =
            [&self.plan.pause_bytes, &self.plan.resume_bytes].map(|marks| marks[usize::from(lane)]);
        let received_ps = clock.now() + self.effect_delay_ps[channel.index()];
        let holds_bytes = self.holds_bytes[usize::from(lane)];
        let of = self.lane_mut(channel, lane);
        of.settle(clock.now());
        assert!(of.fill_bytes <= holds_bytes, "marks leave the headroom");
        let is_pause = of.fill_bytes > if of.is_asked { resume_bytes } else { pause_bytes };
        if is_pause == of.is_asked {
            return;
        }
        of.is_asked = is_pause;
        of.in_flight += 1;
        clock.schedule(received_ps, Event::PauseReceived { channel, lane, is_pause });
        if is_pause {
            for change in &of.going {
                clock.schedule(change.time_ps, Event::CheckBuffer { channel, lane });
            }
        }
    }

    /// Applies a pause or resume request. Returns whether the sender was waiting for the lane and
    /// may start a packet now.
    pub(crate) fn receive_pause(
        &mut self,
        channel: ChannelId,
        lane: u8,
        is_pause: bool,
        now: u64,
    ) -> bool {
        let of = self.lane_mut(channel, lane);
        of.in_flight -= 1;
        debug_assert_ne!(of.is_paused, is_pause, "each request changes the pause state");
        of.is_paused = is_pause;
        let was_awaited = !is_pause && std::mem::take(&mut of.is_awaited);
        let received = &mut self.received[channel.index()];
        received.past_ps = received.paused_ps(now);
        received.since_ps = now;
        if is_pause {
            received.pauses += 1;
            received.paused_lanes += 1;
        } else {
            received.paused_lanes -= 1;
        }
        was_awaited
    }

    /// Returns whether a packet may start. Otherwise marks the sender as waiting.
    pub(crate) fn may_start(&mut self, channel: ChannelId, lane: u8) -> bool {
        let of = self.lane_mut(channel, lane);
        of.is_awaited |= of.is_paused;
        !of.is_paused
    }

    pub(crate) fn is_paused(&self, channel: ChannelId, lane: u8) -> bool {
        self.lane(channel, lane).is_paused
    }

    /// Returns whether the lane stays paused until the buffer at the end of the channel empties.
    pub(crate) fn is_held(&self, channel: ChannelId, lane: u8) -> bool {
        let of = self.lane(channel, lane);
        of.is_asked && of.in_flight == 0
    }

    pub(crate) fn taken_bytes(&self, channel: ChannelId, lane: u8, time_ps: u64) -> u64 {
        self.lane(channel, lane).taken_bytes(time_ps)
    }

    pub(crate) fn pauses_of(&self, channel: ChannelId, end_ps: u64) -> (u64, u64) {
        let received = &self.received[channel.index()];
        (received.pauses, received.paused_ps(end_ps))
    }

    /// Returns whether the buffers are empty at `end_ps`, and no lane is or will be paused.
    pub(crate) fn is_at_rest(&self, channel: ChannelId, end_ps: u64) -> bool {
        let first = self.place(channel, 0);
        self.lanes[first..first + self.lane_count].iter().all(|of| {
            of.taken_bytes(end_ps) == 0 && !of.is_asked && !of.is_paused && of.in_flight == 0
        })
    }
}

impl ReceivedPauses {
    fn paused_ps(&self, end_ps: u64) -> u64 {
        self.past_ps + if self.paused_lanes > 0 { end_ps - self.since_ps } else { 0 }
    }
}

impl Network {
    pub(crate) fn check_buffer(&mut self, channel: ChannelId, lane: u8) {
        let pauses = self.flow_control.pauses_mut();
        pauses.check_buffer(channel, lane, &mut self.clock);
    }

    /// Applies a pause or resume request. Afterwards a switch always tries to start a packet, a
    /// host only if it was waiting for the lane.
    pub(crate) fn receive_pause(
        &mut self,
        channel: ChannelId,
        lane: u8,
        is_pause: bool,
        is_host: bool,
    ) {
        let pauses = self.flow_control.pauses_mut();
        let was_awaited = pauses.receive_pause(channel, lane, is_pause, self.clock.now());
        if was_awaited || !is_host {
            self.clock.start(channel);
        }
    }
}

impl From<&Moving> for Stay {
    fn from(packet: &Moving) -> Self {
        let Moving { input, lane, came_ps, wire_bytes, output, lanes, .. } = *packet;
        let came = Time::from_ps(came_ps);
        Self { input, lane, came, wire_bytes: wire_bytes.into(), output, lanes }
    }
}

impl Network {
    /// Notifies the endpoints that a head was read, and schedules the event that makes the packet
    /// ready. The ready time is known only now because the endpoints may divert the packet.
    #[inline(never)]
    pub(crate) fn notify_read(&mut self, id: PacketId, input: ChannelId) {
        let Self { plan, clock, endpoints, packets, links, buffer_fills, .. } = self;
        let (now, moving) = (clock.now(), packets.get_mut(id));
        let waiting_flits = buffer_fills.bytes(input, moving.lane, now);
        let at = (input, moving.lane);
        let diverted = endpoints.read(clock.time(), at, waiting_flits, &mut moving.packet);
        if let Some(into_end) = diverted {
            moving.divert(plan, into_end);
        }
        let last_ps = moving.came_ps + links.line(input).bytes.of(moving.wire_bytes.into()).as_ps();
        let channels = (input, moving.output);
        let ready_ps = now.max(links.never_dry_ps(channels, moving.wire_bytes, last_ps));
        clock.schedule(ready_ps, Event::Ready { channel: input, packet: id });
    }

    /// Notifies the endpoints that a packet was queued, unless they have already been notified.
    #[inline(never)]
    pub(crate) fn notify_queued(&mut self, id: PacketId) {
        let packet = self.packets.get_mut(id);
        if packet.place != Place::Coming {
            return;
        }
        packet.place = Place::Read;
        let stay = Stay::from(&*packet);
        self.notify(Notice::Queued { stay });
        self.read.push(stay);
    }

    #[inline(never)]
    pub(crate) fn notify_forwarded(&mut self, id: PacketId, output: ChannelId) {
        let moving = self.packets.get_mut(id);
        let stay = Stay::from(&*moving);
        let now = self.clock.time();
        let left = now + self.links.line(output).bytes.of(stay.wire_bytes);
        let packet = &mut moving.packet;
        self.endpoints.notify(now, Notice::Forwarded { stay, left, packet });
    }

    #[inline(never)]
    pub(crate) fn notify_settled(&mut self) {
        if self.read.len() == 1 {
            let stay = self.read.pop().expect("there is one");
            return self.notify_one_settled(stay);
        }
        let mut read = std::mem::take(&mut self.read);
        read.sort_unstable_by_key(|stay| stay.input);
        for stay in read.drain(..) {
            self.notify_one_settled(stay);
        }
        self.read = read;
    }

    #[inline]
    fn notify_one_settled(&mut self, stay: Stay) {
        let has_space = !self.wanted.switched.is_space() || self.has_space_for(&stay);
        self.notify(Notice::Settled { stay, has_space });
    }

    fn has_space_for(&mut self, stay: &Stay) -> bool {
        let Self { links, credits, flow_control, clock, .. } = self;
        if !links.is_into_switch(stay.output) {
            return true;
        }
        let blocks = PacketsPlan::blocks(stay.wire_bytes);
        stay.lanes.lanes().any(|lane| match flow_control.pauses() {
            Some(pauses) => !pauses.is_paused(stay.output, lane),
            None => u64::from(credits.free_now(stay.output, lane, clock.now())) >= blocks,
        })
    }
}
