//! Checkpoints of a run: times when the driver acts between events.
//!
//! Order at equal times: ends of steps, searches for congestion trees, ends of sections, network
//! events, all other events, the deadlock check.

use super::Due;
use crate::measure::Collector;
use crate::traffic::application_crashes;
use crate::{NetworkEvent, NetworkEvents, Plan};
use gingham_kernel::{Span, Time};

/// Number of deadlock checks per run. *(ours)*: finds a deadlock within 1/64 of the run's maximum
/// duration.
const DEADLOCK_CHECKS: u64 = 64;

#[derive(Clone, Debug)]
pub(super) struct Checkpoints {
    check_interval_ps: u64,
    next_check: Time,
    next: Time,
    events: NetworkEvents,
    happened: usize,
}

impl Checkpoints {
    pub(super) fn new(plan: &Plan, collector: &Collector) -> Self {
        let check_interval_ps = (plan.stop.latest_end().as_ps() / DEADLOCK_CHECKS).max(1);
        let (next_check, next) = (Time::ZERO, Time::ZERO);
        let events = plan.events.iter().chain(application_crashes(plan)).collect();
        let mut checkpoints = Self { check_interval_ps, next_check, next, events, happened: 0 };
        checkpoints.pass_check(Time::ZERO);
        checkpoints.update(collector);
        checkpoints
    }

    #[inline]
    pub(super) fn next(&self) -> Time {
        self.next
    }

    pub(super) fn due(&self, event: Option<Time>, collector: &Collector) -> Due {
        if event.is_some_and(|event| event < self.next) {
            return Due::Event;
        }
        let last = self.last_before_check(collector);
        let is_now = |due: Option<Time>| due == Some(self.next);
        if self.next > last {
            Due::DeadlockCheck(last)
        } else if is_now(collector.next_sample()) {
            // A step or a search that coincides with the end of a section belongs to that section.
            Due::StepEnd(self.next)
        } else if is_now(collector.next_tree_sample()) {
            Due::TreeSample(self.next)
        } else if is_now(collector.section_end()) {
            Due::SectionEnd(self.next)
        } else {
            Due::NetworkEvent
        }
    }

    pub(super) fn take_event(&mut self) -> NetworkEvent {
        let (at, event) = self.events.get(self.happened).expect("a network event is due");
        debug_assert_eq!(at, self.next, "network events happen at their instants");
        self.happened += 1;
        event
    }

    pub(super) fn pass_check(&mut self, time: Time) {
        let interval = self.check_interval_ps;
        let passed = time.as_ps() / interval;
        self.next_check = Time::from_ps((passed + 1).saturating_mul(interval));
    }

    pub(super) fn update(&mut self, collector: &Collector) {
        let last = self.last_before_check(collector);
        let event = self.events.get(self.happened).map(|(at, _)| at);
        let ends =
            [collector.section_end(), collector.next_sample(), collector.next_tree_sample(), event];
        let end = ends.into_iter().flatten().min().filter(|end| *end <= last);
        self.next = end.unwrap_or(last + Span::from_ps(1));
    }

    fn last_before_check(&self, collector: &Collector) -> Time {
        self.next_check.min(collector.end())
    }
}
