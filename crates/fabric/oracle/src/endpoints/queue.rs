//! Adapter queue of a flow, or shared queue of a group and priority (`timing.md`, "Flows").

use super::message::MessageIndex;
use super::response::{self, Limits};
use gingham_kernel::{Span, Time};
use gingham_net::{FlowId, FlowKey, Plan, REFILL_BYTES, WindowPlan};
use std::sync::Arc;

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Queued,
    Started { payload_bytes: u32, is_last: bool },
    Acknowledged { packets: u32, is_marked: bool },
}

#[derive(Clone, Copy, Debug)]
struct Event {
    number: usize,
    now: Time,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct State {
    pub(super) messages: usize,
    /// Number of packets started but not yet acknowledged; always 0 unless all packets of the queue
    /// are acknowledged.
    pub(super) in_flight: u32,
    pub(super) limits: Limits,
    pub(super) earliest: Time,
    /// Number of the event after which the queue has continuously had a packet and an open window
    /// without sending; determines the round-robin order.
    pub(super) joined: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) group: usize,
    pub(super) level: usize,
    pub(super) flow: Option<FlowId>,
    pub(super) messages: Vec<MessageIndex>,
    window: Option<WindowPlan>,
    initial: Limits,
    events: Vec<Event>,
    state: State,
}

impl Queue {
    pub(super) fn shared((group, level): (usize, usize)) -> Self {
        Self::new((group, level), None, (None, None))
    }

    pub(super) fn of_flow(
        plan: &Arc<Plan>,
        place: (usize, usize),
        id: FlowId,
        key: FlowKey,
    ) -> Self {
        let class = &plan.classes[key.class.index()];
        let refill =
            class.rate_limit.as_ref().map(|rate_limit| rate_limit.refill[key.source.index()]);
        Self::new(place, Some(id), (class.window.clone(), refill))
    }

    fn new(
        (group, level): (usize, usize),
        flow: Option<FlowId>,
        (window, refill): (Option<WindowPlan>, Option<Span>),
    ) -> Self {
        let window_packets = window.as_ref().map_or(u32::MAX, |window| window.packets);
        let initial = Limits { window_packets, refill, gap: Span::ZERO };
        let (messages, events) = (Vec::new(), Vec::new());
        let state = state_after(&events, window.as_ref(), initial);
        Self { group, level, flow, messages, window, initial, events, state }
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// Returns whether a packet waits because the window is closed.
    pub(super) fn is_shut(&self) -> bool {
        self.state.messages > 0 && self.state.joined.is_none()
    }

    pub(super) fn happened(&mut self, number: usize, now: Time, what: What) {
        self.events.push(Event { number, now, what });
        self.state = state_after(&self.events, self.window.as_ref(), self.initial);
    }
}

fn state_after(events: &[Event], window: Option<&WindowPlan>, initial: Limits) -> State {
    let mut limits = initial;
    let mut law = window.map(|window| response::law(&window.response, &limits));
    let counts = window.is_some_and(|window| window.acknowledged.is_of_all());
    let (mut queued, mut finished, mut acknowledged) = (0, 0, 0);
    let mut starts: Vec<Time> = Vec::new();
    let (mut earliest, mut joined) = (Time::ZERO, None);
    for Event { number, now, what } in events {
        match what {
            What::Queued => queued += 1,
            What::Started { payload_bytes, is_last } => {
                finished += usize::from(*is_last);
                starts.push(*now);
                if let Some(law) = &mut law {
                    law.starts(*payload_bytes, &mut limits, *now);
                }
                earliest = next_start(&limits, *now, *payload_bytes).unwrap_or(earliest);
                joined = None;
            }
            What::Acknowledged { packets, is_marked } => {
                acknowledged += packets;
                let law = law.as_mut().expect("a flow without a window has no acknowledgements");
                for _ in 0..if *is_marked { 0 } else { *packets } {
                    law.unmarked(&mut limits, *now);
                }
                if *is_marked {
                    law.marked(&mut limits, *now);
                }
                if counts {
                    let last = starts[acknowledged as usize - 1];
                    law.round_trip(now.since(last), *packets, &mut limits, *now);
                }
            }
        }
        let in_flight = in_flight(counts, starts.len(), acknowledged);
        let may_send = queued > finished && in_flight < limits.window_packets;
        joined = may_send.then(|| joined.unwrap_or(*number));
    }
    let in_flight = in_flight(counts, starts.len(), acknowledged);
    State { messages: queued - finished, in_flight, limits, earliest, joined }
}

fn in_flight(counts: bool, started: usize, acknowledged: u32) -> u32 {
    let started = u32::try_from(started).expect("packets of a run");
    if counts { started - acknowledged } else { 0 }
}

/// Returns the earliest start of the next packet if a packet starts at `now`: the later of `now +
/// ceil(refill payload / 65536)` (rate limit) and `now + gap`; `None` if neither limit applies.
fn next_start(limits: &Limits, now: Time, payload_bytes: u32) -> Option<Time> {
    let by_rate_limit = limits.refill.map(|refill| {
        let parts = u128::from(refill.as_ps()) * u128::from(payload_bytes);
        let ps = parts.div_ceil(u128::from(REFILL_BYTES));
        now + Span::from_ps(u64::try_from(ps).expect("a packet starts within a run"))
    });
    let by_gap = (limits.gap > Span::ZERO).then(|| now + limits.gap);
    by_rate_limit.max(by_gap)
}
