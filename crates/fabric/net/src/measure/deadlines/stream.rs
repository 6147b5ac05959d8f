//! Frame states of one stream.

use super::clock::Clock;
use crate::traffic::{FramePart, FramePlan};
use gingham_kernel::Time;
use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(super) struct StreamFrames {
    pub(super) begun: u32,
    /// Started frames in ascending order, from the first incomplete frame on.
    in_flight: VecDeque<Frame>,
    pub(super) lost: u32,
    pub(super) clock: Clock,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Number of messages that have neither arrived nor been dropped.
    left: u32,
    is_lost: bool,
    arrived: Time,
}

impl StreamFrames {
    pub(super) fn new(plan: &FramePlan) -> Self {
        let clock = Clock::new(plan.interval, plan.deadlines);
        Self { begun: 0, in_flight: VecDeque::new(), lost: 0, clock }
    }

    pub(super) fn created(&mut self, part: FramePart) {
        if part.number == self.begun {
            self.begun += 1;
            let left = part.messages.get();
            self.in_flight.push_back(Frame { left, is_lost: false, arrived: Time::ZERO });
        }
    }

    pub(super) fn dropped(&mut self, part: FramePart) {
        let frame = self.frame(part);
        frame.is_lost = true;
        frame.left -= 1;
        self.judge();
    }

    pub(super) fn delivered(&mut self, part: FramePart, now: Time) {
        let frame = self.frame(part);
        frame.arrived = now;
        frame.left -= 1;
        self.judge();
    }

    fn frame(&mut self, part: FramePart) -> &mut Frame {
        let first = self.begun as usize - self.in_flight.len();
        &mut self.in_flight[part.number as usize - first]
    }

    fn judge(&mut self) {
        while let Some(frame) = self.in_flight.front().copied().filter(|frame| frame.left == 0) {
            self.in_flight.pop_front();
            if frame.is_lost {
                self.lost += 1;
                self.clock.skip();
            } else {
                self.clock.arrive(frame.arrived);
            }
        }
    }
}
