//! Flow results: window totals, fairness, and time series of followed flows.

use super::super::report::RunReport;
use super::super::{Count, Estimate};
use super::sum::{FlowSum, FlowSums, place};
use super::{Flow, FlowCollector};
use crate::{ClassId, FlowKey, Hold};
use gingham_kernel::Time;
use gingham_results::{Ratio, real};
use std::ops::Range;

/// Times during which a flow with data to send was held back, by reason, as fractions of the
/// observed period.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct HeldShares([f64; 3]);

impl HeldShares {
    pub(super) fn of_sum(sum: &FlowSum, over_ps: f64) -> Self {
        Self(sum.held_ps().map(|held_ps| if over_ps > 0.0 { held_ps / over_ps } else { 0.0 }))
    }

    /// Returns the fraction for one reason.
    pub const fn of(&self, hold: Hold) -> f64 {
        self.0[place(hold)]
    }
}

/// Results of one flow over the measurement window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowReport {
    /// Identity of the flow.
    pub key: FlowKey,
    /// Messages created in the window and not dropped by policing.
    pub created: Count,
    /// Messages delivered in the window, regardless of creation time.
    pub delivered: Count,
    /// Mean rate of payload delivery in the window.
    pub accepted_bytes_per_ps: Estimate,
    /// Mean latency of messages created in the window.
    pub latency_mean_ps: Option<f64>,
    /// Fractions of the measurement window during which the flow was held back, by reason.
    pub held: HeldShares,
    /// Packets whose acknowledgements arrived in the window.
    pub acknowledged_packets: u64,
    /// Marked packets among the acknowledged packets.
    pub marked_packets: u64,
}

/// Time series of a followed flow.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowSeries {
    /// Identity of the flow.
    pub key: FlowKey,
    /// Steps from time zero to the end of the window.
    pub steps: Vec<FlowStep>,
}

/// Values of a followed flow in one step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowStep {
    /// Start of the step.
    pub from: Time,
    /// End of the step.
    pub to: Time,
    /// Values in this step alone.
    pub own: FlowValues,
    /// Values over the smoothing window, which is centred on this step.
    pub smoothed: FlowValues,
}

/// Flow values over one or several steps.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FlowValues {
    /// Mean rate of payload delivery.
    pub accepted_bytes_per_ps: f64,
    /// Mean latency of messages created in the steps.
    pub latency_mean_ps: Option<f64>,
    /// Times during which the flow was held back, by reason, as fractions of the total length of the
    /// steps.
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

/// Results of all flows of a class over the measurement window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClassFlows {
    /// Number of flows that had a message to deliver in the window.
    pub used: usize,
    /// Jain's index ([`fairness`]) of the delivered payload of used flows; `None` without
    /// deliveries.
    pub fairness: Option<Estimate>,
    /// Fractions of the measurement window during which flows were held back, by reason, averaged
    /// over used flows.
    pub held: HeldShares,
    /// Longest acknowledgement queue of any adapter over the whole run. The length includes
    /// acknowledgements for all classes, and is measured whenever one for this class is queued.
    pub acks_waiting_max: usize,
    /// Marked fraction of the packets acknowledged in the window; `None` without such packets.
    pub marked_share: Option<f64>,
}

/// Returns Jain's fairness index, `(sum x)^2 / (n sum x^2)`: 1 if all values are equal, `1 / n` if
/// all but one are zero. `None` if all are zero.
///
/// Source: Jain, Chiu and Hawe, "A quantitative measure of fairness and discrimination for resource
/// allocation in shared computer systems", DEC-TR-301, 1984.
///
/// The index is computed from sums over the whole window. Over short times, random fluctuations
/// make equal flows look unequal, so a mean over sections would be too low. The jackknife
/// half-width ([`Estimate::by_jackknife`]) includes the remaining bias.
pub fn fairness(sums: &[f64]) -> Option<f64> {
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    let all: f64 = sums.iter().sum();
    (squares > 0.0).then(|| all * all / (real(sums.len() as u128) * squares))
}

impl RunReport<'_> {
    /// Returns the results of each flow used in the window, ordered by class, source and
    /// destination. Only classes with counted flows are included.
    pub fn flows(&self) -> Vec<FlowReport> {
        let mut flows: Vec<_> = self.used().filter_map(|flow| self.flow(flow)).collect();
        flows.sort_by_key(|flow| flow.key);
        flows
    }

    /// Returns the flow results of a class over the window; `None` if its flows are not counted.
    pub fn class_flows(&self, class: ClassId) -> Option<ClassFlows> {
        let FlowCollector { is_counted, acks_waiting_max, .. } = self.all_flows();
        if !is_counted[class.index()] {
            return None;
        }
        let mut used: Vec<&Flow> = self.used().filter(|flow| flow.key.class == class).collect();
        used.sort_by_key(|flow| flow.key);
        let sections = self.class_sections(class);
        let bytes = |batch: Range<usize>| {
            let [from, to] = [batch.start, batch.end].map(|section| sections.start + section);
            let of = |flow: &&Flow| flow.sections.sum(from, to).delivered.bytes;
            used.iter().map(|flow| real(u128::from(of(flow)))).collect()
        };
        let sum: FlowSum =
            used.iter().fold(FlowSum::default(), |all, flow| all + self.sum_of(flow));
        let over_ps = self.class_window_ps(class) * real(used.len() as u128);
        Some(ClassFlows {
            used: used.len(),
            fairness: Estimate::by_jackknife(sections.len(), bytes, fairness),
            held: HeldShares::of_sum(&sum, over_ps),
            acks_waiting_max: acks_waiting_max[class.index()],
            marked_share: sum.marked_share(),
        })
    }

    /// Returns the number of flows of a class with undelivered messages. Once the end of the window
    /// is known, only messages created before that time count. Zero if flows are not counted.
    pub fn flows_in_flight(&self, class: ClassId) -> usize {
        let of_class = self.all_flows().flows.iter().filter(|flow| flow.key.class == class);
        let end = self.followed_until();
        let in_flight = |flow: &&Flow| flow.sections.sum(0, end).in_flight_messages();
        of_class.filter(|flow| in_flight(flow) > 0).count()
    }

    fn flow(&self, flow: &Flow) -> Option<FlowReport> {
        let sum = self.sum_of(flow);
        let section = |section| Ratio {
            sum: real(u128::from(flow.sections.sum(section, section + 1).delivered.bytes)),
            over: self.section_ps(section),
        };
        let class = flow.key.class;
        let sections: Vec<Ratio> = self.class_sections(class).map(section).collect();
        Some(FlowReport {
            key: flow.key,
            created: sum.created,
            delivered: sum.delivered,
            accepted_bytes_per_ps: Estimate::of_sections(&sections)?,
            latency_mean_ps: sum.latency_mean_ps(),
            held: HeldShares::of_sum(&sum, self.class_window_ps(class)),
            acknowledged_packets: sum.acknowledged_packets,
            marked_packets: sum.marked_packets,
        })
    }

    fn used(&self) -> impl Iterator<Item = &Flow> {
        let is_used = |flow: &&Flow| {
            let sections = self.class_sections(flow.key.class);
            let created = flow.sections.sum(0, sections.end).created.messages;
            created > flow.sections.sum(0, sections.start).delivered.messages
        };
        self.all_flows().flows.iter().filter(is_used)
    }

    fn sum_of(&self, flow: &Flow) -> FlowSum {
        let sections = self.class_sections(flow.key.class);
        flow.sections.sum(sections.start, sections.end)
    }

    /// Returns the series of all followed flows, in plan order, from time zero to the end of the
    /// window. Incomplete steps are omitted, except at the end of the run.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_fairness(sums: &[f64], expected: f64) {
        let found = fairness(sums).unwrap();
        assert!((found - expected).abs() < 1e-12, "{sums:?}: {found}, not {expected}");
    }

    #[test]
    fn jain_index_matches_its_definition() {
        assert_fairness(&[7.0; 5], 1.0);
        assert_fairness(&[0.0, 0.0, 3.0, 0.0], 0.25);
        // Expected: (sum x)^2 / (n sum x^2) = 6^2 / (3 x 14).
        assert_fairness(&[1.0, 2.0, 3.0], 6.0 / 7.0);
        assert_eq!(fairness(&[0.0; 3]), None);
        assert_eq!(fairness(&[]), None);
    }
}
