//! What was measured: the window of a run, and what it holds.

use super::estimate::{Ratio, real};
use super::grid::SLICES_PER_SECTION;
use super::ledger::Ledger;
use super::slices::Slice;
use super::{ChannelMeasured, Count, Estimate};
use crate::{ClassId, Delivery, Quantity};
use gingham_kernel::{Span, Time};
use gingham_topology::ChannelId;

/// How the beginning of the window was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WarmUp {
    /// It was given.
    Given,
    /// MSER-5 found it.
    Found,
    /// MSER-5 would cut more than half: the run is too short. The window is the second half.
    TooShort,
}

/// The part of a run that its numbers describe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// It begins here, at a section boundary.
    pub start: Time,
    /// It ends here.
    pub end: Time,
    /// How its beginning was found.
    pub warm_up: WarmUp,
}

impl Window {
    /// Its length.
    pub fn span(&self) -> Span {
        self.end.since(self.start)
    }
}

/// What one class did in the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClassMeasured {
    /// Created in the window.
    pub created: Count,
    /// Created in the window and delivered.
    pub followed_messages: u64,
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
    /// Switches traversed; of messages created in the window.
    pub hops: Option<Estimate>,
    /// Payload delivered in the window, in bytes per picosecond over all hosts of the class.
    pub accepted_bytes_per_ps: Option<Estimate>,
    /// Whether less was delivered than created, in both halves of the window and by more than the interval of
    /// what was delivered: the backlog grows. Means nothing for a backlogged class.
    pub is_saturated: bool,
}

impl ClassMeasured {
    /// Created in the window and not delivered within the time of following.
    pub fn censored_messages(&self) -> u64 {
        self.created.messages - self.followed_messages
    }
}

/// A percentile of latency with its 95 % interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Percentile {
    /// So long or shorter was the latency of this share of the messages.
    pub latency: Span,
    /// Lower end of the interval.
    pub low: Option<Span>,
    /// Upper end of the interval; `None` where too few messages lie above it.
    pub high: Option<Span>,
}

/// A bar of the histogram of latencies: `from` included, `below` not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bar {
    /// The shortest latency counted.
    pub from: Span,
    /// Shorter than this.
    pub below: Span,
    /// Messages created in the window with such a latency.
    pub messages: u64,
}

/// A step of a time series.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// It begins here.
    pub from: Time,
    /// It ends here.
    pub to: Time,
    /// Created in it.
    pub created: Count,
    /// Delivered in it.
    pub delivered: Count,
    /// Mean latency of the messages created in it and delivered, in picoseconds.
    pub latency_mean_ps: Option<f64>,
}

/// A ledger, read over its window.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    ledger: &'a Ledger,
    /// The section with which the window begins.
    first: usize,
    /// The section with which it ends, itself not included.
    sections: usize,
    warm_up: WarmUp,
}

impl<'a> Measured<'a> {
    /// The ledger read over its first `sections` sections, less the warm-up.
    pub(super) fn new(ledger: &'a Ledger, sections: usize) -> Self {
        let given = ledger.stop.warm_up.unwrap_or(Time::ZERO);
        let first = ledger.grid.section_from(given).min(sections);
        Self { ledger, first, sections, warm_up: WarmUp::Given }
    }

    /// Beginning and end of the window.
    pub fn window(&self) -> Window {
        let [start, end] = [self.first, self.sections].map(|at| self.ledger.grid.boundary(at));
        Window { start, end, warm_up: self.warm_up }
    }

    /// Whether the intervals are as narrow as the plan wants; true where it does not say.
    pub fn is_narrow_enough(&self) -> bool {
        self.ledger.stop.relative_width.is_none_or(|width| self.is_as_narrow_as(width))
    }

    /// What a class did in the window.
    pub fn class(&self, class: ClassId) -> ClassMeasured {
        let whole = self.sum(class, self.first, self.sections);
        let accepted = self.over_time(class, |slice| slice.delivered.bytes);
        ClassMeasured {
            created: whole.created,
            followed_messages: whole.followed_messages,
            delivered: whole.delivered,
            delivered_wire_bytes: whole.delivered_wire_bytes,
            latency_ps: self.over_messages(class, |slice| slice.latency_sum_ps),
            latency_max: None,
            network_latency_ps: self.over_messages(class, |slice| slice.network_latency_sum_ps),
            hops: self.over_messages(class, |slice| u128::from(slice.hops_sum)),
            accepted_bytes_per_ps: accepted,
            is_saturated: self.is_saturated(class, accepted),
        }
    }

    /// The latency that `percent` per cent of the messages do not exceed; `None` where fewer messages were
    /// followed than it takes to say.
    pub fn percentile(&self, class: ClassId, percent: f64) -> Option<Percentile> {
        let _ = (class, percent);
        None
    }

    /// The histogram of latencies of a class, its empty bars left out.
    pub fn histogram(&self, class: ClassId) -> Vec<Bar> {
        let _ = class;
        Vec::new()
    }

    /// The whole run of a class from time zero to the end of the window, warm-up included.
    pub fn series(&self, class: ClassId) -> Vec<Step> {
        let grid = &self.ledger.grid;
        let slices = &self.ledger.classes[class.index()].slices;
        let all = 0..self.sections * SLICES_PER_SECTION;
        let step = |index: usize| {
            let slice = slices.sum(index, index + 1);
            Step {
                from: grid.slice_start(index),
                to: grid.slice_start(index + 1),
                created: slice.created,
                delivered: slice.delivered,
                latency_mean_ps: mean(slice.latency_sum_ps, slice.followed_messages),
            }
        };
        all.map(step).filter(|step| step.from < step.to).collect()
    }

    /// What a channel did in the window; `None` if the window is empty.
    pub fn channel(&self, channel: ChannelId) -> Option<ChannelMeasured> {
        let sections_ps: Vec<f64> =
            (self.first..self.sections).map(|section| self.section_ps(section)).collect();
        self.ledger.channels.measured(channel.index(), self.first, &sections_ps)
    }

    /// The sampled messages that were created in the window, in order of creation.
    pub fn sample(&self) -> Vec<Delivery> {
        let window = self.window();
        let within =
            |delivery: &&Delivery| (window.start..window.end).contains(&delivery.message.created);
        let mut sample: Vec<_> =
            self.ledger.records.kept().iter().filter(within).copied().collect();
        sample.sort_by_key(|delivery| delivery.message.id);
        sample
    }

    /// Messages created in the window and delivered, over all classes.
    pub fn followed_messages(&self) -> u64 {
        let of = |class| self.sum(class, self.first, self.sections).followed_messages;
        self.classes().map(of).sum()
    }

    /// The section with which the window ends.
    pub(super) fn sections(&self) -> usize {
        self.sections
    }

    /// Whether every class's interval is that narrow in the quantity of the plan.
    pub(super) fn is_as_narrow_as(&self, width: f64) -> bool {
        let is_narrow = |class| {
            let relative = self.quantity(class).and_then(|estimate| estimate.relative_width());
            relative.is_some_and(|relative| relative <= width)
        };
        self.classes().all(is_narrow)
    }

    fn quantity(&self, class: ClassId) -> Option<Estimate> {
        match self.ledger.stop.quantity {
            Quantity::Latency => self.over_messages(class, |slice| slice.latency_sum_ps),
            Quantity::NetworkLatency => {
                self.over_messages(class, |slice| slice.network_latency_sum_ps)
            }
            Quantity::AcceptedLoad => self.over_time(class, |slice| slice.delivered.bytes),
            Quantity::Hops => self.over_messages(class, |slice| u128::from(slice.hops_sum)),
        }
    }

    fn classes(&self) -> impl Iterator<Item = ClassId> + use<> {
        ClassId::first(self.ledger.classes.len())
    }

    /// The sum of a class over sections `from..to`.
    fn sum(&self, class: ClassId, from: usize, to: usize) -> Slice {
        let slices = &self.ledger.classes[class.index()].slices;
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

    fn section_ps(&self, section: usize) -> f64 {
        let [from, to] = [section, section + 1].map(|at| self.ledger.grid.boundary(at));
        real(u128::from(to.since(from).as_ps()))
    }

    fn is_saturated(&self, class: ClassId, accepted: Option<Estimate>) -> bool {
        let Some(half_width) = accepted.and_then(|accepted| accepted.half_width) else {
            return false;
        };
        let fell_behind = |from, to| {
            let half = self.sum(class, from, to);
            let left =
                real(u128::from(half.created.bytes)) - real(u128::from(half.delivered.bytes));
            let span_ps: f64 = (from..to).map(|section| self.section_ps(section)).sum();
            left > half_width * span_ps
        };
        let middle = self.first.midpoint(self.sections);
        fell_behind(self.first, middle) && fell_behind(middle, self.sections)
    }
}

fn mean(sum: u128, count: u64) -> Option<f64> {
    (count > 0).then(|| real(sum) / real(u128::from(count)))
}
