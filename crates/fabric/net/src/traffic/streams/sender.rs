//! A stream at work: which message comes next, one ahead.
//!
//! Because the next message is worked out as one is created, that one knows whether it is the last.

use super::{
    DataPlan, FirstFrame, FramePart, FramePlan, FrameSizes, Spread, StreamPart, StreamPlan,
};
use crate::StreamId;
use crate::traffic::Draft;
use crate::traffic::on_off::OnOffClock;
use gingham_kernel::{Purpose, Span, Stream, Time};
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

/// One stream at work.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    stream: StreamId,
    plan: StreamPlan,
    /// Where its messages come from.
    cursor: Cursor,
    /// The next message, but for how long the stream was held back.
    ahead: Option<Ahead>,
    /// For how long it was.
    held: Span,
    /// When its application crashes, if it does.
    crash: Option<Time>,
    /// What the message is that was drawn last.
    drawn: Option<StreamPart>,
}

/// A message to come.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    at: Time,
    payload_bytes: u32,
    frame: Option<FramePart>,
}

#[derive(Clone, Debug)]
enum Cursor {
    Frames(Frames),
    OnOff { clock: Box<OnOffClock>, end: Time },
}

/// How far a stream has come with its frames.
#[derive(Clone, Debug)]
struct Frames {
    data: Arc<DataPlan>,
    /// When the next frame begins, and when the stream is over.
    next: Time,
    end: Time,
    /// Frames that have begun.
    begun: u32,
    /// What draws sizes, and where the next stands in a trace.
    sizes: Stream,
    place: usize,
    /// The frame at hand: when it began, its bytes, its messages, and how many of these were sent.
    began: Time,
    bytes: u32,
    messages: u32,
    sent: u32,
}

impl Sender {
    /// A stream of a class that is active for this time; `stream_of` gives its random streams.
    pub(in crate::traffic) fn new(
        stream: StreamId,
        plan: &StreamPlan,
        active: &Range<Time>,
        host_crash: Option<Time>,
        stream_of: impl Fn(Purpose) -> Stream,
    ) -> Self {
        let start = active.start + plan.later.draw(&mut stream_of(Purpose::Start));
        let last = |lifetime: Span| start.as_ps().checked_add(lifetime.as_ps()).map(Time::from_ps);
        let end = plan.lifetime.and_then(last).unwrap_or(Time::MAX).min(active.end);
        let own = (plan.crashes > 0.0).then(|| crash(plan.crashes, start..end, &stream_of));
        let crash = own.flatten().into_iter().chain(host_crash).min();
        let cursor = match &*plan.data {
            DataPlan::Frames(frames) => Cursor::Frames(Frames {
                data: Arc::clone(&plan.data),
                next: start,
                end,
                begun: 0,
                place: first_frame(&frames.sizes, &stream_of),
                sizes: stream_of(Purpose::Length),
                began: start,
                bytes: 0,
                messages: 0,
                sent: 0,
            }),
            DataPlan::OnOff(of) => {
                let clock = OnOffClock::new(of.periods, of.interval_ps, start, stream_of);
                Cursor::OnOff { clock: Box::new(clock), end }
            }
        };
        let (plan, held) = (plan.clone(), Span::ZERO);
        let mut sender = Self { stream, plan, cursor, ahead: None, held, crash, drawn: None };
        sender.ahead = sender.look_ahead();
        sender
    }

    /// Its number.
    pub(in crate::traffic) fn stream(&self) -> StreamId {
        self.stream
    }

    /// It was held back until now: all that it sends is as much later.
    pub(in crate::traffic) fn begin(&mut self, now: Time) {
        if let Some(first) = self.next_arrival() {
            self.held = self.held + now.since(first);
        }
    }

    /// When the next message is created, if there is one.
    pub(in crate::traffic) fn next_arrival(&self) -> Option<Time> {
        let next = self.ahead.map(|ahead| ahead.at + self.held);
        next.filter(|at| !self.has_crashed(*at))
    }

    /// Whether its application has crashed by an instant.
    pub(in crate::traffic) fn has_crashed(&self, now: Time) -> bool {
        self.crash.is_some_and(|crash| crash <= now)
    }

    /// The next message. Panics if there is none.
    pub(in crate::traffic) fn draw(&mut self) -> Draft {
        let Ahead { payload_bytes, frame, .. } = self.ahead.expect("there is a next message");
        self.ahead = self.look_ahead();
        let is_last = self.ahead.is_none();
        self.drawn = Some(StreamPart { stream: self.stream, frame, is_last });
        Draft { destination: self.plan.destination, payload_bytes }
    }

    /// What the message is that was drawn last.
    pub(in crate::traffic) fn drawn(&self) -> Option<StreamPart> {
        self.drawn
    }

    fn look_ahead(&mut self) -> Option<Ahead> {
        match (&mut self.cursor, &*self.plan.data) {
            (Cursor::Frames(frames), _) => frames.next(),
            (Cursor::OnOff { clock, end }, DataPlan::OnOff(of)) => {
                let at = clock.next(*end).filter(|at| *at < *end)?;
                Some(Ahead { at, payload_bytes: of.message_bytes, frame: None })
            }
            (Cursor::OnOff { .. }, DataPlan::Frames(_)) => unreachable!("made of what it sends"),
        }
    }
}

/// When an application crashes that is so likely to, within the time of its stream.
fn crash(likely: f64, time: Range<Time>, stream_of: impl Fn(Purpose) -> Stream) -> Option<Time> {
    let mut draw = stream_of(Purpose::Crash);
    let lasts = time.end.as_ps().saturating_sub(time.start.as_ps());
    (draw.unit() < likely).then(|| time.start + Span::from_ps(draw.below(lasts.max(1))))
}

/// Where in a trace a stream begins.
fn first_frame(sizes: &FrameSizes, stream_of: impl Fn(Purpose) -> Stream) -> usize {
    match sizes {
        FrameSizes::Trace { bytes, first: FirstFrame::Drawn } => {
            let place = stream_of(Purpose::Phase).below(bytes.len() as u64);
            usize::try_from(place).expect("below a length")
        }
        FrameSizes::Trace { bytes, first: FirstFrame::At(place) } => place % bytes.len(),
        FrameSizes::Normal { .. } => 0,
    }
}

impl Frames {
    /// The next message: of the frame at hand, or the first of the next one.
    fn next(&mut self) -> Option<Ahead> {
        let data = Arc::clone(&self.data);
        let plan = data.frames().expect("it has frames");
        if self.sent == self.messages {
            self.begin(plan)?;
        }
        let index = self.sent;
        self.sent += 1;
        let before = u64::from(index) * u64::from(plan.message_bytes);
        let left = u64::from(self.bytes) - before;
        let payload_bytes = u32::try_from(left.min(plan.message_bytes.into())).expect("a payload");
        let later = match plan.spread {
            Spread::AtOnce => Span::ZERO,
            Spread::Even => part(plan.interval, index, self.messages),
        };
        let messages = NonZeroU32::new(self.messages).expect("a frame has a message");
        let frame = FramePart { number: self.begun - 1, messages };
        Some(Ahead { at: self.began + later, payload_bytes, frame: Some(frame) })
    }

    /// Begins the next frame, if the stream lasts as long as that.
    fn begin(&mut self, plan: &FramePlan) -> Option<()> {
        let ends = self.next.as_ps().checked_add(plan.interval.as_ps())?;
        if ends > self.end.as_ps() {
            return None;
        }
        (self.began, self.next) = (self.next, Time::from_ps(ends));
        self.bytes = self.draw_size(&plan.sizes);
        self.messages = self.bytes.div_ceil(plan.message_bytes);
        (self.begun, self.sent) = (self.begun + 1, 0);
        Some(())
    }

    fn draw_size(&mut self, sizes: &FrameSizes) -> u32 {
        match sizes {
            FrameSizes::Trace { bytes, .. } => {
                let size = bytes[self.place];
                self.place = (self.place + 1) % bytes.len();
                size
            }
            FrameSizes::Normal { mean, deviation } => {
                let size = libm::round(self.sizes.normal(*mean, *deviation));
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "what is too large or too small saturates"
                )]
                let size = size as u32;
                size.max(1)
            }
        }
    }
}

/// So many parts of a span, rounded down.
fn part(span: Span, index: u32, of: u32) -> Span {
    let ps = u128::from(span.as_ps()) * u128::from(index) / u128::from(of);
    Span::from_ps(u64::try_from(ps).expect("a part of a span"))
}
