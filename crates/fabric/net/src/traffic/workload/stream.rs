//! Stream at run time.
//!
//! The next message is computed in advance, so that the last message is recognised.

#[cfg(test)]
mod tests;

use super::start::random_of_stream;
use super::{Start, Workload};
use crate::traffic::on_off::OnOffClock;
use crate::traffic::{
    DataPlan, Draft, FirstFrame, FramePart, FramePlan, FrameSizes, Spread, StreamPart, StreamPlan,
};
use crate::{ClassId, Plan, StreamId};
use gingham_kernel::{Purpose, Span, Stream, Time};
use gingham_topology::EndpointId;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(in crate::traffic) struct StreamSender {
    stream: StreamId,
    plan: StreamPlan,
    cursor: Cursor,
    /// Next message. Its time excludes the delay caused by admission control.
    ahead: Option<Ahead>,
    held: Span,
    is_suspended: bool,
    drawn: Option<StreamPart>,
}

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

#[derive(Clone, Debug)]
struct Frames {
    data: Arc<DataPlan>,
    next: Time,
    end: Time,
    begun: u32,
    /// Random number stream for frame sizes.
    sizes: Stream,
    place: usize,
    began: Time,
    bytes: u32,
    messages: u32,
    sent: u32,
}

impl StreamSender {
    pub(super) fn new(start: Start<'_>, plan: &StreamPlan) -> Self {
        let stream = StreamId::new(start.streams_before);
        let (class, endpoint) = (start.class, start.source().endpoint);
        let random = random_of_stream(start.plan, class, endpoint, plan.number);
        Self::in_period(stream, plan, &start.class_plan().active, random)
    }

    fn in_period(
        stream: StreamId,
        plan: &StreamPlan,
        active: &Range<Time>,
        stream_of: impl Fn(Purpose) -> Stream,
    ) -> Self {
        let Range { start, end } = period(plan, active, &stream_of);
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
        let (plan, held, is_suspended) = (plan.clone(), Span::ZERO, false);
        let (ahead, drawn) = (None, None);
        let mut sender = Self { stream, plan, cursor, ahead, held, is_suspended, drawn };
        sender.ahead = sender.next_ahead();
        sender
    }

    fn ahead_at(&self) -> Option<Time> {
        self.ahead.map(|ahead| ahead.at + self.held)
    }

    fn next_ahead(&mut self) -> Option<Ahead> {
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

impl Workload for StreamSender {
    fn next_at(&self) -> Option<Time> {
        self.ahead_at().filter(|_| !self.is_suspended)
    }

    fn due(&mut self, now: Time) -> Option<Draft> {
        if self.next_at() != Some(now) {
            return None;
        }
        let Ahead { payload_bytes, frame, .. } = self.ahead?;
        self.ahead = self.next_ahead();
        let is_last = self.ahead.is_none();
        self.drawn = Some(StreamPart { stream: self.stream, frame, is_last });
        Some(Draft { destination: self.plan.destination, payload_bytes })
    }

    fn stream(&self) -> Option<StreamId> {
        Some(self.stream)
    }

    fn part(&self) -> Option<StreamPart> {
        self.drawn
    }

    fn suspend(&mut self) {
        self.is_suspended = true;
    }

    fn resume(&mut self, now: Time) {
        self.is_suspended = false;
        if let Some(first) = self.ahead_at() {
            self.held = self.held + now.since(first);
        }
    }

    fn end(&mut self) {
        self.ahead = None;
    }
}

pub(in crate::traffic) fn application_crash(
    plan: &Plan,
    class: ClassId,
    endpoint: EndpointId,
    stream: &StreamPlan,
) -> Option<Time> {
    if stream.crashes <= 0.0 {
        return None;
    }
    let stream_of = random_of_stream(plan, class, endpoint, stream.number);
    let mut draw = stream_of(Purpose::Crash);
    if draw.unit() >= stream.crashes {
        return None;
    }
    let Range { start, end } = period(stream, &plan.classes[class.index()].active, &stream_of);
    let lasts = end.as_ps().saturating_sub(start.as_ps());
    Some(start + Span::from_ps(draw.below(lasts.max(1))))
}

fn period(
    plan: &StreamPlan,
    active: &Range<Time>,
    stream_of: impl Fn(Purpose) -> Stream,
) -> Range<Time> {
    let start = active.start + plan.later.draw(&mut stream_of(Purpose::Start));
    let last = |lifetime: Span| start.as_ps().checked_add(lifetime.as_ps()).map(Time::from_ps);
    start..plan.lifetime.and_then(last).unwrap_or(Time::MAX).min(active.end)
}

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

fn part(span: Span, index: u32, of: u32) -> Span {
    let ps = u128::from(span.as_ps()) * u128::from(index) / u128::from(of);
    Span::from_ps(u64::try_from(ps).expect("a part of a span"))
}
