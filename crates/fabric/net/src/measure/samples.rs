//! Time series of followed channels, from cumulative counts at the end of each step.
//!
//! Invariant: a sample includes all events before its time and no event at its time, regardless of
//! their processing order.

use super::ChannelCount;
use super::follow::Steps;
use super::report::RunReport;
use crate::Plan;
use gingham_kernel::{Span, Time};
use gingham_results::real;
use gingham_topology::ChannelId;
use std::ops::Range;

/// Time series of a followed channel.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkSeries {
    /// Identifier of the channel.
    pub channel: ChannelId,
    /// Steps from time zero to the end of the window.
    pub steps: Vec<LinkStep>,
}

/// Step in the time series of a followed channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkStep {
    /// Start of the step.
    pub from: Time,
    /// End of the step.
    pub to: Time,
    /// Fraction of the step during which the channel carried flits.
    pub utilisation: f64,
    /// Mean utilisation over the smoothing window, which is centred on this step.
    pub utilisation_smoothed: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Samples {
    channels: Vec<(ChannelId, Span)>,
    steps: Steps,
    /// Cumulative number of data and control flits that have started, by step and then by channel.
    flits: Vec<u64>,
}

impl Samples {
    pub(super) fn new(plan: &Plan) -> Self {
        let with_flit = |channel: &ChannelId| (*channel, plan.channel(*channel).flit);
        Self {
            channels: plan.follow.channels.iter().map(with_flit).collect(),
            steps: Steps::new(plan),
            flits: Vec::new(),
        }
    }

    pub(super) fn next(&self) -> Option<Time> {
        let taken = self.flits.len().checked_div(self.channels.len())?;
        self.steps.end_of(taken)
    }

    pub(super) fn add(&mut self, time: Time, counts: &[ChannelCount]) {
        assert_eq!(Some(time), self.next(), "samples are taken at the ends of steps");
        assert_eq!(counts.len(), self.channels.len(), "a count a followed channel");
        self.flits.extend(counts.iter().map(|count| count.data_flits + count.control_flits));
    }

    fn before(&self, step: usize, channel: usize) -> u64 {
        let sample = step.checked_sub(1);
        sample.map_or(0, |sample| self.flits[sample * self.channels.len() + channel])
    }

    fn utilisation(&self, channel: usize, steps: &Range<usize>) -> f64 {
        let flits = self.before(steps.end, channel) - self.before(steps.start, channel);
        let busy_ps = u128::from(flits) * u128::from(self.channels[channel].1.as_ps());
        real(busy_ps) / self.steps.over_ps(steps)
    }
}

impl RunReport<'_> {
    /// Returns the series of the followed channels, in plan order, up to the end of the window or
    /// the last sample, with steps as in [`Self::series`]. A flit counts entirely in the step in
    /// which it starts, so the utilisation of a step may slightly exceed 1.
    pub fn link_series(&self) -> Vec<LinkSeries> {
        let samples = self.samples();
        let taken = samples.flits.len().checked_div(samples.channels.len()).unwrap_or(0);
        let count = samples.steps.count(self.window().end).min(taken);
        let of = |(place, (channel, _)): (usize, &(ChannelId, Span))| {
            let step = |step: usize| {
                let [from, to] = samples.steps.bounds(step);
                let window = samples.steps.centred(step, count);
                LinkStep {
                    from,
                    to,
                    utilisation: samples.utilisation(place, &(step..step + 1)),
                    utilisation_smoothed: samples.utilisation(place, &window),
                }
            };
            LinkSeries { channel: *channel, steps: (0..count).map(step).collect() }
        };
        samples.channels.iter().enumerate().map(of).collect()
    }
}
