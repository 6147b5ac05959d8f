//! The deadlines of one stream, frame after frame.

use crate::traffic::DeadlinePlan;
use gingham_kernel::{Span, Time};

/// The deadlines of one stream, and what it made of them.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    interval: Span,
    plan: DeadlinePlan,
    /// Once a frame has arrived.
    running: Option<Running>,
    /// Frames that have arrived, counted or not.
    pub(super) delivered: u32,
    pub(super) sums: FrameSums,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    /// The deadline of the next frame.
    due: Time,
    /// The same of the fixed clock, without slack.
    fixed: Time,
    /// When the frame before arrived, if it did.
    before: Option<Time>,
}

/// Sums over the frames of a stream that count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct FrameSums {
    /// Frames that have arrived.
    pub(super) frames: u32,
    /// Of these, later than their deadline.
    pub(super) missed: u32,
    /// By how much, all together, in picoseconds.
    pub(super) late_ps: u128,
    /// Later than the fixed clock says, and the slack.
    pub(super) missed_fixed: u32,
    /// Those that came after the frame before them.
    pub(super) intervals: u32,
    /// By how much later than an interval after it, all together, in picoseconds.
    pub(super) excess_ps: i128,
    /// The same squared.
    pub(super) excess_squared_ps: u128,
}

impl Clock {
    pub(super) fn new(interval: Span, plan: DeadlinePlan) -> Self {
        Self { interval, plan, running: None, delivered: 0, sums: FrameSums::default() }
    }

    /// From one frame to the next.
    pub(super) fn interval(&self) -> Span {
        self.interval
    }

    /// The first frames, which do not count, as far as they have arrived.
    pub(super) fn warm_up_frames(&self) -> u32 {
        self.delivered.min(self.plan.warm_up_frames)
    }

    /// The next frame has arrived.
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

    /// The next frame will never arrive.
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
