//! What was measured: the window of a run, and what it holds.

use super::class::ClassCollector;
use super::collector::Collector;
use super::flows::FlowCollector;
use super::grid::SLICES_PER_SECTION;
use super::latencies::{Latencies, Merged};
use super::percentile::percentile;
use super::samples::Samples;
use super::slices::Slice;
use super::window::after_warm_up;
use super::{
    Bar, ChannelReport, ContentionStep, Count, Estimate, Percentile, Step, TransitReport, WarmUp,
    Window,
};
use crate::{ClassId, Delivery, Quantity};
use gingham_kernel::{Span, Time};
use gingham_results::{Ratio, real};
use gingham_topology::{ChannelId, EndpointId};
use std::ops::Range;

/// What one class did in the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClassReport {
    /// Created in the window.
    pub created: Count,
    /// Of these, dropped by policing.
    pub dropped: Count,
    /// Created in the window and delivered.
    pub followed_messages: u64,
    /// Of these, delayed by policing.
    pub delayed_messages: u64,
    /// Of these, demoted by policing.
    pub demoted_messages: u64,
    /// Delivered in the window, whenever created.
    pub delivered: Count,
    /// Bytes on the wire, at the source's cable, of what was delivered in the window.
    pub delivered_wire_bytes: u64,
    /// From creation to delivery, in picoseconds; of messages created in the window.
    pub latency_ps: Option<Estimate>,
    /// The longest latency.
    pub latency_max: Option<Span>,
    /// From entry into the network to delivery, in picoseconds; of messages created in the window.
    pub network_latency_ps: Option<Estimate>,
    /// From entry into the network to the arrival of the head, in picoseconds; of messages created
    /// in the window.
    pub head_latency_ps: Option<Estimate>,
    /// Switches traversed; of messages created in the window.
    pub hops: Option<Estimate>,
    /// Hosts that took it in and sent it on; of messages created in the window.
    pub in_transit_hosts: Option<Estimate>,
    /// Payload delivered in the window, in bytes per picosecond over all hosts of the class.
    pub accepted_bytes_per_ps: Option<Estimate>,
    /// Whether less was delivered than created and not dropped, in both halves of the window and by
    /// more than the interval of what was delivered: the backlog grows. Means nothing for a
    /// backlogged class.
    pub is_saturated: bool,
}

impl ClassReport {
    /// Created in the window, not dropped and not delivered within the time of following.
    pub fn censored_messages(&self) -> u64 {
        self.created.messages - self.dropped.messages - self.followed_messages
    }
}

/// A collector, read over its window.
#[derive(Clone, Copy, Debug)]
pub struct RunReport<'a> {
    collector: &'a Collector,
    /// The section with which the window begins.
    first: usize,
    /// The section with which it ends, itself not included.
    sections: usize,
    warm_up: WarmUp,
}

impl<'a> RunReport<'a> {
    /// The collector read over its first `sections` sections, less the warm-up.
    pub(super) fn new(collector: &'a Collector, sections: usize) -> Self {
        let Collector { stop, grid, classes, .. } = collector;
        let (first, warm_up) = after_warm_up(stop.warm_up, grid, classes, sections);
        Self { collector, first, sections, warm_up }
    }

    /// Beginning and end of the window.
    pub fn window(&self) -> Window {
        let [start, end] = [self.first, self.sections].map(|at| self.collector.grid.boundary(at));
        Window { start, end, warm_up: self.warm_up }
    }

    /// Whether the intervals are as narrow as the plan wants; true where it does not say.
    pub fn is_narrow_enough(&self) -> bool {
        self.collector.stop.relative_width.is_none_or(|width| self.is_as_narrow_as(width, 0))
    }

    /// What a class did in the window.
    pub fn class(&self, class: ClassId) -> ClassReport {
        let whole = self.sum(class, self.first, self.sections);
        let accepted = self.over_time(class, |slice| slice.delivered.bytes);
        ClassReport {
            created: whole.created,
            dropped: whole.dropped,
            followed_messages: whole.followed_messages,
            delayed_messages: whole.delayed_messages,
            demoted_messages: whole.demoted_messages,
            delivered: whole.delivered,
            delivered_wire_bytes: whole.delivered_wire_bytes,
            latency_ps: self.over_messages(class, |slice| slice.latency_sum_ps),
            latency_max: self.merged(class).longest(),
            network_latency_ps: self.over_messages(class, |slice| slice.network_latency_sum_ps),
            head_latency_ps: self.over_messages(class, |slice| slice.head_latency_sum_ps),
            hops: self.over_messages(class, |slice| u128::from(slice.hops_sum)),
            in_transit_hosts: self
                .over_messages(class, |slice| u128::from(slice.in_transit_hosts_sum)),
            accepted_bytes_per_ps: accepted,
            is_saturated: self.is_saturated(class, accepted),
        }
    }

    /// The latency that a `share` of the messages does not exceed (0.99: the 99th percentile), for
    /// every share; `None` where fewer messages than `1 / (1 - share)` were followed.
    pub fn percentiles(&self, class: ClassId, shares: &[f64]) -> Vec<Option<Percentile>> {
        let merged = self.merged(class);
        let sections = self.latencies(class);
        shares.iter().map(|share| percentile(&merged, sections, *share)).collect()
    }

    /// The histogram of latencies of a class, without its empty bars, from short to long.
    pub fn histogram(&self, class: ClassId) -> Vec<Bar> {
        self.merged(class).bars()
    }

    /// What a class did step by step, from time zero to the end of the window: the steps that the
    /// plan asks for, or slices. A step that reaches beyond the window is left out; one that is cut
    /// short by the end of the run is not.
    pub fn series(&self, class: ClassId) -> Vec<Step> {
        let ClassCollector { slices, steps, .. } = &self.collector.classes[class.index()];
        let (width, slices) = match steps {
            Some(steps) => (steps.width, &steps.slices),
            None => (self.collector.grid.slice(), slices),
        };
        let (end, last) = (self.window().end, self.collector.stop.time);
        let step = |index: usize| {
            let [from, to] =
                [index, index + 1].map(|at| (Time::ZERO + width * at as u64).min(last));
            Step::new(from, to, &slices.sum(index, index + 1))
        };
        (0..usize::MAX).map(step).take_while(|step| step.from < step.to && step.to <= end).collect()
    }

    /// What a channel did in the window; `None` if the window is empty.
    pub fn channel(&self, channel: ChannelId) -> Option<ChannelReport> {
        let sections_ps: Vec<f64> =
            (self.first..self.sections).map(|section| self.section_ps(section)).collect();
        self.collector.channels.report(channel.index(), self.first, &sections_ps)
    }

    /// What a host did as an in-transit host.
    pub fn transit(&self, host: EndpointId) -> TransitReport {
        self.collector.transit.report(host, self.first, self.sections)
    }

    /// What hosts made of the network step by step, from time zero to the end of the window, in the
    /// steps of [`Self::series`]; nothing where packets do not choose by contention.
    pub fn contention(&self) -> Vec<ContentionStep> {
        let Collector { grid, stop, contention, .. } = self.collector;
        contention.series(grid, self.window().end, stop.time)
    }

    /// The sampled messages that were created in the window, in order of creation.
    pub fn sample(&self) -> Vec<Delivery> {
        let window = self.window();
        let within =
            |delivery: &&Delivery| (window.start..window.end).contains(&delivery.message.created);
        let mut sample: Vec<_> =
            self.collector.records.kept().iter().filter(within).copied().collect();
        sample.sort_by_key(|delivery| delivery.message.id);
        sample
    }

    /// Messages created in the window and delivered, over all classes.
    pub fn followed_messages(&self) -> u64 {
        let of = |class| self.sum(class, self.first, self.sections).followed_messages;
        self.classes().map(of).sum()
    }

    /// Whether so many messages were created in the window and delivered, its warm-up being over.
    pub(super) fn has_messages(&self, wanted: u64) -> bool {
        self.warm_up != WarmUp::TooShort && self.followed_messages() >= wanted
    }

    /// The section from which on what is created is not followed, once that is known.
    pub(super) fn followed_until(&self) -> usize {
        self.collector.closed.unwrap_or(usize::MAX)
    }

    /// The section with which the window ends.
    pub(super) fn sections(&self) -> usize {
        self.sections
    }

    /// Whether every class's interval is that narrow in the quantity of the plan, of so many
    /// messages at the least, and the warm-up over.
    pub(super) fn is_as_narrow_as(&self, width: f64, messages_min: u64) -> bool {
        let is_narrow = |class| {
            let messages = self.sum(class, self.first, self.sections).followed_messages;
            let relative = self.quantity(class).and_then(|estimate| estimate.relative_width());
            messages >= messages_min && relative.is_some_and(|relative| relative <= width)
        };
        self.warm_up != WarmUp::TooShort && self.classes().all(is_narrow)
    }

    fn quantity(&self, class: ClassId) -> Option<Estimate> {
        match self.collector.stop.quantity {
            Quantity::Latency => self.over_messages(class, |slice| slice.latency_sum_ps),
            Quantity::NetworkLatency => {
                self.over_messages(class, |slice| slice.network_latency_sum_ps)
            }
            Quantity::HeadLatency => self.over_messages(class, |slice| slice.head_latency_sum_ps),
            Quantity::AcceptedLoad => self.over_time(class, |slice| slice.delivered.bytes),
            Quantity::Hops => self.over_messages(class, |slice| u128::from(slice.hops_sum)),
        }
    }

    fn classes(&self) -> impl Iterator<Item = ClassId> + use<> {
        ClassId::first(self.collector.classes.len())
    }

    /// The latencies of a class by section of the window.
    fn latencies(&self, class: ClassId) -> &'a [Latencies] {
        self.collector.classes[class.index()].latencies.range(self.first, self.sections)
    }

    fn merged(&self, class: ClassId) -> Merged {
        Merged::of(self.latencies(class))
    }

    /// The sum of a class over sections `from..to`.
    fn sum(&self, class: ClassId, from: usize, to: usize) -> Slice {
        let slices = &self.collector.classes[class.index()].slices;
        slices.sum(from * SLICES_PER_SECTION, to * SLICES_PER_SECTION)
    }

    /// A mean over the messages that were created in the window.
    fn over_messages(&self, class: ClassId, of: impl Fn(&Slice) -> u128) -> Option<Estimate> {
        self.estimate(class, |_, slice| Ratio {
            sum: real(of(slice)),
            over: real(u128::from(slice.followed_messages)),
        })
    }

    /// A rate per picosecond of the window.
    fn over_time(&self, class: ClassId, of: impl Fn(&Slice) -> u64) -> Option<Estimate> {
        self.estimate(class, |section, slice| Ratio {
            sum: real(u128::from(of(slice))),
            over: self.section_ps(section),
        })
    }

    fn estimate(&self, class: ClassId, of: impl Fn(usize, &Slice) -> Ratio) -> Option<Estimate> {
        let section = |section| of(section, &self.sum(class, section, section + 1));
        let sections: Vec<Ratio> = (self.first..self.sections).map(section).collect();
        Estimate::of_sections(&sections)
    }

    /// The counts of flows.
    pub(super) fn all_flows(&self) -> &'a FlowCollector {
        &self.collector.flows
    }

    /// The counts of followed channels.
    pub(super) fn samples(&self) -> &'a Samples {
        &self.collector.samples
    }

    /// The sections of the window.
    pub(super) fn window_sections(&self) -> Range<usize> {
        self.first..self.sections
    }

    /// Length of the window in picoseconds.
    pub(super) fn window_ps(&self) -> f64 {
        real(u128::from(self.window().span().as_ps()))
    }

    pub(super) fn section_ps(&self, section: usize) -> f64 {
        let [from, to] = [section, section + 1].map(|at| self.collector.grid.boundary(at));
        real(u128::from(to.since(from).as_ps()))
    }

    fn is_saturated(&self, class: ClassId, accepted: Option<Estimate>) -> bool {
        let Some(half_width) = accepted.and_then(|accepted| accepted.half_width) else {
            return false;
        };
        let fell_behind = |from, to| {
            let half = self.sum(class, from, to);
            let offered = real(u128::from(half.created.bytes - half.dropped.bytes));
            let left = offered - real(u128::from(half.delivered.bytes));
            let span_ps: f64 = (from..to).map(|section| self.section_ps(section)).sum();
            left > half_width * span_ps
        };
        let middle = self.first.midpoint(self.sections);
        fell_behind(self.first, middle) && fell_behind(middle, self.sections)
    }
}
