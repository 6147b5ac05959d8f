//! The collector: told of what happens, it decides when the window ends and the run is complete.
//!
//! ```text
//!   open ── a rule holds at a section end, or the run's time is over ──► following ──► complete
//!   counts everything                            counts deliveries of what was created in the window
//! ```
//!
//! A rule about messages (their number, or the mean of what is counted by creation) is asked of the
//! **followed** sections only: those up to which every message was delivered. What is still under
//! way is slower than the rest, and a mean without it too good. Where such a rule holds the window
//! ends with those sections, so that what was tested is what is reported. A rule about accepted
//! load is asked of all sections that have ended.
//!
//! Whether an interval is narrow is asked each time the run has doubled, must be so twice in a row,
//! and of 1,000 messages at the least. An interval is itself random: a rule that is asked often
//! enough ends the run where it happens to be too narrow (Law, "Simulation Modeling and Analysis",
//! section 9.5.3; `docs/concepts/measurement.md` has the figures).

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

/// An interval of fewer messages ends no run. *(ours)*: one of the rules under which 183 to
/// 195 of 200 intervals held the truth (`docs/concepts/measurement.md`).
const MESSAGES_MIN: u64 = 1_000;

/// All counts of a run.
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
    /// Sections of the window and the warm-up, once the window is closed.
    pub(super) closed: Option<usize>,
    /// Messages created before the end of the closed window and not delivered yet.
    followed_left: u64,
    /// Whether intervals were narrow when last asked.
    was_narrow: bool,
    end: Time,
    /// By class: data packets that switches marked, by trigger, over the whole run.
    marked_packets: Vec<[u64; 2]>,
    /// By class: posts that found no credit, over the whole run.
    refused_posts: Vec<u64>,
    created_messages: u64,
    dropped_messages: u64,
    delivered_messages: u64,
    /// Instant of the latest delivery; zero before the first.
    pub(super) last_delivery: Time,
    /// Whether the workload ended within the run, with every message delivered.
    pub(super) is_finished: bool,
}

impl Collector {
    /// An empty collector for a plan.
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
            last_delivery: Time::ZERO,
            is_finished: false,
        }
    }

    /// A message was created.
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

    /// A message that was just created, and told, is dropped: it will never be delivered.
    pub fn on_dropped(&mut self, message: &Message) {
        self.dropped_messages += 1;
        if self.closed.is_none() {
            self.classes[message.class.index()].count_dropped(&self.grid, message);
            if let Some(flow) = message.flow {
                self.flows.count_dropped(&self.grid, flow, message);
            }
        }
    }

    /// A message was delivered.
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

    /// A message was delivered after the window was closed.
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
            self.end = delivery.delivered;
        }
    }

    /// A host begins at `now` to send a packet on that had been ready for `waited`.
    pub fn on_reinjected(&mut self, host: EndpointId, now: Time, waited: Span) {
        if self.closed.is_none() {
            self.transit.count_reinjected(self.grid.section_at(now), host, waited);
        }
    }

    /// At `now` a host found no room in its pool for a packet that it is to send on.
    pub fn on_spilled(&mut self, host: EndpointId, now: Time) {
        if self.closed.is_none() {
            self.transit.count_spilled(self.grid.section_at(now), host);
        }
    }

    /// So much of a host's pool is taken, after more of it was.
    pub fn on_pool(&mut self, host: EndpointId, taken_bytes: u64) {
        self.transit.note_pool(host, taken_bytes);
    }

    /// A packet of a host has left at `now`: what the host makes of the network.
    pub fn on_contention(&mut self, host: EndpointId, now: Time, contention: Contention) {
        if self.closed.is_none() {
            self.contention.note(&self.grid, host, now, contention);
        }
    }

    /// A flow is used for the first time, before any of its messages is told. Flows are numbered in
    /// this order.
    pub fn on_flow(&mut self, flow: FlowId, key: FlowKey) {
        self.flows.add(flow, key);
    }

    /// A message of a stream was created.
    pub fn on_part_created(&mut self, part: StreamPart) {
        if self.closed.is_none() {
            self.deadlines.created(part);
        }
    }

    /// A message of a stream, which was just created, is dropped.
    pub fn on_part_dropped(&mut self, part: StreamPart) {
        if self.closed.is_none() {
            self.deadlines.dropped(part);
        }
    }

    /// A message of a stream was delivered `now`.
    pub fn on_part_delivered(&mut self, part: StreamPart, now: Time) {
        if self.closed.is_none() {
            self.deadlines.delivered(part, now);
        }
    }

    /// Streams, and their frames against their deadlines, up to now or the end of the window.
    pub fn deadlines(&self) -> &Deadlines {
        &self.deadlines
    }

    /// A flow that had something to send was held back from `from` to `to`. It may be told in
    /// parts, and ahead of `to`.
    pub fn on_held(&mut self, flow: FlowId, hold: Hold, from: Time, to: Time) {
        let to = to.min(self.window_end().unwrap_or(self.stop.time));
        if from < to {
            self.flows.count_held(&self.grid, flow, hold, from, to);
        }
    }

    /// The answer to so many packets of a flow has come back `now`, and says how many of these were
    /// marked.
    pub fn on_answered(&mut self, flow: FlowId, packets: u32, marked: u32, now: Time) {
        if self.closed.is_none() {
            self.flows.count_answered(&self.grid, flow, [packets, marked], now);
        }
    }

    /// A switch has marked a data packet of a class, for this reason.
    pub fn on_marked(&mut self, class: ClassId, trigger: Trigger) {
        self.marked_packets[class.index()][trigger as usize] += 1;
    }

    /// Data packets of a class that switches marked over the whole run for this reason.
    pub fn marked_packets(&self, class: ClassId, trigger: Trigger) -> u64 {
        self.marked_packets[class.index()][trigger as usize]
    }

    /// A message of a class is accepted by its adapter, after so many posts that were refused.
    pub fn on_refused(&mut self, class: ClassId, posts: u64) {
        self.refused_posts[class.index()] += posts;
    }

    /// Posts of messages of a class that were refused, over the whole run; of those that were
    /// accepted in the end.
    pub fn refused_posts(&self, class: ClassId) -> u64 {
        self.refused_posts[class.index()]
    }

    /// An answer to a packet of a class was queued in an adapter, where `depth` packets that no
    /// message is behind now wait: answers, to packets of whatever class.
    pub fn on_answer_queue(&mut self, class: ClassId, depth: usize) {
        self.flows.note_answers(class, depth);
    }

    /// When the next sample of the followed channels is due: the simulation calls
    /// [`Self::on_sample`] when everything before that instant, and nothing of that instant, has
    /// happened, and before it ends a section there. `None` once the window is closed, and where no
    /// channel is followed.
    pub fn next_sample(&self) -> Option<Time> {
        self.samples.next().filter(|_| self.closed.is_none())
    }

    /// A step has ended at `time`: `counts` are the cumulative counts of the followed channels over
    /// `[0, time)`, in the order of the plan.
    pub fn on_sample(&mut self, time: Time, counts: &[ChannelCount]) {
        self.samples.add(time, counts);
    }

    /// When it is due to look who waits: as a sample is, and after that of the same instant. `None`
    /// where nobody asks for congestion trees.
    pub fn next_look(&self) -> Option<Time> {
        self.trees.next().filter(|_| self.closed.is_none())
    }

    /// These trees were found at a look that was due at `time`.
    pub fn on_look(&mut self, time: Time, trees: &[Tree]) {
        self.trees.add(time, trees);
    }

    /// Congestion trees, of all looks so far.
    pub fn trees(&self) -> &Trees {
        &self.trees
    }

    /// The next section end: the simulation calls [`Self::on_section_end`] when everything before
    /// that instant, and nothing of that instant, has happened. `None` once the window is closed.
    pub fn section_end(&self) -> Option<Time> {
        self.closed.is_none().then(|| self.grid.next_end())
    }

    /// A section has ended: `counts` are the cumulative counts over `[0, section_end)` of every
    /// channel on which anything happened since the section before, or more, in ascending order.
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

    /// Events after this instant are not simulated. It comes nearer when the window closes, and is
    /// the present instant of a delivery once all is followed.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Whether the window is closed, and all that was created in it delivered.
    pub fn is_complete(&self) -> bool {
        self.closed.is_some() && self.followed_left == 0
    }

    /// Marks the workload as finished if every message of the run was created before the end of the
    /// closed window. The window then ends with the section of the last delivery. It begins at time
    /// zero unless the warm-up is configured. Call this once no events remain and every message is
    /// delivered.
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

    /// Whether the workload ended within the run, with every message delivered.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Instant of the latest delivery so far; zero before the first.
    pub fn last_delivery(&self) -> Time {
        self.last_delivery
    }

    /// What was measured so far: the window is that of the whole run once it is closed, and what
    /// its sections amount to until then.
    pub fn report(&self) -> RunReport<'_> {
        RunReport::new(self, self.closed.unwrap_or(self.grid.sections()))
    }

    /// Empties the buffer of a run that keeps all messages: every delivery since the last call,
    /// those of the warm-up among them, in order of delivery. Nothing for runs that keep a sample
    /// or none.
    pub fn take_messages(&mut self) -> Vec<Delivery> {
        self.records.take()
    }

    /// Messages created so far.
    pub fn created_messages(&self) -> u64 {
        self.created_messages
    }

    /// Messages delivered so far.
    pub fn delivered_messages(&self) -> u64 {
        self.delivered_messages
    }

    /// Messages created at any time, not dropped and not delivered yet.
    pub fn in_flight_messages(&self) -> u64 {
        self.created_messages - self.dropped_messages - self.delivered_messages
    }

    /// Whether what was delivered was created before the end of the closed window.
    fn is_followed(&self, delivery: &Delivery) -> bool {
        self.window_end().is_some_and(|end| delivery.message.created < end)
    }

    /// Where the window ends, once it is closed.
    fn window_end(&self) -> Option<Time> {
        self.closed.map(|sections| self.grid.boundary(sections))
    }

    /// Where a stop rule says that the window ends, in sections.
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

    /// Sections from time zero up to which every message was delivered.
    fn followed_sections(&self) -> usize {
        let is_followed = |section: &usize| {
            let from = section * SLICES_PER_SECTION;
            let sum = |class: &ClassCollector| class.slices.sum(from, from + SLICES_PER_SECTION);
            self.classes.iter().all(|class| sum(class).under_way_messages() == 0)
        };
        (0..self.grid.sections()).take_while(is_followed).count()
    }

    fn close(&mut self, sections: usize) {
        let slices = sections * SLICES_PER_SECTION;
        let left = |class: &ClassCollector| class.slices.sum(0, slices).under_way_messages();
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
