//! Results of a run over its measurement window.

use super::class::ClassCollector;
use super::collector::Collector;
use super::flows::FlowCollector;
use super::grid::SLICES_PER_SECTION;
use super::latencies::{Latencies, Merged};
use super::percentile::percentile;
use super::samples::Samples;
use super::served::ServedCollector;
use super::slices::Slice;
use super::window::Beginnings;
use super::{
    Bar, ChannelReport, ContentionStep, Count, Estimate, Percentile, Step, TransitReport, WarmUp,
    Window,
};
use crate::{ClassId, Delivery, Message, Quantity, Trigger};
use gingham_kernel::{Span, Time};
use gingham_results::{Ratio, batch_means, real, student_t, trend};
use gingham_topology::{ChannelId, EndpointId};
use std::ops::Range;

/// Results of one class over its measurement window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClassReport {
    /// Messages created in the window.
    pub created: Count,
    /// Messages created in the window and dropped by policing.
    pub dropped: Count,
    /// Messages created in the window and delivered at any time.
    pub followed_messages: u64,
    /// Messages among `followed_messages` that policing delayed.
    pub delayed_messages: u64,
    /// Messages among `followed_messages` that policing demoted.
    pub demoted_messages: u64,
    /// Messages delivered in the window, regardless of creation time.
    pub delivered: Count,
    /// Wire bytes of the delivered messages, counted on the source's cable.
    pub delivered_wire_bytes: u64,
    /// Mean latency of messages created in the window.
    pub latency_ps: Option<Estimate>,
    /// Longest latency from creation to delivery.
    pub latency_max: Option<Span>,
    /// Mean latency from the adapter's acceptance of the post to delivery.
    pub posted_latency_ps: Option<Estimate>,
    /// Mean time from creation until the adapter accepts the post.
    pub posting_ps: Option<Estimate>,
    /// Mean latency from network entry to delivery.
    pub network_latency_ps: Option<Estimate>,
    /// Mean latency from network entry to the arrival of the message's head.
    pub head_latency_ps: Option<Estimate>,
    /// Mean number of switches traversed by a message.
    pub hops: Option<Estimate>,
    /// Mean number of in-transit hosts traversed by a message.
    pub in_transit_hosts: Option<Estimate>,
    /// Rate of payload delivery in the window, over all hosts of the class.
    pub accepted_bytes_per_ps: Option<Estimate>,
    /// Growth of the backlog over the window, as a fraction of the messages created and not
    /// dropped. Meaningless for a backlogged class.
    pub left_behind: Option<Estimate>,
    /// Change of latency over the window as a fraction of its mean, negative if latency falls;
    /// `None` without a trend ([`gingham_results::trend`]).
    pub latency_trend: Option<f64>,
    /// Change of the backlog (undelivered messages) over the window, as a fraction of its mean;
    /// `None` without a trend.
    pub backlog_trend: Option<f64>,
}

impl ClassReport {
    /// Returns the number of messages created in the window, but neither dropped nor delivered by
    /// the end of the run.
    pub fn censored_messages(&self) -> u64 {
        self.created.messages - self.dropped.messages - self.followed_messages
    }

    /// Returns whether the backlog grew by more than the half-width of its confidence interval.
    pub fn is_saturated(&self) -> bool {
        let grew = |left: Estimate| left.half_width.is_some_and(|half| left.mean > half);
        self.left_behind.is_some_and(grew)
    }
}

/// Results of a collector over its measurement window.
#[derive(Clone, Debug)]
pub struct RunReport<'a> {
    collector: &'a Collector,
    beginnings: Beginnings,
    sections: usize,
}

impl<'a> RunReport<'a> {
    pub(super) fn new(collector: &'a Collector, sections: usize) -> Self {
        let Collector { stop, grid, classes, .. } = collector;
        let beginnings = if collector.is_finished() && stop.warm_up.is_none() {
            Beginnings::of_whole(classes.len())
        } else {
            Beginnings::of(stop.warm_up, grid, classes, sections)
        };
        Self { collector, beginnings, sections }
    }

    /// Returns the window shared by channels, hosts and all classes that reach a steady state.
    pub fn window(&self) -> Window {
        self.window_from(self.beginnings.run)
    }

    /// Returns the window of a class, which differs from [`Self::window`] only if the class reaches
    /// no steady state.
    pub fn class_window(&self, class: ClassId) -> Window {
        self.window_from(self.beginnings.classes[class.index()])
    }

    /// Returns the time until the last delivery; `None` unless the workload ended with every
    /// message delivered.
    pub fn makespan(&self) -> Option<Span> {
        let Collector { is_finished, last_delivery, .. } = self.collector;
        is_finished.then(|| last_delivery.since(Time::ZERO))
    }

    /// Returns the number of data packets of a class that `trigger` marked over the whole run.
    pub fn marked_packets(&self, class: ClassId, trigger: Trigger) -> u64 {
        self.collector.marked_packets(class, trigger)
    }

    /// Returns the number of refused posts of a class over the whole run.
    pub fn refused_posts(&self, class: ClassId) -> u64 {
        self.collector.refused_posts(class)
    }

    fn window_from(&self, (first, warm_up): (usize, WarmUp)) -> Window {
        let [start, end] = [first, self.sections].map(|at| self.collector.grid.boundary(at));
        Window { start, end, warm_up }
    }

    /// Returns whether the confidence intervals are as narrow as the plan requires; true without a
    /// requirement.
    pub fn is_narrow_enough(&self) -> bool {
        self.collector.stop.relative_width.is_none_or(|width| self.is_as_narrow_as(width, 0))
    }

    /// Returns the results of a class over its window.
    pub fn class(&self, class: ClassId) -> ClassReport {
        let whole = self.whole(class);
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
            posted_latency_ps: self.over_messages(class, |slice| slice.posted_latency_sum_ps),
            posting_ps: self
                .over_messages(class, |slice| slice.latency_sum_ps - slice.posted_latency_sum_ps),
            network_latency_ps: self.over_messages(class, |slice| slice.network_latency_sum_ps),
            head_latency_ps: self.over_messages(class, |slice| slice.head_latency_sum_ps),
            hops: self.over_messages(class, |slice| u128::from(slice.hops_sum)),
            in_transit_hosts: self
                .over_messages(class, |slice| u128::from(slice.in_transit_hosts_sum)),
            accepted_bytes_per_ps: self.over_time(class, |slice| slice.delivered.bytes),
            left_behind: self.left_behind(class),
            latency_trend: self.latency_trend(class),
            backlog_trend: self.backlog_trend(class),
        }
    }

    /// Returns the latency percentiles at `shares` (0.99 for the 99th percentile); `None` for fewer
    /// messages than `1 / (1 - share)`.
    pub fn percentiles(&self, class: ClassId, shares: &[f64]) -> Vec<Option<Percentile>> {
        let merged = self.merged(class);
        let sections = self.latencies(class);
        shares.iter().map(|share| percentile(&merged, sections, *share)).collect()
    }

    /// Returns the latency quantile `share` over all classes, each in its own window; `None` for
    /// fewer messages than `1 / (1 - share)`.
    pub fn percentile_of_all(&self, share: f64) -> Option<Span> {
        let merged = Merged::of(self.classes().flat_map(|class| self.latencies(class)));
        Some(percentile(&merged, &[], share)?.latency)
    }

    /// Returns the non-empty bins of a class's latency histogram in ascending order.
    pub fn histogram(&self, class: ClassId) -> Vec<Bar> {
        self.merged(class).bars()
    }

    /// Returns the time series of a class from time zero to the end of the window. Steps have the
    /// plan's step width; without one, they are slices. Incomplete steps are omitted, except at the
    /// end of the run.
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

    /// Returns the smallest mean network latency among all slices since time zero, in ps; `None`
    /// without deliveries.
    pub fn least_network_latency_ps(&self, class: ClassId) -> Option<f64> {
        let slices = self.collector.classes[class.index()].slices.range(0, usize::MAX);
        slices.iter().filter_map(Slice::network_latency_mean_ps).reduce(f64::min)
    }

    /// Returns the results of each channel over the window; `None` if the window is empty.
    pub fn channels(&self) -> impl Iterator<Item = Option<ChannelReport>> {
        let sections_ps = self.run_sections().map(|section| self.section_ps(section)).collect();
        self.collector.channels.reports(self.run_sections().start, sections_ps)
    }

    /// Returns the results of one channel; for all channels, use [`Self::channels`].
    pub fn channel(&self, channel: ChannelId) -> Option<ChannelReport> {
        self.channels().nth(channel.index()).expect("there is such a channel")
    }

    /// Returns the results of an in-transit host over the window.
    pub fn transit(&self, host: EndpointId) -> TransitReport {
        let Range { start, end } = self.run_sections();
        self.collector.transit.report(host, start, end)
    }

    /// Returns contention coefficients in the steps of [`Self::series`]; empty if no host chooses
    /// paths by contention.
    pub fn contention(&self) -> Vec<ContentionStep> {
        let Collector { grid, stop, contention, .. } = self.collector;
        contention.series(grid, self.window().end, stop.time)
    }

    /// Returns the sampled messages of each class's window, ordered by creation time, source and
    /// number.
    pub fn sample(&self) -> Vec<Delivery> {
        let windows: Vec<Window> = self.classes().map(|class| self.class_window(class)).collect();
        let within = |delivery: &&Delivery| {
            let Message { class, created, .. } = delivery.message;
            let window = windows[class.index()];
            (window.start..window.end).contains(&created)
        };
        let mut sample: Vec<_> = self.collector.records.kept().filter(within).copied().collect();
        sample.sort_by_key(|Delivery { message, .. }| (message.created, message.id()));
        sample
    }

    /// Returns the number of messages created in the window and delivered, over all classes.
    pub fn followed_messages(&self) -> u64 {
        let of = |class| self.whole(class).followed_messages;
        self.classes().map(of).sum()
    }

    fn has_settled(&self) -> bool {
        self.beginnings.classes.iter().all(|(_, warm_up)| *warm_up != WarmUp::TooShort)
    }

    pub(super) fn has_messages(&self, wanted: u64) -> bool {
        self.has_settled() && self.followed_messages() >= wanted
    }

    /// Returns the exclusive end of the followed sections; `usize::MAX` until known.
    pub(super) fn followed_until(&self) -> usize {
        self.collector.closed.unwrap_or(usize::MAX)
    }

    pub(super) fn sections(&self) -> usize {
        self.sections
    }

    pub(super) fn is_as_narrow_as(&self, width: f64, messages_min: u64) -> bool {
        let is_narrow = |class| {
            let messages = self.whole(class).followed_messages;
            let relative = self.quantity(class).and_then(|estimate| estimate.relative_width());
            messages >= messages_min && relative.is_some_and(|relative| relative <= width)
        };
        self.has_settled() && self.classes().all(is_narrow)
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

    fn left_behind(&self, class: ClassId) -> Option<Estimate> {
        let sections = self.ratios(class, |_, slice| Ratio {
            sum: slice.left_messages(),
            over: real(u128::from(slice.created.messages - slice.dropped.messages)),
        });
        Estimate::of_sections_to(&sections, student_t)
    }

    fn latency_trend(&self, class: ClassId) -> Option<f64> {
        relative_trend(&self.ratios(class, |_, slice| Ratio {
            sum: real(slice.latency_sum_ps),
            over: real(u128::from(slice.followed_messages)),
        }))
    }

    fn backlog_trend(&self, class: ClassId) -> Option<f64> {
        let slices = &self.collector.classes[class.index()].slices;
        let mut backlog = 0.0;
        let mut section = |section: usize| {
            let ends = (section * SLICES_PER_SECTION..).take(SLICES_PER_SECTION);
            let sum = ends
                .map(|slice| {
                    backlog += slices.sum(slice, slice + 1).left_messages();
                    backlog
                })
                .sum();
            Ratio { sum, over: real(SLICES_PER_SECTION as u128) }
        };
        let backlogs: Vec<Ratio> = (0..self.sections).map(&mut section).collect();
        relative_trend(&backlogs[self.class_sections(class)])
    }

    fn classes(&self) -> impl Iterator<Item = ClassId> + use<> {
        ClassId::first(self.collector.classes.len())
    }

    fn latencies(&self, class: ClassId) -> &'a [Latencies] {
        let Range { start, end } = self.class_sections(class);
        self.collector.classes[class.index()].latencies.range(start, end)
    }

    fn merged(&self, class: ClassId) -> Merged {
        Merged::of(self.latencies(class))
    }

    fn whole(&self, class: ClassId) -> Slice {
        let Range { start, end } = self.class_sections(class);
        self.sum(class, start, end)
    }

    fn sum(&self, class: ClassId, from: usize, to: usize) -> Slice {
        let slices = &self.collector.classes[class.index()].slices;
        slices.sum(from * SLICES_PER_SECTION, to * SLICES_PER_SECTION)
    }

    fn over_messages(&self, class: ClassId, of: impl Fn(&Slice) -> u128) -> Option<Estimate> {
        self.estimate(class, |_, slice| Ratio {
            sum: real(of(slice)),
            over: real(u128::from(slice.followed_messages)),
        })
    }

    fn over_time(&self, class: ClassId, of: impl Fn(&Slice) -> u64) -> Option<Estimate> {
        self.estimate(class, |section, slice| Ratio {
            sum: real(u128::from(of(slice))),
            over: self.section_ps(section),
        })
    }

    fn estimate(&self, class: ClassId, of: impl Fn(usize, &Slice) -> Ratio) -> Option<Estimate> {
        Estimate::of_sections(&self.ratios(class, of))
    }

    fn ratios(&self, class: ClassId, of: impl Fn(usize, &Slice) -> Ratio) -> Vec<Ratio> {
        let section = |section| of(section, &self.sum(class, section, section + 1));
        self.class_sections(class).map(section).collect()
    }

    pub(super) fn served_of(&self, class: ClassId) -> &'a ServedCollector {
        &self.collector.classes[class.index()].served
    }

    pub(super) fn all_flows(&self) -> &'a FlowCollector {
        &self.collector.flows
    }

    pub(super) fn samples(&self) -> &'a Samples {
        &self.collector.samples
    }

    fn run_sections(&self) -> Range<usize> {
        self.beginnings.run.0..self.sections
    }

    pub(super) fn class_sections(&self, class: ClassId) -> Range<usize> {
        self.beginnings.classes[class.index()].0..self.sections
    }

    pub(super) fn class_window_ps(&self, class: ClassId) -> f64 {
        real(u128::from(self.class_window(class).span().as_ps()))
    }

    pub(super) fn section_ps(&self, section: usize) -> f64 {
        let [from, to] = [section, section + 1].map(|at| self.collector.grid.boundary(at));
        real(u128::from(to.since(from).as_ps()))
    }
}

fn relative_trend(sections: &[Ratio]) -> Option<f64> {
    let mean = Estimate::of_sections(sections)?.mean;
    let rise = trend(&batch_means(sections))?;
    (mean > 0.0).then(|| rise / mean)
}
