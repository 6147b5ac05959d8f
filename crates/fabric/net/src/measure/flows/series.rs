//! Followed flows, step by step.

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
    /// Which flow.
    pub key: FlowKey,
    /// Its steps, from time zero to the end of the window.
    pub steps: Vec<FlowStep>,
}

/// A followed flow in one step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowStep {
    /// The step begins here.
    pub from: Time,
    /// It ends here.
    pub to: Time,
    /// What the flow did in it.
    pub own: FlowValues,
    /// What it did on average over the steps of the window that is centred on this one.
    pub smoothed: FlowValues,
}

/// What a flow did in a step, or on average over some.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowValues {
    /// Payload delivered, in bytes per picosecond.
    pub accepted_bytes_per_ps: f64,
    /// From creation to delivery, on average, in picoseconds; of messages created then.
    pub latency_mean_ps: Option<f64>,
    /// Shares of the time for which it was held back.
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
    /// Every followed flow in the order of the plan, step by step from time zero to the end of the
    /// window; one that was not used as well. A step that reaches beyond the window is left out;
    /// one that is cut short by the end of the run is not.
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
