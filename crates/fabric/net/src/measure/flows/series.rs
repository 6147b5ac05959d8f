//! Time series of followed flows.

use super::super::report::RunReport;
use super::report::HeldShares;
use super::sum::{FlowSum, FlowSums};
use super::{Flow, FlowCollector};
use crate::FlowKey;
use gingham_kernel::Time;
use gingham_results::real;
use std::ops::Range;

/// A followed flow.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowSeries {
    /// Identity of the flow.
    pub key: FlowKey,
    /// Steps from time zero to the end of the window.
    pub steps: Vec<FlowStep>,
}

/// One step of a followed flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowStep {
    /// Start of the step.
    pub from: Time,
    /// End of the step.
    pub to: Time,
    /// Values of the step.
    pub own: FlowValues,
    /// Mean values over the window of steps centred on this one.
    pub smoothed: FlowValues,
}

/// Values of a flow in a step, or averaged over some.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowValues {
    /// Payload delivered, in bytes per picosecond.
    pub accepted_bytes_per_ps: f64,
    /// Mean latency from creation to delivery of messages created in the step, in picoseconds.
    pub latency_mean_ps: Option<f64>,
    /// Fractions of the time in which it was held back.
    pub held: HeldShares,
}

impl FlowValues {
    fn new(sum: &FlowSum, over_ps: f64) -> Self {
        Self {
            accepted_bytes_per_ps: real(u128::from(sum.delivered.bytes)) / over_ps,
            latency_mean_ps: sum.latency_mean_ps(),
            held: HeldShares::of_sum(sum, over_ps),
        }
    }
}

impl RunReport<'_> {
    /// Returns every followed flow, used or not, in the order of the plan, with its steps from time
    /// zero to the end of the window. A step that extends beyond the window is omitted, unless the
    /// end of the run cuts it short.
    pub fn flow_series(&self) -> Vec<FlowSeries> {
        let FlowCollector { followed, flows, .. } = self.all_flows();
        let of = |key: &FlowKey| {
            let flow = flows.iter().find(|flow| flow.key == *key);
            let sums = flow.and_then(|flow: &Flow| flow.steps.as_ref());
            FlowSeries { key: *key, steps: self.flow_steps(sums.unwrap_or(&FlowSums::default())) }
        };
        followed.iter().map(of).collect()
    }

    fn flow_steps(&self, sums: &FlowSums) -> Vec<FlowStep> {
        let steps = self.all_flows().steps;
        let count = steps.count(self.window().end);
        let values = |range: &Range<usize>| {
            FlowValues::new(&sums.sum(range.start, range.end), steps.over_ps(range))
        };
        let step = |step: usize| {
            let [from, to] = steps.bounds(step);
            let smoothed = values(&steps.centred(step, count));
            FlowStep { from, to, own: values(&(step..step + 1)), smoothed }
        };
        (0..count).map(step).collect()
    }
}
