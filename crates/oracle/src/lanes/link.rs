//! Stage 5, link traversal: an arbiter chooses among the lanes of an output, and the channel behind
//! it takes the flit.

use crate::lanes::clock::Tick;
use crate::lanes::event::{Event, Flit};
use crate::lanes::ports::{BufferedFlit, Credits};
use crate::lanes::simulation::Simulation;
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_topology::{ChannelId, NodeId};

impl Simulation {
    /// Every output channel of a switch that may take a flit chooses among its lanes.
    pub(crate) fn traverse_links(&mut self, node: NodeId) {
        let tick = self.tick();
        for channel in self.channels_from(node) {
            let waits = self.may_take(channel, tick) && self.traverse_link(channel, tick);
            self.set_credit_wait(channel, waits, tick);
        }
    }

    /// Returns whether the channel takes nothing for want of credits.
    fn traverse_link(&mut self, channel: ChannelId, tick: Tick) -> bool {
        let candidates: Vec<_> =
            (0..self.plan.lanes.count).map(|lane| self.can_leave(channel, lane, tick)).collect();
        let lacks_credits = self.lacks_credits(channel, &candidates, tick);
        let output = &mut self.outputs[channel.index()];
        let Some(lane) = output.chooser.choose(&candidates) else { return lacks_credits };
        let first = output.lane_mut(lane).buffer.pop_front().expect("a flit stands first");
        let flit = first.flit;
        let is_tail = self.journeys.get(flit.packet).is_tail(flit.index);
        output.chooser.sent(lane, is_tail);
        if self.lane_plan.cut_through.contains(lane) {
            output.lane_mut(lane).keep_promise();
        }
        self.take_flit(channel, lane, flit, tick);
        false
    }

    /// The first flit of an output lane, if it crossed before this tick and there is a credit for
    /// it.
    fn can_leave(&self, channel: ChannelId, lane: u8, tick: Tick) -> Option<Head> {
        let output = &self.outputs[channel.index()];
        let first = output.lane(lane).buffer.front().filter(|first| first.since < tick)?;
        let by_packet = output.chooser.is_by_packet();
        output.lane(lane).has_credit().then(|| self.head_of(first, by_packet))
    }

    /// What an arbiter sees of a flit, or of the packet that begins with it.
    pub(crate) fn head_of(&self, first: &BufferedFlit, by_packet: bool) -> Head {
        let flits = if by_packet { self.journeys.get(first.flit.packet).flits } else { 1 };
        let arrival_ps = self.clock.instant(first.since).as_ps();
        Head { length_bytes: self.bytes(flits), arrival_ps }
    }

    pub(crate) fn bytes(&self, flits: u64) -> u32 {
        u32::try_from(self.lane_plan.wire_bytes(flits)).expect("a packet has less than 4 GiB")
    }

    // The channel.

    /// Whether a channel may take a flit at a tick.
    pub(crate) fn may_take(&self, channel: ChannelId, tick: Tick) -> bool {
        self.outputs[channel.index()].free < self.clock.instant(tick + 1)
    }

    /// When a flit begins that a channel takes at a tick.
    pub(crate) fn begins(&self, channel: ChannelId, tick: Tick) -> Time {
        self.clock.instant(tick).max(self.outputs[channel.index()].free)
    }

    /// A channel takes a flit, and the flit a credit of its lane.
    pub(crate) fn take_flit(&mut self, channel: ChannelId, lane: u8, flit: Flit, tick: Tick) {
        assert!(self.may_take(channel, tick), "a channel takes one flit at a time");
        let begins = self.begins(channel, tick);
        let left = begins + self.plan.channel(channel).flit;
        let arrives = left + self.plan.channel(channel).delay;
        let output = &mut self.outputs[channel.index()];
        output.free = left;
        let credits = &mut output.lane_mut(lane).credits;
        if let Some(credits) = credits {
            credits.here = credits.here.checked_sub(1).expect("a flit has a credit");
        }
        let has_buffer = credits.is_some();
        self.timeline.cause(begins, Event::Begin { channel, flit });
        if has_buffer {
            let is_switch = self.plan.is_switch(self.plan.ends(channel).target.node);
            let cycles = if is_switch { self.lane_plan.pipeline_cycles } else { 0 };
            let there = self.clock.first_from(arrives) + u64::from(cycles);
            let there = self.clock.instant(there);
            self.timeline.cause(there, Event::FlitIsThere { channel, lane, flit });
        } else {
            self.timeline.cause(arrives, Event::FlitArrives { channel, flit });
        }
    }

    // Stage 1.

    pub(crate) fn flit_is_there(&mut self, channel: ChannelId, lane: u8, flit: Flit) {
        let (now, tick) = (self.timeline.now, self.tick());
        let depth = self.lane_plan.depths_flits[usize::from(lane)];
        let input = self.inputs[channel.index()].as_mut().expect("the channel has lane buffers");
        input.enter(lane, flit, tick, now);
        assert!(input.lane(lane).fill() <= depth as usize, "a lane buffer overflowed");
        if self.ends_at_host(channel) {
            self.timeline.cause(now, Event::Receive { channel });
        } else {
            self.wake_switch(self.plan.ends(channel).target.node, tick);
        }
    }

    /// A flit has left a lane buffer at this tick: its credit goes back.
    pub(crate) fn return_credit(&mut self, channel: ChannelId, lane: u8) {
        let cycles = self.lane_plan.credit_cycles(self.plan.channel(channel));
        let counts = self.clock.instant(self.tick() + cycles);
        self.credits_mut(channel, lane).on_their_way += 1;
        self.timeline.cause(counts, Event::Credit { channel, lane });
    }

    pub(crate) fn credit(&mut self, channel: ChannelId, lane: u8) {
        let credits = self.credits_mut(channel, lane);
        credits.on_their_way -= 1;
        credits.here += 1;
    }

    fn credits_mut(&mut self, channel: ChannelId, lane: u8) -> &mut Credits {
        let credits = &mut self.outputs[channel.index()].lane_mut(lane).credits;
        credits.as_mut().expect("a lane buffer has credits")
    }
}
