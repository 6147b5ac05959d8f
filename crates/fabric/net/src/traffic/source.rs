//! A source: the traffic of one class at one endpoint.

use super::arrivals::Clock;
use super::streams::{Sender, StreamPart, StreamPlan};
use super::{
    DestinationPlan, Draft, DrawnPlan, LengthPlan, MessagePlan, ReplyPlan, Scheduled, SourcePlan,
};
use crate::{ClassId, Plan, StreamId};
use gingham_kernel::{Purpose, Stream, Time};
use gingham_topology::EndpointId;
use std::ops::Range;
use std::sync::Arc;

/// Approximate memory of a stream: its plan, its source, its flow and its frames.
pub const STREAM_BYTES: u64 =
    (size_of::<SourcePlan>() + size_of::<Source>() + size_of::<Sender>() + 800) as u64;

/// State of a source: one class at one endpoint.
///
/// A simulation calls [`Self::next_arrival`] at the start, and again after each message created at
/// such a time. When the first flit of a message starts, it also requests another message if the
/// source [`Self::refills`], and for a message delivered to a source of replies a reply
/// ([`Self::draw_reply`]). Messages are created in no other way.
#[derive(Clone, Debug)]
pub struct Source {
    class: ClassId,
    endpoint: EndpointId,
    active: Range<Time>,
    script: Script,
}

#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are drawn, and are used for each message"
)]
enum Script {
    Drawn(Drawn),
    Scheduled { messages: Arc<[Scheduled]>, next: usize },
    Replies(Box<Replies>),
    Stream(Box<Sender>),
}

#[derive(Clone, Debug)]
struct Replies {
    plan: ReplyPlan,
    length: Stream,
}

#[derive(Clone, Debug)]
struct Drawn {
    clock: Clock,
    is_backlogged: bool,
    lengths: LengthPlan,
    length: Stream,
    destinations: DestinationPlan,
    destination: Stream,
}

impl Source {
    /// Creates the source `index` of a class. `streams_before` is the number of streams of earlier
    /// sources.
    pub fn new(plan: &Plan, class: ClassId, index: usize, streams_before: usize) -> Self {
        let class_plan = &plan.classes[class.index()];
        let source = &class_plan.sources[index];
        let crash = plan.crashes.get(&source.endpoint).copied();
        let script = match &source.messages {
            MessagePlan::Drawn(drawn) => Script::Drawn(Drawn::new(plan, class, source, drawn)),
            MessagePlan::Scheduled(messages) => {
                Script::Scheduled { messages: Arc::clone(messages), next: 0 }
            }
            MessagePlan::Replies(replies) => {
                let length = stream_of(plan, class, source)(Purpose::Length);
                Script::Replies(Box::new(Replies { plan: replies.clone(), length }))
            }
            MessagePlan::Stream(stream) => {
                let streams = stream_of_stream(plan, class, source, stream);
                let (id, active) = (StreamId::new(streams_before), &class_plan.active);
                Script::Stream(Box::new(Sender::new(id, stream, active, crash, streams)))
            }
        };
        let mut active = class_plan.active.clone();
        active.end = crash.map_or(active.end, |crash| crash.clamp(active.start, active.end));
        Self { class, endpoint: source.endpoint, active, script }
    }

    /// Creates all sources of a plan, by class and then in the order of the class.
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

    /// Returns the class.
    pub fn class(&self) -> ClassId {
        self.class
    }

    /// Returns the source endpoint of its messages.
    pub fn endpoint(&self) -> EndpointId {
        self.endpoint
    }

    /// Returns the time of the next message, never before that of the last one; `None` after the
    /// last message, or if only refills remain.
    #[inline]
    pub fn next_arrival(&mut self) -> Option<Time> {
        match &mut self.script {
            Script::Drawn(drawn) => drawn.clock.next(self.active.end),
            Script::Scheduled { messages, next } => {
                let next = messages.get(*next)?.created;
                self.active.contains(&next).then_some(next)
            }
            Script::Replies(_) => None,
            Script::Stream(sender) => sender.next_arrival(),
        }
    }

    /// Returns whether the source creates a message `now` because one of its own has just begun to
    /// leave.
    pub fn refills(&self, now: Time) -> bool {
        self.is_backlogged() && self.active.contains(&now)
    }

    /// Returns whether the source always has a message waiting while its class sends.
    pub fn is_backlogged(&self) -> bool {
        matches!(&self.script, Script::Drawn(drawn) if drawn.is_backlogged)
    }

    /// Returns the parameters of replies, if it sends replies.
    pub fn replies(&self) -> Option<&ReplyPlan> {
        match &self.script {
            Script::Replies(replies) => Some(&replies.plan),
            Script::Drawn(_) | Script::Scheduled { .. } | Script::Stream(_) => None,
        }
    }

    /// Returns the id of the stream, if the source is one.
    pub fn stream(&self) -> Option<StreamId> {
        match &self.script {
            Script::Stream(sender) => Some(sender.stream()),
            _ => None,
        }
    }

    /// Returns whether it is a stream whose application has crashed by `now`.
    pub fn has_crashed(&self, now: Time) -> bool {
        matches!(&self.script, Script::Stream(sender) if sender.has_crashed(now))
    }

    /// Starts its stream, which was admitted `now`, with a delay of all its messages. Panics if it
    /// is not a stream.
    pub fn begin_stream(&mut self, now: Time) {
        let Script::Stream(sender) = &mut self.script else { panic!("only streams are admitted") };
        sender.begin(now);
    }

    /// Returns the stream part of the last message drawn, if it is a stream.
    pub fn part(&self) -> Option<StreamPart> {
        match &self.script {
            Script::Stream(sender) => sender.drawn(),
            _ => None,
        }
    }

    /// Returns whether it creates messages at an instant.
    pub fn is_active(&self, now: Time) -> bool {
        self.active.contains(&now)
    }

    /// Draws the next reply. Panics if it does not reply.
    pub fn draw_reply(&mut self, destination: EndpointId) -> Draft {
        let Script::Replies(replies) = &mut self.script else {
            panic!("only a source of replies is asked for one")
        };
        Draft { destination, payload_bytes: replies.plan.lengths.draw(&mut replies.length) }
    }

    /// Draws the next message. Panics beyond the end of a schedule, and for replies.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub fn draw(&mut self) -> Draft {
        match &mut self.script {
            Script::Drawn(drawn) => Draft {
                destination: drawn.destinations.draw(&mut drawn.destination),
                payload_bytes: drawn.lengths.draw(&mut drawn.length),
            },
            Script::Scheduled { messages, next } => {
                *next += 1;
                messages[*next - 1].draft
            }
            Script::Replies(_) => panic!("a reply is drawn when a message has come"),
            Script::Stream(sender) => sender.draw(),
        }
    }
}

impl Drawn {
    fn new(plan: &Plan, class: ClassId, source: &SourcePlan, drawn: &DrawnPlan) -> Self {
        let class_plan = &plan.classes[class.index()];
        let stream = stream_of(plan, class, source);
        let byte_ps = plan.byte_ps(plan.fabric.endpoint_channel(source.endpoint));
        let payload_mean = drawn.lengths.mean_bytes();
        let interval = drawn.arrivals.interval_mean_ps(payload_mean, byte_ps).unwrap_or(0.0);
        let start = class_plan.active.start + drawn.later.draw(&mut stream(Purpose::Start));
        Self {
            clock: Clock::new(&drawn.arrivals, interval, start, &stream),
            is_backlogged: source.is_backlogged(),
            lengths: drawn.lengths.clone(),
            length: stream(Purpose::Length),
            destinations: drawn.destinations.clone(),
            destination: stream(Purpose::Destination),
        }
    }
}

fn stream_of(plan: &Plan, class: ClassId, source: &SourcePlan) -> impl Fn(Purpose) -> Stream {
    streams_called(plan.seed, plan.name_of(source.endpoint, class))
}

/// Returns the random streams of a stream by purpose; an endpoint may have many streams.
fn stream_of_stream(
    plan: &Plan,
    class: ClassId,
    source: &SourcePlan,
    stream: &StreamPlan,
) -> impl Fn(Purpose) -> Stream {
    streams_called(plan.seed, format!("{}/{}", plan.name_of(source.endpoint, class), stream.number))
}

fn streams_called(seed: u64, name: String) -> impl Fn(Purpose) -> Stream {
    move |purpose| Stream::new(seed, &name, purpose)
}
