//! Clock that sets frame deadlines for one stream.

use crate::traffic::DeadlinePlan;
use gingham_kernel::{Span, Time};

#[derive(Clone, Debug)]
pub(super) struct Clock {
    interval: Span,
    plan: DeadlinePlan,
    running: Option<Running>,
    pub(super) delivered: u32,
    pub(super) sums: FrameSums,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    due: Time,
    /// Deadline of the next frame according to the fixed clock, without slack.
    fixed: Time,
    /// Arrival time of the previous frame; `None` if that frame was lost.
    before: Option<Time>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct FrameSums {
    pub(super) frames: u32,
    pub(super) missed: u32,
    pub(super) late_ps: u128,
    pub(super) missed_fixed: u32,
    /// Number of intervals between consecutive frames that both arrived.
    pub(super) intervals: u32,
    /// Sum of the differences between these intervals and the planned interval, in ps.
    pub(super) excess_ps: i128,
    /// Sum of the squares of these differences, in ps².
    pub(super) excess_squared_ps: u128,
}

impl Clock {
    pub(super) fn new(interval: Span, plan: DeadlinePlan) -> Self {
        Self { interval, plan, running: None, delivered: 0, sums: FrameSums::default() }
    }

    pub(super) fn interval(&self) -> Span {
        self.interval
    }

    pub(super) fn warm_up_frames(&self) -> u32 {
        self.delivered.min(self.plan.warm_up_frames)
    }

    pub(super) fn arrive(&mut self, arrived: Time) {
        let Running { due, fixed, before } =
            self.running.unwrap_or(Running { due: arrived, fixed: arrived, before: None });
        let is_missed = arrived > due;
        if self.delivered >= self.plan.warm_up_frames {
            let sums = &mut self.sums;
            sums.frames += 1;
            if is_missed {
                sums.missed += 1;
                sums.late_ps += u128::from(arrived.since(due).as_ps());
            }
            sums.missed_fixed += u32::from(arrived > fixed + self.plan.slack);
            if let Some(before) = before {
                sums.count_interval(before, arrived, self.interval);
            }
        }
        self.delivered += 1;
        let from = if is_missed { arrived } else { due };
        self.running = Some(Running {
            due: from + self.interval,
            fixed: fixed + self.interval,
            before: Some(arrived),
        });
    }

    pub(super) fn skip(&mut self) {
        let interval = self.interval;
        if let Some(running) = &mut self.running {
            running.due += interval;
            running.fixed += interval;
            running.before = None;
        }
    }
}

impl FrameSums {
    fn count_interval(&mut self, before: Time, arrived: Time, interval: Span) {
        let ps = |time: Time| i128::from(time.as_ps());
        let excess = ps(arrived) - ps(before) - i128::from(interval.as_ps());
        self.intervals += 1;
        self.excess_ps += excess;
        self.excess_squared_ps += excess.unsigned_abs().pow(2);
    }
}
