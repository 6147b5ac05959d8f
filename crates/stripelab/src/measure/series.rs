//! What went on in each step of a run: of the pipe, and of each channel.

use gingham_kernel::{Span, Time};
use gingham_stripe::Flight;
use std::time::Duration;

/// A step of the pipe.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PipeStep {
    pub(crate) delivered_packets: u64,
    pub(crate) delivered_bytes: u64,
    pub(crate) out_of_order_packets: u64,
    pub(crate) delay_sum_ns: u128,
    pub(crate) lost_packets: u64,
    pub(crate) waiting_packets: u64,
}

/// A step of a channel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkStep {
    pub(crate) sent_bytes: u64,
    pub(crate) arrived_bytes: u64,
    pub(crate) lost_packets: u64,
    /// At the end of the step.
    pub(crate) queue_bytes: u64,
    pub(crate) queue_wait: Span,
    pub(crate) buffer_packets: u64,
    pub(crate) quantum_bytes: u64,
    /// What windows have found: bytes per second, bytes in flight, and how many may be.
    pub(crate) found_bytes_per_s: Option<u64>,
    pub(crate) in_flight_bytes: u64,
    pub(crate) window_bytes: u64,
    pub(crate) pace_bytes_per_s: Option<u64>,
    /// There and back, once something has come back.
    pub(crate) round_trip: Option<Duration>,
    pub(crate) round_trip_least: Option<Duration>,
}

impl LinkStep {
    /// What the sender has found of the channel by the end of the step.
    pub(crate) fn take_flight(&mut self, flight: &Flight) {
        let known = |span: Duration| (!span.is_zero()).then_some(span);
        self.found_bytes_per_s = flight.bytes_per_second;
        self.in_flight_bytes = flight.in_flight_bytes;
        self.window_bytes = flight.window_bytes;
        self.round_trip = known(flight.round_trip);
        self.round_trip_least = known(flight.round_trip_least);
        self.pace_bytes_per_s = flight.pace_bytes_per_second;
    }
}

/// All steps so far.
#[derive(Debug)]
pub(crate) struct Series {
    step: Span,
    links: usize,
    pub(crate) pipe: Vec<PipeStep>,
    /// Step by step, channel by channel.
    pub(crate) channels: Vec<LinkStep>,
}

impl Series {
    pub(crate) fn new(step: Span, links: usize) -> Self {
        let channels = vec![LinkStep::default(); links];
        Self { step, links, pipe: vec![PipeStep::default()], channels }
    }

    /// No step: what tables without rows are made of.
    pub(crate) const fn none() -> Self {
        Self { step: Span::from_ps(1_000), links: 0, pipe: Vec::new(), channels: Vec::new() }
    }

    pub(crate) const fn step(&self) -> Span {
        self.step
    }

    pub(crate) const fn links(&self) -> usize {
        self.links
    }

    /// When the present step ends.
    pub(crate) fn ends(&self) -> Time {
        Time::ZERO + self.step * self.pipe.len() as u64
    }

    pub(crate) fn pipe(&mut self) -> &mut PipeStep {
        self.pipe.last_mut().expect("there is a present step")
    }

    pub(crate) fn channel(&mut self, channel: usize) -> &mut LinkStep {
        let present = self.channels.len() - self.links;
        &mut self.channels[present + channel]
    }

    /// The next step begins.
    pub(crate) fn begin(&mut self) {
        self.pipe.push(PipeStep::default());
        self.channels.extend((0..self.links).map(|_| LinkStep::default()));
    }
}
