//! Links: both ends of every channel, and the flits in between.
//!
//! Links do not call switches or hosts, which read heads, arbitrate, and report the results to
//! links.

mod ejection;
mod flow;
mod input;
mod marks;
mod ports;
mod sender;

use crate::bits::Bits;
use crate::wormhole::clock::Clock;
use crate::wormhole::event::Event;
use crate::wormhole::worm::{Incoming, WormId, Worms};
use ejection::Ejection;
use gingham_net::congestion::{Onward, Waiter};
use gingham_net::measure::ChannelCount;
use gingham_net::{Plan, Wait, WaitForGraph, WhenFull};
use gingham_topology::{ChannelId, Fabric};
pub(crate) use input::End;
use input::{Head, Input};
use sender::{Left, Sender};

#[derive(Clone, Debug)]
pub(crate) struct Links {
    senders: Vec<Sender>,
    /// Input at the end of each channel; `None` at a host that accepts every flit.
    inputs: Vec<Option<Input>>,
    /// Host end of each channel; `None` at a switch. Empty if no path visits a host and no host has
    /// a port.
    ejections: Vec<Option<Ejection>>,
    changed: Vec<ChannelId>,
    counts: Vec<ChannelCount>,
    touched: Bits,
    section_counts: Vec<(ChannelId, ChannelCount)>,
    /// For each channel, whether hosts are informed when it is taken or released; empty if no
    /// channel is watched.
    watched: Box<[bool]>,
    taken: Vec<ChannelId>,
}

impl Links {
    pub(crate) fn new(plan: &Plan) -> Self {
        let channels = || ChannelId::first(plan.channels.len());
        let has_ports = plan.in_transit.when_full == WhenFull::Stop;
        let ejections = if has_ports || plan.routing.has_in_transit_hosts() {
            let host = |channel| plan.fabric.endpoint_at(plan.ends(channel).target);
            channels().map(|channel| host(channel).map(Ejection::new)).collect()
        } else {
            Vec::new()
        };
        let input = |channel| {
            let is_switch = plan.is_switch(plan.ends(channel).target.node);
            let end = if is_switch { End::Switch } else { End::Port };
            Some(Input::new(plan.channel(channel).slack?, end))
        };
        Self {
            senders: plan.channels.iter().map(Sender::new).collect(),
            inputs: channels().map(input).collect(),
            ejections,
            changed: Vec::new(),
            counts: vec![ChannelCount::default(); plan.channels.len()],
            touched: Bits::new(plan.channels.len()),
            section_counts: Vec::new(),
            watched: plan.watched_outputs().into(),
            taken: Vec::new(),
        }
    }

    pub(crate) fn may_go_on(&self) -> bool {
        !self.ejections.is_empty()
    }

    pub(crate) fn is_held(&self, channel: ChannelId) -> bool {
        self.senders[channel.index()].worm.is_some()
    }

    fn input(&self, channel: ChannelId) -> &Input {
        self.inputs[channel.index()].as_ref().expect("the channel ends at an input")
    }

    pub(crate) fn input_mut(&mut self, channel: ChannelId) -> &mut Input {
        self.inputs[channel.index()].as_mut().expect("the channel ends at an input")
    }

    pub(crate) fn end(&self, channel: ChannelId) -> End {
        self.inputs[channel.index()].as_ref().map_or(End::Host, |input| input.end)
    }

    pub(crate) fn begin(
        &mut self,
        clock: &mut Clock,
        worms: &Worms,
        channel: ChannelId,
        worm: Incoming,
        ready: u64,
    ) {
        self.touch(channel);
        let first = self.senders[channel.index()].begin(&worm, ready);
        let worm = Incoming { first, ..worm };
        if let Some(input) = self.inputs[channel.index()].as_mut() {
            input.incoming.push_back(worm);
        } else if !self.ejections.is_empty() {
            self.await_transit(worms, channel, worm);
        }
        self.extend(clock, channel);
    }

    /// Removes and returns the next worm if its head has arrived and can be read now.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn read_head(&mut self, channel: ChannelId, now: u64) -> Option<Incoming> {
        let input = &mut self.inputs[channel.index()];
        let incoming = match input {
            Some(input) if input.head == Head::Idle => &mut input.incoming,
            Some(_) => return None,
            None => &mut self.ejections[channel.index()].as_mut()?.incoming,
        };
        let worm = *incoming.front()?;
        let arrival = self.senders[channel.index()].arrival_of(worm.first);
        if arrival.is_none_or(|arrival| arrival > now) {
            return None;
        }
        incoming.pop_front();
        if let Some(input) = input {
            debug_assert_eq!(input.taken, worm.first, "the worm before has left");
            input.current = Some(worm);
        }
        Some(worm)
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn route(
        &mut self,
        channel: ChannelId,
        output: ChannelId,
        is_stripped: bool,
        now: u64,
    ) {
        let input = self.inputs[channel.index()].as_mut().expect("a switch input");
        input.route(output, is_stripped, now);
        if !std::mem::replace(&mut input.changed, true) {
            self.changed.push(channel);
        }
    }

    pub(crate) fn connect(&mut self, channel: ChannelId, output: ChannelId) -> Incoming {
        let input = self.inputs[channel.index()].as_mut().expect("a switch input");
        let sender = &mut self.senders[output.index()];
        input.head = Head::Connected;
        input.taken_sum -= sender.schedule.sum();
        sender.feed_by(channel, input.taken);
        self.senders[channel.index()].feeds = Some(output);
        input.current.expect("the header was read")
    }

    pub(crate) fn release(&mut self, clock: &mut Clock, channel: ChannelId) -> Option<Left> {
        let left = self.senders[channel.index()].release(clock.now());
        if left.is_none() {
            self.schedule_release(clock, channel);
        }
        left
    }

    /// Disconnects a worm that has left. Returns the feeding channel if it ends at a switch input,
    /// which is now free.
    pub(crate) fn disconnect(&mut self, left: &Left) -> Option<ChannelId> {
        let channel = left.feeder?;
        let feeder = &mut self.senders[channel.index()];
        feeder.feeds = None;
        let input = self.inputs[channel.index()].as_mut().filter(|input| !input.is_at_host())?;
        input.close(input.taken + left.flits, left.sum);
        feeder.schedule.forget_before(input.taken);
        Some(channel)
    }

    pub(crate) fn fill(&self, channel: ChannelId, now: u64) -> u64 {
        self.arrived(channel, now) - self.gone(channel, now)
    }

    /// Returns whether the buffer requires STOP and its fill level was above STOP just before
    /// `now`.
    pub(crate) fn was_above_stop(&self, channel: ChannelId, now: u64) -> bool {
        let input = self.input(channel);
        input.wants_stop && self.fill(channel, now - 1) > u64::from(input.slack.stop)
    }

    #[inline]
    pub(crate) fn note_taken(&mut self, output: ChannelId) {
        if self.watched.get(output.index()) == Some(&true) {
            self.taken.push(output);
        }
    }

    #[inline]
    pub(crate) fn has_taken(&self) -> bool {
        !self.taken.is_empty()
    }

    pub(crate) fn next_taken(&mut self) -> Option<ChannelId> {
        self.taken.pop()
    }

    fn arrived(&self, channel: ChannelId, now: u64) -> u64 {
        self.senders[channel.index()].arrived_by(now)
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    fn gone(&self, channel: ChannelId, now: u64) -> u64 {
        let input = self.input(channel);
        if input.is_at_host() {
            return self.gone_from_port(channel, now);
        }
        let Some(output) = self.senders[channel.index()].feeds else { return input.taken };
        input.taken + self.senders[output.index()].sent_by(now)
    }

    pub(crate) fn assert_invariants(&self, now: u64) {
        for channel in ChannelId::first(self.senders.len()) {
            let Some(input) = &self.inputs[channel.index()] else { continue };
            let fill = self.fill(channel, now);
            assert!(fill <= u64::from(input.slack.capacity), "a slack buffer holds {fill} flits");
        }
        for sender in &self.senders {
            if let Some(feeder) = sender.feeder {
                sender.assert_fed(&self.senders[feeder.index()]);
            }
        }
    }
}

// Wait-for graph; [`WaitCycle`](gingham_net::WaitCycle) defines deadlock.

impl Links {
    pub(crate) fn wait_for_graph(&self) -> WaitForGraph {
        // Channels that have stayed at rest cannot have a waiting worm.
        let wait = |channel| {
            let channel = ChannelId::new(channel);
            Some((channel.into(), Wait::one(self.waits_for(channel)?)))
        };
        self.touched.iter().filter_map(wait).collect()
    }

    fn waits_for(&self, channel: ChannelId) -> Option<ChannelId> {
        match self.inputs[channel.index()].as_ref()?.head {
            Head::Idle | Head::Routing { .. } | Head::Open => None,
            Head::Waiting { output } => self.senders[output.index()].feeder,
            Head::Connected => self.stopped_by(self.senders[channel.index()].feeds?),
            Head::Full { .. } => self.stopped_by(Fabric::reverse(channel)),
        }
    }

    fn stopped_by(&self, channel: ChannelId) -> Option<ChannelId> {
        let blocker = self.inputs[channel.index()].as_ref()?;
        let is_stopped = self.senders[channel.index()].stopped_since.is_some();
        (is_stopped && blocker.wants_stop && blocker.announced_stop).then_some(channel)
    }
}

impl Links {
    pub(crate) fn waiters(&self, worms: &Worms, now: u64) -> Vec<Waiter> {
        let mut found = Vec::new();
        for channel in ChannelId::first(self.inputs.len()) {
            let Some(input) = &self.inputs[channel.index()] else { continue };
            let Some(output) = self.output_of(channel, input) else { continue };
            let waiter =
                |worm, onward| Waiter::in_buffer(channel.into(), &worms.get(worm).packet, onward);
            found.push(waiter(input.worm(), Some(self.onward(output))));
            let arrived = self.arrived(channel, now.saturating_sub(1));
            let behind = input.incoming.iter().take_while(|worm| worm.first < arrived);
            found.extend(behind.map(|worm| waiter(worm.worm, None)));
        }
        found
    }

    /// Returns the output requested by the worm in an input, or by a worm that waits for pool space
    /// at a host.
    fn output_of(&self, channel: ChannelId, input: &Input) -> Option<ChannelId> {
        match input.head {
            Head::Idle | Head::Open => None,
            Head::Routing { output } | Head::Waiting { output } => Some(output),
            Head::Connected => self.senders[channel.index()].feeds,
            Head::Full { .. } => Some(Fabric::reverse(channel)),
        }
    }

    pub(crate) fn onward(&self, output: ChannelId) -> Onward {
        Onward::by_channel(output, self.senders[output.index()].stopped_since.is_some())
    }

    pub(crate) fn holder(&self, channel: ChannelId) -> Option<WormId> {
        self.senders[channel.index()].worm
    }
}

// Cumulative channel counts, computed from the runs of flits.
//
// STOPs and control flits are counted as they happen, data flits from the schedule. Occupancy is
// the integral of the fill level over time:
//
// ```text
//   fill       ┌──┐  ┌─────┐                 a flit that arrives at a and leaves at d adds d - a;
//          ────┘  └──┘     └───► time        a flit still in the buffer at t adds t - a
// ```
//
// The area up to time `t` is the sum of the departure times, minus the sum of the arrival times,
// plus `t` for every flit in the buffer. Both sums are computed run by run; one number represents
// the forgotten runs of a schedule.
//
// Invariant: the counts at a given time are exact once no earlier event is pending.

impl Links {
    pub(crate) fn channel_counts(&self, now: u64) -> Vec<ChannelCount> {
        let count = |channel| self.count(channel, Some(now), now);
        ChannelId::first(self.senders.len()).map(count).collect()
    }

    #[inline]
    fn touch(&mut self, channel: ChannelId) {
        self.touched.insert(channel.index());
    }

    /// Returns the counts of all channels with activity in the section that ends at `time`. No event
    /// before `time` may be pending.
    pub(crate) fn section_counts(&mut self, time: u64) -> &[(ChannelId, ChannelCount)] {
        let mut touched = std::mem::take(&mut self.touched);
        let mut counts = std::mem::take(&mut self.section_counts);
        counts.clear();
        touched.retain(|channel| {
            let channel = ChannelId::new(channel);
            counts.push((channel, self.count(channel, time.checked_sub(1), time)));
            !self.is_at_rest(channel, time)
        });
        (self.touched, self.section_counts) = (touched, counts);
        &self.section_counts
    }

    pub(crate) fn count_before(&self, channel: ChannelId, time: u64) -> ChannelCount {
        self.count(channel, time.checked_sub(1), time)
    }

    /// Returns whether the channel is neither held nor stopped, carries no flits, and ends at an
    /// empty buffer.
    fn is_at_rest(&self, channel: ChannelId, time: u64) -> bool {
        let sender = &self.senders[channel.index()];
        let is_empty = |input: &Input| input.taken == sender.schedule.end();
        sender.worm.is_none()
            && sender.stopped_since.is_none()
            && sender.is_silent_from(time)
            && self.inputs[channel.index()].as_ref().is_none_or(is_empty)
    }

    /// Counts the flits that started at or before `last_start`, and measures durations up to `end`.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every channel")]
    #[inline(always)]
    fn count(&self, channel: ChannelId, last_start: Option<u64>, end: u64) -> ChannelCount {
        let sender = &self.senders[channel.index()];
        let (started, arrived) = if sender.is_silent_from(end) {
            (sender.schedule.end(), sender.schedule.end())
        } else {
            let started = last_start.map_or(0, |last| sender.schedule.started_by(last));
            (started, sender.arrived_by(end))
        };
        let stopped_ps = sender.stopped_since.map_or(0, |since| end - since);
        let occupancy = |input| self.occupancy_flit_ps(sender, input, arrived, end);
        let counted = self.counts[channel.index()];
        ChannelCount {
            data_flits: started,
            stopped_ps: counted.stopped_ps + stopped_ps,
            occupancy_flit_ps: self.inputs[channel.index()].as_ref().map_or(0, occupancy),
            ..counted
        }
    }

    /// Returns the occupancy up to `time`, in flit-ps, of the first `arrived` flits from `sender`.
    fn occupancy_flit_ps(&self, sender: &Sender, input: &Input, arrived: u64, time: u64) -> u128 {
        let latency = i128::from(sender.latency);
        let arrivals = sender.schedule.sum_before(arrived) + i128::from(arrived) * latency;
        let (mut left, mut departures) = (input.taken, input.taken_sum);
        match (input.head, sender.feeds) {
            (Head::Connected, Some(output)) => {
                let output = &self.senders[output.index()];
                let sent = output.sent_by(time);
                left += sent;
                departures += output.schedule.sum_before(output.worm_first + sent);
            }
            (Head::Open, _) => {
                let before = sender.schedule.sum_before(left) + i128::from(left) * latency;
                departures += arrivals - before;
                left = arrived;
            }
            _ => {}
        }
        let present = i128::from(time) * i128::from(arrived - left);
        u128::try_from(departures - arrivals + present).expect("a flit leaves after it arrived")
    }
}

impl Links {
    /// Applies a STOP or GO. Returns whether the channel is free and may now start a worm.
    pub(crate) fn on_control(&mut self, clock: &mut Clock, channel: ChannelId, stop: bool) -> bool {
        let now = clock.now();
        let was_stopped = self.senders[channel.index()].stopped_since.is_some();
        assert_ne!(was_stopped, stop, "STOP and GO alternate on a channel");
        self.touch(channel);
        if stop {
            self.senders[channel.index()].stopped_since = Some(now);
            self.counts[channel.index()].stops += 1;
            self.cut(channel, now);
            self.note_change(channel);
            return false;
        }
        self.counts[channel.index()].stopped_ps += self.senders[channel.index()].go(now);
        // A long worm that is stopped often has many runs, so past runs are forgotten.
        if self.end(channel) == End::Switch {
            let gone = self.gone(channel, now);
            self.senders[channel.index()].forget_before(gone);
        }
        if self.senders[channel.index()].worm.is_none() {
            return true;
        }
        self.extend(clock, channel);
        false
    }

    /// Sends a waiting STOP or GO if `channel` is idle. Returns whether a host may start a worm
    /// there instead.
    pub(crate) fn send_waiting_control(&mut self, clock: &mut Clock, channel: ChannelId) -> bool {
        let about = Fabric::reverse(channel);
        let input = self.input(about);
        if !input.control_pending() {
            return input.is_at_host();
        }
        debug_assert!(self.senders[channel.index()].busy_until(clock.now() - 1) <= clock.now());
        self.send_control(clock, about, clock.now());
        false
    }

    pub(crate) fn control_waits(&self, channel: ChannelId) -> bool {
        let port = self.inputs[Fabric::reverse(channel).index()].as_ref();
        port.is_some_and(Input::control_pending)
    }

    pub(crate) fn emit_control(&mut self, clock: &mut Clock, channel: ChannelId) {
        let now = clock.now();
        let fill = self.fill(channel, now);
        let input = self.input_mut(channel);
        if input.emit_at != Some(now) {
            return;
        }
        input.emit_at = None;
        input.wants_stop = input.judges_stop(fill);
        if input.control_pending() {
            let speaking = Fabric::reverse(channel);
            let busy = self.senders[speaking.index()].busy_until(now);
            if busy <= now {
                self.send_control(clock, channel, now + 1);
            } else {
                clock.schedule(busy, Event::SendControl { channel: speaking });
            }
        }
        self.note_change(channel);
    }

    /// Sends a STOP or GO on the reverse channel. Delays data flits that would start there at or
    /// after `from` but before the control flit has left.
    fn send_control(&mut self, clock: &mut Clock, channel: ChannelId, from: u64) {
        let input = self.input_mut(channel);
        let (stop, is_host) = (input.wants_stop, input.is_at_host());
        input.announced_stop = stop;
        let speaking = Fabric::reverse(channel);
        let sender = &mut self.senders[speaking.index()];
        let (until, arrival) = sender.send_control(clock.now());
        let last = sender.schedule.last_start_by(until - 1);
        let collides = last.is_some_and(|start| start >= from);
        self.counts[speaking.index()].control_flits += 1;
        self.touch(speaking);
        clock.schedule(arrival, Event::ControlArrives { channel, stop });
        if is_host {
            clock.schedule(until, Event::StartWorm { channel: speaking });
        }
        if collides && self.cut(speaking, from) {
            self.extend(clock, speaking);
        }
    }
}
