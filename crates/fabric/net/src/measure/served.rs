//! Payload of a class, by source and by destination endpoint.
//!
//! A mean over all hosts hides starved hosts: Dally and Towles define throughput as the accepted
//! traffic of the flow with the lowest service relative to its share ("Principles and Practices of
//! Interconnection Networks", 2004, section 23.1 and chapter 25). Sums by source and by destination
//! need at most 1 KiB per endpoint and class.
//!
//! **Endpoints that fall behind.** The fraction left behind is the backlog growth (payload created
//! minus delivered) divided by the created payload, with an interval from batch means. Each of `n`
//! endpoints is tested at the significance level [`FAMILY_CHANCE`] `/ n` (Bonferroni): at most one
//! run in a hundred reports an endpoint without a growing backlog.
//!
//! Invariant: sums over endpoints equal sums over the slices of the class.

use super::columns::Column;
use super::report::RunReport;
use crate::{ClassId, Message};
use gingham_results::{Estimate, Ratio, real, student_t_beyond};
use gingham_topology::EndpointId;
use std::ops::Range;

/// Probability that any endpoint of a class is wrongly found to fall behind, for sources and
/// destinations separately.
pub const FAMILY_CHANCE: f64 = 0.01;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Source,
    Destination,
}

/// Traffic of one source or destination over the measurement window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EndpointReport {
    /// Identifier of the endpoint.
    pub endpoint: EndpointId,
    /// Created payload, without payload dropped by policing.
    pub created_bytes: u64,
    /// Delivered payload, regardless of creation time.
    pub delivered_bytes: u64,
    /// Fraction of the created payload left behind. The half-width is the distance to the lower end
    /// of the one-sided interval at [`FAMILY_CHANCE`].
    pub left_behind: Option<Estimate>,
}

impl EndpointReport {
    /// Returns whether the fraction left behind exceeds `share` and is significantly above zero.
    pub fn falls_behind(&self, share: f64) -> bool {
        let grows = |left: Estimate| left.half_width.is_some_and(|half| left.mean > half);
        self.left_behind.is_some_and(|left| left.mean > share && grows(left))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sum {
    Sent,
    SentDelivered,
    Destined,
    Received,
}

const SUMS: usize = 4;

/// Returns the index of a sum; an endpoint's sums share a cache line.
#[inline]
fn place(endpoint: EndpointId, sum: Sum) -> usize {
    endpoint.index() * SUMS + sum as usize
}

#[derive(Clone, Debug)]
pub(super) struct ServedCollector {
    totals: Box<[u64]>,
    last: Box<[u64]>,
    sections: Vec<Column>,
}

impl ServedCollector {
    pub(super) fn new(endpoints: usize) -> Self {
        let none: Box<[u64]> = vec![0; endpoints * SUMS].into();
        Self { totals: none.clone(), last: none, sections: Vec::new() }
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub(super) fn count_created(&mut self, message: &Message) {
        let bytes = u64::from(message.payload_bytes);
        self.totals[place(message.source, Sum::Sent)] += bytes;
        self.totals[place(message.destination, Sum::Destined)] += bytes;
    }

    pub(super) fn take_back(&mut self, message: &Message) {
        let bytes = u64::from(message.payload_bytes);
        self.totals[place(message.source, Sum::Sent)] -= bytes;
        self.totals[place(message.destination, Sum::Destined)] -= bytes;
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub(super) fn count_delivered(&mut self, message: &Message) {
        let bytes = u64::from(message.payload_bytes);
        self.totals[place(message.source, Sum::SentDelivered)] += bytes;
        self.totals[place(message.destination, Sum::Received)] += bytes;
    }

    pub(super) fn end_section(&mut self) {
        let pairs = self.totals.iter().zip(&self.last);
        self.sections.push(Column::of(pairs.map(|(total, last)| total - last)));
        self.last.copy_from_slice(&self.totals);
    }

    pub(super) fn double(&mut self) {
        let merge = |pair: &[Column]| pair[0].sum(&pair[1]);
        self.sections = self.sections.chunks_exact(2).map(merge).collect();
    }

    fn endpoints(&self) -> usize {
        self.totals.len() / SUMS
    }

    fn counts(
        &self,
        end: End,
        endpoint: EndpointId,
        sections: Range<usize>,
    ) -> impl Iterator<Item = [u64; 2]> {
        let sums = match end {
            End::Source => [Sum::Sent, Sum::SentDelivered],
            End::Destination => [Sum::Destined, Sum::Received],
        };
        let places = sums.map(|sum| place(endpoint, sum));
        self.sections[sections].iter().map(move |section| places.map(|place| section.word(place)))
    }
}

impl RunReport<'_> {
    /// Returns the traffic of each active source in the class's window, in ascending order.
    pub fn served_senders(&self, class: ClassId) -> Vec<EndpointReport> {
        self.served(class, End::Source)
    }

    /// Returns the traffic of each active destination in the class's window, in ascending order.
    pub fn served_destinations(&self, class: ClassId) -> Vec<EndpointReport> {
        self.served(class, End::Destination)
    }

    fn served(&self, class: ClassId, end: End) -> Vec<EndpointReport> {
        let sections = self.class_sections(class);
        let collector = self.served_of(class);
        let counts = |endpoint| collector.counts(end, endpoint, sections.clone());
        let total = |endpoint: &EndpointId| {
            let add = |sum: [u64; 2], count: [u64; 2]| [sum[0] + count[0], sum[1] + count[1]];
            counts(*endpoint).fold([0; 2], add)
        };
        let endpoints = EndpointId::first(collector.endpoints());
        let totals: Vec<_> = endpoints
            .map(|endpoint| (endpoint, total(&endpoint)))
            .filter(|(_, sums)| *sums != [0; 2])
            .collect();
        let mut point = Point::of_family(totals.len());
        let report = |(endpoint, [created_bytes, delivered_bytes]): (EndpointId, [u64; 2])| {
            let ratios: Vec<Ratio> = counts(endpoint).map(left_behind).collect();
            let left_behind = Estimate::of_sections_to(&ratios, |degrees| point.at(degrees));
            EndpointReport { endpoint, created_bytes, delivered_bytes, left_behind }
        };
        totals.into_iter().map(report).collect()
    }
}

fn left_behind([created, delivered]: [u64; 2]) -> Ratio {
    let [created, delivered] = [created, delivered].map(|bytes| real(bytes.into()));
    Ratio { sum: created - delivered, over: created }
}

struct Point {
    chance: f64,
    last: Option<(u32, f64)>,
}

impl Point {
    fn of_family(endpoints: usize) -> Self {
        Self { chance: FAMILY_CHANCE / real(endpoints.max(1) as u128), last: None }
    }

    fn at(&mut self, degrees: u32) -> f64 {
        match self.last {
            Some((last, point)) if last == degrees => point,
            _ => {
                let point = student_t_beyond(degrees, self.chance);
                self.last = Some((degrees, point));
                point
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MessageNumber;
    use gingham_kernel::{Purpose, Stream, Time};

    fn message(source: usize, destination: usize, payload_bytes: u32) -> Message {
        Message {
            number: MessageNumber::new(0),
            class: ClassId::new(0),
            source: EndpointId::new(source),
            destination: EndpointId::new(destination),
            payload_bytes,
            created: Time::ZERO,
            flow: None,
        }
    }

    #[test]
    fn false_positive_rate_of_lagging_endpoints_is_as_specified() {
        // Independent changes with mean zero are the worst case. Of 40,000 tests at the 0.1 %
        // level, about 40 should report an endpoint (standard deviation 6.3).
        let mut stream = Stream::new(1, "served", Purpose::Arrival);
        let mut point = Point::of_family(10);
        let mut named = 0;
        for _ in 0..40_000 {
            let ratio =
                |_| Ratio { sum: stream.exponential(1.0) - stream.exponential(1.0), over: 4.0 };
            let ratios: Vec<Ratio> = (0..60).map(ratio).collect();
            let left = Estimate::of_sections_to(&ratios, |degrees| point.at(degrees)).unwrap();
            named += u32::from(left.half_width.is_some_and(|half| left.mean > half));
        }
        assert!((15..=60).contains(&named), "{named} of 40,000");
    }

    #[test]
    fn served_counts_add_up_sections_and_survive_merging() {
        let mut served = ServedCollector::new(3);
        let [to_two, to_one] = [message(0, 2, 100), message(0, 1, 30)];
        served.count_created(&to_two);
        served.count_created(&to_one);
        served.take_back(&to_one);
        served.end_section();
        served.count_delivered(&to_two);
        served.count_created(&message(1, 2, 7));
        served.end_section();
        let counts = |served: &ServedCollector, end, endpoint| {
            served
                .counts(end, EndpointId::new(endpoint), 0..served.sections.len())
                .collect::<Vec<_>>()
        };
        assert_eq!(counts(&served, End::Source, 0), [[100, 0], [0, 100]]);
        assert_eq!(counts(&served, End::Source, 1), [[0, 0], [7, 0]]);
        assert_eq!(counts(&served, End::Destination, 2), [[100, 0], [7, 100]]);
        assert_eq!(counts(&served, End::Destination, 1), [[0, 0], [0, 0]]);
        served.double();
        assert_eq!(counts(&served, End::Destination, 2), [[107, 100]]);
        assert_eq!(counts(&served, End::Source, 0), [[100, 100]]);
    }
}
