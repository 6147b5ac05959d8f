//! Bytes of packets that wait in a switch (head read, transmission not started), by output and
//! lane.
//!
//! A packet that may take several lanes counts on each of these lanes.

use crate::{Plan, Stay};

#[derive(Clone, Debug)]
pub(super) struct Waiting {
    lane_count: usize,
    bytes: Vec<u64>,
}

impl Waiting {
    pub(super) fn new(plan: &Plan) -> Self {
        let lane_count = usize::from(plan.lanes.count);
        Self { lane_count, bytes: vec![0; plan.channels.len() * lane_count] }
    }

    pub(super) fn places(&self, stay: &Stay) -> impl Iterator<Item = usize> + use<> {
        let first = stay.output.index() * self.lane_count;
        stay.lanes.lanes().map(move |lane| first + usize::from(lane))
    }

    pub(super) fn add(&mut self, stay: &Stay) {
        for place in self.places(stay) {
            self.bytes[place] += stay.wire_bytes;
        }
    }

    pub(super) fn remove(&mut self, stay: &Stay) {
        for place in self.places(stay) {
            self.bytes[place] -= stay.wire_bytes;
        }
    }

    pub(super) fn bytes(&self, place: usize) -> u64 {
        self.bytes[place]
    }

    pub(super) fn lane(&self, place: usize) -> usize {
        place % self.lane_count
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }
}
