//! Source: the traffic of one class at one endpoint.

use super::workload::{AnyWorkload, Awaited, StreamSender};
use super::{Draft, SourcePlan, StreamPart};
use crate::{ClassId, Message, Plan, StreamId};
use gingham_kernel::Time;
use gingham_topology::EndpointId;

/// Approximate memory of a stream in bytes: plan, source, flow and frames.
pub const STREAM_BYTES: u64 =
    (size_of::<SourcePlan>() + size_of::<Source>() + size_of::<StreamSender>() + 800) as u64;

/// Traffic of one class at one endpoint. Only [`Self::due`] creates messages: at the times of
/// [`Self::next_at`], which [`Self::resume`] changes, and at the times returned by
/// [`Self::started`] and [`Self::delivered`].
#[derive(Clone, Debug)]
pub struct Source {
    class: ClassId,
    endpoint: EndpointId,
    workload: AnyWorkload,
    has_crashed: bool,
}

impl Source {
    /// Creates source `index` of a class; `streams_before` is the number of streams of earlier
    /// sources.
    pub fn new(plan: &Plan, class: ClassId, index: usize, streams_before: usize) -> Self {
        let endpoint = plan.classes[class.index()].sources[index].endpoint;
        let workload = AnyWorkload::new(plan, class, index, streams_before);
        Self { class, endpoint, workload, has_crashed: false }
    }

    /// Creates all sources of a plan, class by class.
    pub fn all(plan: &Plan) -> Vec<Self> {
        let mut streams = 0;
        let mut sources = Vec::new();
        for class in ClassId::first(plan.classes.len()) {
            for (index, source) in plan.classes[class.index()].sources.iter().enumerate() {
                sources.push(Self::new(plan, class, index, streams));
                streams += usize::from(source.stream().is_some());
            }
        }
        sources
    }

    /// Returns the class of the messages.
    pub fn class(&self) -> ClassId {
        self.class
    }

    /// Returns the source endpoint of the messages.
    pub fn endpoint(&self) -> EndpointId {
        self.endpoint
    }

    /// Returns the next time of the source's own clock, which never decreases; `None` after the
    /// last message, or if only notifications cause further messages.
    #[inline]
    pub fn next_at(&self) -> Option<Time> {
        self.workload.next_at()
    }

    /// Creates the next message due at `now`.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub fn due(&mut self, now: Time) -> Option<Draft> {
        self.workload.due(now)
    }

    /// Returns whether the source creates no further message unless another source's message starts
    /// or arrives.
    pub fn is_finished(&self) -> bool {
        self.workload.is_finished()
    }

    /// Returns the notifications that the source needs, which are constant over the run.
    pub fn awaited(&self) -> Awaited {
        self.workload.awaited()
    }

    /// Handles the start of a message of the class at this endpoint: the start of its first flit on
    /// the cable or, if it needs a credit, its acceptance. Returns the time when another message
    /// becomes due, `now` or later.
    pub fn started(&mut self, now: Time) -> Option<Time> {
        self.workload.started(now)
    }

    /// Handles the delivery of a message of the awaited class. Returns the time when a message
    /// becomes due.
    pub fn delivered(&mut self, message: &Message, now: Time) -> Option<Time> {
        self.workload.delivered(message, now)
    }

    /// Returns the identifier of the stream; `None` for other sources.
    pub fn stream(&self) -> Option<StreamId> {
        self.workload.stream()
    }

    /// Returns the stream position of the last created message; `None` for other sources.
    pub fn part(&self) -> Option<StreamPart> {
        self.workload.part()
    }

    /// Stops the clock of a stream until admission. Panics if the source is not a stream.
    pub fn suspend(&mut self) {
        self.workload.suspend();
    }

    /// Starts the clock of an admitted stream: its next message is due at `now`, and later messages
    /// are delayed by the same time. Panics if the source is not a stream.
    pub fn resume(&mut self, now: Time) {
        self.workload.resume(now);
    }

    /// Ends the workload after a crash of its host or application.
    pub fn crash(&mut self) {
        self.workload.end();
        self.has_crashed = true;
    }

    /// Returns whether the host or application has crashed.
    pub fn has_crashed(&self) -> bool {
        self.has_crashed
    }
}
