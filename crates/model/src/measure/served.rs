//! Payload of a class by the endpoint that sends it and by the endpoint that receives it.
//!
//! ```text
//!   endpoint     0    1    2   ...      since time zero: four sums, two of them added to per event
//!   section 0    .    .    .            differences at section ends, a column each (`columns`)
//!   section 1    .    .    .
//! ```
//!
//! A mean over all hosts hides a host that is not served. Dally and Towles define the throughput of
//! a network as the accepted traffic of the flow that is served least, relative to its share of the
//! traffic matrix ("Principles and Practices of Interconnection Networks", Morgan Kaufmann 2004,
//! section 23.1 and chapter 25). Memory for each flow would grow with the square of the hosts; sums by
//! source and by destination grow with the hosts: 64 B and at most 1 KiB for each endpoint and
//! class.
//!
//! **Endpoints that fall behind.** The share of an endpoint left behind is the payload created less
//! the payload delivered, over the payload created, of all messages that it sends (or that are
//! destined for it). It is a ratio over sections and has an interval from batch means, as all
//! ratios do. With `n` endpoints tested, each is tested at the probability
//! [`FAMILY_CHANCE`] `/ n` (Bonferroni), so that at most one run in a hundred names an endpoint
//! whose backlog does not grow.
//!
//! Invariant: the sums over endpoints are those of the slices of the class.

use super::columns::Column;
use super::report::RunReport;
use crate::{ClassId, Message};
use gingham_results::{Estimate, Ratio, real, student_t_beyond};
use gingham_topology::EndpointId;
use std::ops::Range;

/// Probability that any endpoint of a class is wrongly found to fall behind, for sources and for
/// destinations separately.
pub const FAMILY_CHANCE: f64 = 0.01;

/// End of a message: its source or its destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Source,
    Destination,
}

/// Traffic that one endpoint sent, or received, in the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EndpointReport {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Payload created in the window, less payload dropped by policing.
    pub created_bytes: u64,
    /// Payload delivered in the window, regardless of the time of creation.
    pub delivered_bytes: u64,
    /// Payload left behind, as a share of the payload created: the mean, and the distance of the
    /// mean to the lower end of its one-sided interval at [`FAMILY_CHANCE`] over all endpoints.
    pub left_behind: Option<Estimate>,
}

impl EndpointReport {
    /// Whether the share of payload left behind exceeds `share` by more than chance.
    pub fn falls_behind(&self, share: f64) -> bool {
        let grows = |left: Estimate| left.half_width.is_some_and(|half| left.mean > half);
        self.left_behind.is_some_and(|left| left.mean > share && grows(left))
    }
}

/// Sums of payload of one endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Sums {
    /// Payload created by it as a source.
    sent: u64,
    /// Payload created by it and delivered.
    sent_delivered: u64,
    /// Payload created for it as a destination.
    destined: u64,
    /// Payload delivered to it.
    received: u64,
}

/// Sums of all endpoints in one section.
#[derive(Clone, Debug)]
struct Section {
    sent: Column,
    sent_delivered: Column,
    destined: Column,
    received: Column,
}

/// Payload of one class by endpoint and section.
#[derive(Clone, Debug)]
pub(super) struct ServedCollector {
    /// By endpoint, since time zero.
    totals: Box<[Sums]>,
    /// Sums by endpoint at the last section end.
    last: Box<[Sums]>,
    sections: Vec<Section>,
}

impl ServedCollector {
    pub(super) fn new(endpoints: usize) -> Self {
        let none: Box<[Sums]> = vec![Sums::default(); endpoints].into();
        Self { totals: none.clone(), last: none, sections: Vec::new() }
    }

    /// Counts a message that was created.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub(super) fn count_created(&mut self, message: &Message) {
        let bytes = u64::from(message.payload_bytes);
        self.totals[message.source.index()].sent += bytes;
        self.totals[message.destination.index()].destined += bytes;
    }

    /// Withdraws a message that was just created and is dropped.
    pub(super) fn take_back(&mut self, message: &Message) {
        let bytes = u64::from(message.payload_bytes);
        self.totals[message.source.index()].sent -= bytes;
        self.totals[message.destination.index()].destined -= bytes;
    }

    /// Counts a message that was delivered.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub(super) fn count_delivered(&mut self, message: &Message) {
        let bytes = u64::from(message.payload_bytes);
        self.totals[message.source.index()].sent_delivered += bytes;
        self.totals[message.destination.index()].received += bytes;
    }

    /// Closes a section.
    pub(super) fn end_section(&mut self) {
        let column = |of: fn(&Sums) -> u64| {
            let pairs = self.totals.iter().zip(&self.last);
            Column::of(pairs.map(move |(total, last)| of(total) - of(last)))
        };
        self.sections.push(Section {
            sent: column(|sums| sums.sent),
            sent_delivered: column(|sums| sums.sent_delivered),
            destined: column(|sums| sums.destined),
            received: column(|sums| sums.received),
        });
        self.last.copy_from_slice(&self.totals);
    }

    /// Merges neighbouring sections.
    pub(super) fn double(&mut self) {
        let merge = |pair: &[Section]| Section {
            sent: pair[0].sent.sum(&pair[1].sent),
            sent_delivered: pair[0].sent_delivered.sum(&pair[1].sent_delivered),
            destined: pair[0].destined.sum(&pair[1].destined),
            received: pair[0].received.sum(&pair[1].received),
        };
        self.sections = self.sections.chunks_exact(2).map(merge).collect();
    }

    /// Payload created and payload delivered of one endpoint, section by section.
    fn counts(
        &self,
        end: End,
        endpoint: usize,
        sections: Range<usize>,
    ) -> impl Iterator<Item = [u64; 2]> {
        self.sections[sections].iter().map(move |section| {
            let columns = match end {
                End::Source => [&section.sent, &section.sent_delivered],
                End::Destination => [&section.destined, &section.received],
            };
            columns.map(|column| column.word(endpoint))
        })
    }
}

impl RunReport<'_> {
    /// Payload of a class in its window by source, in ascending order; endpoints without any are
    /// omitted.
    pub fn served_senders(&self, class: ClassId) -> Vec<EndpointReport> {
        self.served(class, End::Source)
    }

    /// Payload of a class in its window by destination, in ascending order; endpoints without any
    /// are omitted.
    pub fn served_destinations(&self, class: ClassId) -> Vec<EndpointReport> {
        self.served(class, End::Destination)
    }

    fn served(&self, class: ClassId, end: End) -> Vec<EndpointReport> {
        let sections = self.class_sections(class);
        let collector = self.served_of(class);
        let counts = |endpoint| collector.counts(end, endpoint, sections.clone());
        let total = |endpoint: &EndpointId| {
            let add = |sum: [u64; 2], count: [u64; 2]| [sum[0] + count[0], sum[1] + count[1]];
            counts(endpoint.index()).fold([0; 2], add)
        };
        let endpoints = EndpointId::first(collector.totals.len());
        let totals: Vec<_> = endpoints
            .map(|endpoint| (endpoint, total(&endpoint)))
            .filter(|(_, sums)| *sums != [0; 2])
            .collect();
        let mut point = Point::of_family(totals.len());
        let report = |(endpoint, [created_bytes, delivered_bytes]): (EndpointId, [u64; 2])| {
            let ratios: Vec<Ratio> = counts(endpoint.index()).map(left_behind).collect();
            let left_behind = Estimate::of_sections_to(&ratios, |degrees| point.at(degrees));
            EndpointReport { endpoint, created_bytes, delivered_bytes, left_behind }
        };
        totals.into_iter().map(report).collect()
    }
}

/// Growth of the backlog, over the payload created.
fn left_behind([created, delivered]: [u64; 2]) -> Ratio {
    let [created, delivered] = [created, delivered].map(|bytes| real(bytes.into()));
    Ratio { sum: created - delivered, over: created }
}

/// One-sided quantile of Student's t for one of `endpoints` tests; the last result is cached.
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
    use crate::MessageId;
    use gingham_kernel::{Purpose, Stream, Time};

    fn message(source: usize, destination: usize, payload_bytes: u32) -> Message {
        Message {
            id: MessageId::new(0),
            class: ClassId::new(0),
            source: EndpointId::new(source),
            destination: EndpointId::new(destination),
            payload_bytes,
            created: Time::ZERO,
            flow: None,
        }
    }

    #[test]
    fn chance_names_as_many_endpoints_as_the_rule_says() {
        // Sections whose backlog grows or shrinks independently, with mean zero: the worst case of
        // an endpoint that does not fall behind. Each is tested as one of ten, at 0.1 %. Of 40,000
        // tests 40 are expected to fail, with a standard deviation of 6.3.
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
    fn sums_are_those_of_their_sections_and_survive_merging() {
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
            served.counts(end, endpoint, 0..served.sections.len()).collect::<Vec<_>>()
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
