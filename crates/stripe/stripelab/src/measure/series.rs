//! Time series of the pipe and of each channel.

use super::Delays;
use gingham_kernel::{Span, Time};
use gingham_stripe::Flight;
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PipeStep {
    pub(crate) delivered_packets: u64,
    pub(crate) delivered_bytes: u64,
    pub(crate) out_of_order_packets: u64,
    pub(crate) delay_sum_ns: u128,
    pub(crate) lost_packets: u64,
    pub(crate) waiting_packets: u64,
    pub(crate) waiting_bytes: u64,
    pub(crate) entry_dropped_packets: u64,
    pub(crate) marked_packets: u64,
    pub(crate) sojourn_p50_ns: Option<u64>,
    pub(crate) sojourn_p99_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkStep {
    pub(crate) sent_bytes: u64,
    pub(crate) arrived_bytes: u64,
    pub(crate) lost_packets: u64,
    /// Queue length at the end of the step, when the following values are also sampled.
    pub(crate) queue_bytes: u64,
    pub(crate) queue_wait: Span,
    pub(crate) buffer_packets: u64,
    pub(crate) quantum_bytes: u64,
    /// Channel capacity estimated by the sender's congestion controller.
    pub(crate) found_bytes_per_s: Option<u64>,
    pub(crate) in_flight_bytes: u64,
    pub(crate) window_bytes: u64,
    pub(crate) pacing_rate_bytes_per_s: Option<u64>,
    pub(crate) round_trip: Option<Duration>,
    pub(crate) round_trip_least: Option<Duration>,
}

impl LinkStep {
    pub(crate) fn take_flight(&mut self, flight: &Flight) {
        let known = |span: Duration| (!span.is_zero()).then_some(span);
        self.found_bytes_per_s = flight.bytes_per_second;
        self.in_flight_bytes = flight.in_flight_bytes;
        self.window_bytes = flight.window_bytes;
        self.round_trip = known(flight.round_trip);
        self.round_trip_least = known(flight.round_trip_least);
        self.pacing_rate_bytes_per_s = flight.pacing_rate_bytes_per_second;
    }
}

#[derive(Debug)]
pub(crate) struct Series {
    step: Span,
    links: usize,
    pub(crate) pipe: Vec<PipeStep>,
    pub(crate) channels: Vec<LinkStep>,
    sojourns: Option<Delays>,
}

impl Series {
    pub(crate) fn new(step: Span, links: usize) -> Self {
        let channels = vec![LinkStep::default(); links];
        let sojourns = Some(Delays::new(1));
        Self { step, links, pipe: vec![PipeStep::default()], channels, sojourns }
    }

    pub(crate) const fn none() -> Self {
        let step = Span::from_ps(1_000);
        Self { step, links: 0, pipe: Vec::new(), channels: Vec::new(), sojourns: None }
    }

    pub(crate) const fn step(&self) -> Span {
        self.step
    }

    pub(crate) const fn links(&self) -> usize {
        self.links
    }

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

    pub(crate) fn waited(&mut self, sojourn_ns: u64) {
        if let Some(sojourns) = &mut self.sojourns {
            sojourns.record(0, sojourn_ns);
        }
    }

    pub(crate) fn begin(&mut self) {
        if let Some(sojourns) = &mut self.sojourns {
            let (half, most) = (sojourns.percentile_ns(50.0), sojourns.percentile_ns(99.0));
            sojourns.clear();
            let step = self.pipe();
            (step.sojourn_p50_ns, step.sojourn_p99_ns) = (half, most);
        }
        self.pipe.push(PipeStep::default());
        self.channels.extend((0..self.links).map(|_| LinkStep::default()));
    }
}
