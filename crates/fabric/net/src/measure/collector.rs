//! Statistics collector, which decides when to close the window and when the run is complete.
//!
//! Stop rules based on messages use only the **followed** sections: the leading sections whose
//! messages have all been delivered. Messages still in flight have higher latencies, so a mean
//! without them would be too low. If such a rule is met, the window ends with the last followed
//! section. Stop rules based on accepted load use all completed sections.
//!
//! The width of the confidence interval is tested each time the length of the run has doubled. The
//! window closes once the interval is narrow enough in two consecutive tests, with at least 1,000
//! messages. More frequent tests would end the run as soon as the interval happens to be narrow
//! (Law, "Simulation Modeling and Analysis", section 9.5.3; figures:
//! `docs/concepts/measurement.md`).

use super::ChannelCount;
use super::channels::ChannelCollector;
use super::class::ClassCollector;
use super::contention::ContentionCollector;
use super::deadlines::Deadlines;
use super::flows::FlowCollector;
use super::grid::{Grid, SLICES_PER_SECTION};
use super::records::Records;
use super::report::RunReport;
use super::samples::Samples;
use super::transit::TransitCollector;
use super::trees::Trees;
use crate::congestion::Tree;
use crate::traffic::StreamPart;
use crate::{
    ClassId, ClassPlan, Contention, Delivery, FlowId, FlowKey, Hold, Message, Plan, Quantity,
    StopPlan, Trigger,
};
use gingham_kernel::{Span, Time};
use gingham_topology::{ChannelId, EndpointId};

/// Minimum number of messages for a test of the interval width *(ours)*. With similar rules, 183 to
/// 195 of 200 intervals contained the true value (`docs/concepts/measurement.md`).
const MESSAGES_MIN: u64 = 1_000;

/// Statistics collector of a run.
#[derive(Clone, Debug)]
pub struct Collector {
    pub(super) grid: Grid,
    pub(super) stop: StopPlan,
    pub(super) classes: Vec<ClassCollector>,
    pub(super) channels: ChannelCollector,
    pub(super) transit: TransitCollector,
    pub(super) contention: ContentionCollector,
    pub(super) flows: FlowCollector,
    deadlines: Deadlines,
    pub(super) samples: Samples,
    trees: Trees,
    pub(super) records: Records,
    /// Number of sections in warm-up and window together; `None` while the window is open.
    pub(super) closed: Option<usize>,
    followed_left: u64,
    was_narrow: bool,
    end: Time,
    marked_packets: Vec<[u64; 2]>,
    refused_posts: Vec<u64>,
    created_messages: u64,
    dropped_messages: u64,
    delivered_messages: u64,
    lost_messages: u64,
    pub(super) last_delivery: Time,
    pub(super) is_finished: bool,
}

impl Collector {
    /// Creates the collector for a plan.
    pub fn new(plan: &Plan) -> Self {
        let endpoints = plan.fabric.endpoints().len();
        let class = |class: &ClassPlan| {
            ClassCollector::new(class.all_active(), plan.measure.step, endpoints)
        };
        Self {
            grid: Grid::new(plan.stop.time),
            stop: plan.stop,
            classes: plan.classes.iter().map(class).collect(),
            channels: ChannelCollector::new(
                plan.channels.iter().map(|channel| plan.switching.flit_ps(channel)).collect(),
                |channel| plan.has_buffer(channel),
            ),
            transit: TransitCollector::new(plan.fabric.endpoints().len()),
            contention: ContentionCollector::new(plan),
            flows: FlowCollector::new(plan),
            deadlines: Deadlines::new(plan),
            samples: Samples::new(plan),
            trees: Trees::new(plan),
            records: Records::new(plan.seed, &plan.measure),
            closed: None,
            followed_left: 0,
            was_narrow: false,
            end: plan.stop.latest_end(),
            marked_packets: vec![[0; 2]; plan.classes.len()],
            refused_posts: vec![0; plan.classes.len()],
            created_messages: 0,
            dropped_messages: 0,
            delivered_messages: 0,
            lost_messages: 0,
            last_delivery: Time::ZERO,
            is_finished: false,
        }
    }

    /// Counts a created message.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub fn on_created(&mut self, message: &Message) {
        self.created_messages += 1;
        if self.closed.is_none() {
            self.classes[message.class.index()].count_created(&self.grid, message);
            if let Some(flow) = message.flow {
                self.flows.count_created(&self.grid, flow, message);
            }
        }
    }

    /// Counts a message that policing dropped right after its creation.
    pub fn on_dropped(&mut self, message: &Message) {
        self.dropped_messages += 1;
        if self.closed.is_none() {
            self.classes[message.class.index()].count_dropped(&self.grid, message);
            if let Some(flow) = message.flow {
                self.flows.count_dropped(&self.grid, flow, message);
            }
        }
    }

    /// Counts a message lost in the network.
    pub fn on_lost(&mut self) {
        self.lost_messages += 1;
    }

    /// Counts a delivered message.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub fn on_delivered(&mut self, delivery: &Delivery) {
        self.delivered_messages += 1;
        self.last_delivery = self.last_delivery.max(delivery.delivered);
        self.records.offer(delivery);
        if self.closed.is_some() {
            return self.on_followed(delivery);
        }
        let class = &mut self.classes[delivery.message.class.index()];
        class.count_accepted(&self.grid, delivery);
        class.count_journey(&self.grid, delivery);
        if let Some(flow) = delivery.message.flow {
            self.flows.count_accepted(&self.grid, flow, delivery);
            self.flows.count_journey(&self.grid, flow, delivery);
        }
    }

    #[inline(never)]
    fn on_followed(&mut self, delivery: &Delivery) {
        if !self.is_followed(delivery) {
            return;
        }
        self.classes[delivery.message.class.index()].count_journey(&self.grid, delivery);
        if let Some(flow) = delivery.message.flow {
            self.flows.count_journey(&self.grid, flow, delivery);
        }
        self.followed_left -= 1;
        if self.followed_left == 0 {
            self.end = self.end.min(self.grid.end_after(delivery.delivered));
        }
    }

    /// Counts a packet that an in-transit host re-injected at `now`. `waited` is the time since the
    /// packet became ready.
    pub fn on_reinjected(&mut self, host: EndpointId, now: Time, waited: Span) {
        if self.closed.is_none() {
            self.transit.count_reinjected(self.grid.section_at(now), host, waited);
        }
    }

    /// Counts a packet that did not fit into an in-transit host's buffer pool.
    pub fn on_spilled(&mut self, host: EndpointId, now: Time) {
        if self.closed.is_none() {
            self.transit.count_spilled(self.grid.section_at(now), host);
        }
    }

    /// Updates the maximum fill level of an in-transit host's buffer pool.
    pub fn on_pool(&mut self, host: EndpointId, taken_bytes: u64) {
        self.transit.note_pool(host, taken_bytes);
    }

    /// Records a host's contention state after a packet has left the host.
    pub fn on_contention(&mut self, host: EndpointId, now: Time, contention: Contention) {
        if self.closed.is_none() {
            self.contention.note(&self.grid, host, now, contention);
        }
    }

    /// Registers a flow before its first message. Flows must be added in ascending order of their
    /// ids.
    pub fn on_flow(&mut self, flow: FlowId, key: FlowKey) {
        self.flows.add(flow, key);
    }

    /// Counts a created stream message.
    pub fn on_part_created(&mut self, part: StreamPart) {
        if self.closed.is_none() {
            self.deadlines.created(part);
        }
    }

    /// Counts a stream message that policing dropped right after its creation.
    pub fn on_part_dropped(&mut self, part: StreamPart) {
        if self.closed.is_none() {
            self.deadlines.dropped(part);
        }
    }

    /// Counts a delivered stream message.
    pub fn on_part_delivered(&mut self, part: StreamPart, now: Time) {
        if self.closed.is_none() {
            self.deadlines.delivered(part, now);
        }
    }

    /// Returns the deadline statistics so far, or up to the end of the window once it is closed.
    pub fn deadlines(&self) -> &Deadlines {
        &self.deadlines
    }

    /// Counts a period during which a flow with data to send was held back. A period may be
    /// reported in several parts, even before it ends.
    pub fn on_held(&mut self, flow: FlowId, hold: Hold, from: Time, to: Time) {
        let to = to.min(self.window_end().unwrap_or(self.stop.time));
        if from < to {
            self.flows.count_held(&self.grid, flow, hold, from, to);
        }
    }

    /// Counts an acknowledgement for `packets` packets of a flow, including `marked` marked
    /// packets.
    pub fn on_acknowledged(&mut self, flow: FlowId, packets: u32, marked: u32, now: Time) {
        if self.closed.is_none() {
            self.flows.count_acknowledged(&self.grid, flow, [packets, marked], now);
        }
    }

    /// Counts a data packet marked by a switch.
    pub fn on_marked(&mut self, class: ClassId, trigger: Trigger) {
        self.marked_packets[class.index()][trigger as usize] += 1;
    }

    /// Returns the number of data packets of a class that `trigger` marked over the whole run.
    pub fn marked_packets(&self, class: ClassId, trigger: Trigger) -> u64 {
        self.marked_packets[class.index()][trigger as usize]
    }

    /// Counts the refused attempts to post a message that the adapter has now accepted.
    pub fn on_refused(&mut self, class: ClassId, posts: u64) {
        self.refused_posts[class.index()] += posts;
    }

    /// Returns the number of refused posts of a class's accepted messages over the whole run.
    pub fn refused_posts(&self, class: ClassId) -> u64 {
        self.refused_posts[class.index()]
    }

    /// Records the length of an adapter's acknowledgement queue just after an acknowledgement for
    /// `class` was queued.
    pub fn on_ack_queue(&mut self, class: ClassId, depth: usize) {
        self.flows.note_acks(class, depth);
    }

    /// Returns the next sampling time of the followed channels; `None` without followed channels or
    /// once the window is closed. [`Self::on_sample`] must be called before any event or section
    /// end at that time.
    pub fn next_sample(&self) -> Option<Time> {
        self.samples.next().filter(|_| self.closed.is_none())
    }

    /// Adds a sample: cumulative counts of the followed channels over `[0, time)`, in plan order.
    pub fn on_sample(&mut self, time: Time, counts: &[ChannelCount]) {
        self.samples.add(time, counts);
    }

    /// Returns the next search time for congestion trees; `None` without searches or once the
    /// window is closed. The search must precede any event, and follow any sample, at that time.
    pub fn next_tree_sample(&self) -> Option<Time> {
        self.trees.next().filter(|_| self.closed.is_none())
    }

    /// Adds the congestion trees found at `time`.
    pub fn on_tree_sample(&mut self, time: Time, trees: &[Tree]) {
        self.trees.add(time, trees);
    }

    /// Returns the statistics of the congestion trees found so far.
    pub fn trees(&self) -> &Trees {
        &self.trees
    }

    /// Returns the next section end; `None` once the window is closed. [`Self::on_section_end`]
    /// must be called before any event at that time.
    pub fn section_end(&self) -> Option<Time> {
        self.closed.is_none().then(|| self.grid.next_end())
    }

    /// Ends a section. `counts` contains cumulative counts over `[0, section_end)` in ascending
    /// channel order. Channels whose counts have not changed in the section may be omitted.
    pub fn on_section_end(&mut self, counts: &[(ChannelId, ChannelCount)]) {
        assert!(self.closed.is_none(), "a closed window has no more sections");
        self.channels.end_section(counts);
        self.classes.iter_mut().for_each(|class| class.served.end_section());
        self.grid.end_section();
        let sections = self.grid.sections();
        if let Some(window) = self.sections_wanted() {
            self.close(window);
        } else if self.grid.boundary(sections) == self.stop.time {
            self.close(sections);
        } else if self.grid.is_full() {
            self.double();
        }
    }

    /// Returns the end time of the simulation. It becomes earlier when the window closes, and again
    /// once all messages of the window are delivered.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Returns whether the window is closed and all its messages are delivered.
    pub fn is_complete(&self) -> bool {
        self.closed.is_some() && self.followed_left == 0
    }

    /// Marks the workload as finished if every message was created before the end of the closed
    /// window. The window then ends with the section of the last delivery, and starts at time zero
    /// unless the plan sets the warm-up. Must be called after all events.
    pub fn finish(&mut self) {
        let Some(closed) = self.closed else { return };
        let slices = closed * SLICES_PER_SECTION;
        let created = |class: &ClassCollector| class.slices.sum(0, slices).created.messages;
        let within: u64 = self.classes.iter().map(created).sum();
        if within > 0 && within == self.created_messages {
            self.is_finished = true;
            self.closed = Some(closed.min(self.grid.section_at(self.last_delivery) + 1));
        }
    }

    /// Returns whether the workload ended within the run, with every message delivered.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Returns the time of the latest delivery; zero before the first.
    pub fn last_delivery(&self) -> Time {
        self.last_delivery
    }

    /// Returns the results over all completed sections; once the window is closed, over the
    /// sections up to its end.
    pub fn report(&self) -> RunReport<'_> {
        RunReport::new(self, self.closed.unwrap_or(self.grid.sections()))
    }

    /// Removes and returns all deliveries since the last call, including the warm-up; empty unless
    /// the run keeps all messages.
    pub fn take_messages(&mut self) -> Vec<Delivery> {
        self.records.take()
    }

    /// Returns the number of created messages.
    pub fn created_messages(&self) -> u64 {
        self.created_messages
    }

    /// Returns the number of delivered messages.
    pub fn delivered_messages(&self) -> u64 {
        self.delivered_messages
    }

    /// Returns the number of messages lost in the network.
    pub fn lost_messages(&self) -> u64 {
        self.lost_messages
    }

    /// Returns the number of messages that are neither delivered, dropped nor lost.
    pub fn in_flight_messages(&self) -> u64 {
        let ended = self.dropped_messages + self.lost_messages + self.delivered_messages;
        self.created_messages - ended
    }

    fn is_followed(&self, delivery: &Delivery) -> bool {
        self.window_end().is_some_and(|end| delivery.message.created < end)
    }

    fn window_end(&self) -> Option<Time> {
        self.closed.map(|sections| self.grid.boundary(sections))
    }

    fn sections_wanted(&mut self) -> Option<usize> {
        if let Some(wanted) = self.stop.messages {
            let followed = RunReport::new(self, self.followed_sections());
            if followed.has_messages(wanted) {
                return Some(followed.sections());
            }
        }
        let width = self.stop.relative_width?;
        if !self.grid.has_doubled() {
            return None;
        }
        let tested = match self.stop.quantity {
            Quantity::AcceptedLoad => self.grid.sections(),
            Quantity::Latency
            | Quantity::NetworkLatency
            | Quantity::HeadLatency
            | Quantity::Hops => self.followed_sections(),
        };
        let is_narrow = RunReport::new(self, tested).is_as_narrow_as(width, MESSAGES_MIN);
        let was_narrow = std::mem::replace(&mut self.was_narrow, is_narrow);
        (is_narrow && was_narrow).then_some(tested)
    }

    fn followed_sections(&self) -> usize {
        let is_followed = |section: &usize| {
            let from = section * SLICES_PER_SECTION;
            let sum = |class: &ClassCollector| class.slices.sum(from, from + SLICES_PER_SECTION);
            self.classes.iter().all(|class| sum(class).in_flight_messages() == 0)
        };
        (0..self.grid.sections()).take_while(is_followed).count()
    }

    fn close(&mut self, sections: usize) {
        let slices = sections * SLICES_PER_SECTION;
        let left = |class: &ClassCollector| class.slices.sum(0, slices).in_flight_messages();
        self.followed_left = self.classes.iter().map(left).sum();
        self.closed = Some(sections);
        let now = self.grid.boundary(self.grid.sections());
        self.end = if self.followed_left == 0 { now } else { now + self.stop.follow };
    }

    fn double(&mut self) {
        self.grid.double();
        self.channels.double();
        self.transit.double();
        self.contention.double();
        self.flows.double(&self.grid);
        for class in &mut self.classes {
            class.double();
        }
    }
}
