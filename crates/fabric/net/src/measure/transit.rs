//! Statistics of in-transit hosts, which store and re-inject packets, by section.

use super::grid::SECTIONS_MAX;
use gingham_kernel::Span;
use gingham_results::real;
use gingham_topology::EndpointId;
use std::iter::Sum;
use std::ops::Add;

/// Results of an in-transit host over the measurement window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TransitReport {
    /// Packets whose re-injection started.
    pub reinjected_packets: u64,
    /// Packets that went through the host's memory because the buffer pool was full.
    pub spilled_packets: u64,
    /// Mean time between a packet's readiness and the start of its re-injection.
    pub wait_mean_ps: Option<f64>,
    /// Maximum fill level of the buffer pool over the whole run.
    pub pool_peak_bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct TransitCount {
    reinjected_packets: u64,
    spilled_packets: u64,
    waited_ps: u128,
}

impl Add for TransitCount {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            reinjected_packets: self.reinjected_packets + other.reinjected_packets,
            spilled_packets: self.spilled_packets + other.spilled_packets,
            waited_ps: self.waited_ps + other.waited_ps,
        }
    }
}

impl Sum for TransitCount {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), Add::add)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct TransitCollector {
    endpoints: usize,
    /// Counts by section and then by endpoint, up to the last section with activity.
    sections: Vec<TransitCount>,
    pool_peaks_bytes: Vec<u64>,
}

impl TransitCollector {
    pub(super) fn new(endpoints: usize) -> Self {
        Self { endpoints, ..Self::default() }
    }

    pub(super) fn count_reinjected(&mut self, section: usize, host: EndpointId, waited: Span) {
        let count = self.at(section, host);
        count.reinjected_packets += 1;
        count.waited_ps += u128::from(waited.as_ps());
    }

    pub(super) fn count_spilled(&mut self, section: usize, host: EndpointId) {
        self.at(section, host).spilled_packets += 1;
    }

    pub(super) fn note_pool(&mut self, host: EndpointId, bytes: u64) {
        self.pool_peaks_bytes.resize(self.endpoints, 0);
        let peak = &mut self.pool_peaks_bytes[host.index()];
        *peak = bytes.max(*peak);
    }

    pub(super) fn double(&mut self) {
        let pairs = self.sections.len().div_ceil(2 * self.endpoints.max(1));
        for place in 0..pairs * self.endpoints {
            let (pair, host) = (place / self.endpoints, place % self.endpoints);
            let count = |section| self.get(section, host);
            self.sections[place] = count(2 * pair) + count(2 * pair + 1);
        }
        self.sections.truncate(pairs * self.endpoints);
    }

    pub(super) fn report(&self, host: EndpointId, from: usize, to: usize) -> TransitReport {
        let sum: TransitCount = (from..to).map(|section| self.get(section, host.index())).sum();
        let packets = u128::from(sum.reinjected_packets);
        TransitReport {
            reinjected_packets: sum.reinjected_packets,
            spilled_packets: sum.spilled_packets,
            wait_mean_ps: (packets > 0).then(|| real(sum.waited_ps) / real(packets)),
            pool_peak_bytes: self.pool_peaks_bytes.get(host.index()).copied().unwrap_or(0),
        }
    }

    fn get(&self, section: usize, host: usize) -> TransitCount {
        self.sections.get(section * self.endpoints + host).copied().unwrap_or_default()
    }

    fn at(&mut self, section: usize, host: EndpointId) -> &mut TransitCount {
        debug_assert!(section < SECTIONS_MAX, "sections are few");
        let needed = (section + 1) * self.endpoints;
        if self.sections.len() < needed {
            self.sections.resize(needed, TransitCount::default());
        }
        &mut self.sections[section * self.endpoints + host.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transit_counts_cover_requested_sections_and_survive_merging() {
        let host = EndpointId::new(1);
        let mut collector = TransitCollector::new(3);
        assert_eq!(collector.report(host, 0, 9), TransitReport::default());
        for section in 0..5 {
            for _ in 0..=section {
                collector.count_reinjected(section, host, Span::from_ps(10 * section as u64));
            }
        }
        collector.count_spilled(4, host);
        collector.note_pool(host, 70);
        collector.note_pool(host, 50);
        let two = collector.report(host, 2, 4);
        let expected = TransitReport {
            reinjected_packets: 7,
            spilled_packets: 0,
            wait_mean_ps: Some(180.0 / 7.0),
            pool_peak_bytes: 70,
        };
        assert_eq!(two, expected);
        let all = collector.report(host, 0, 5);
        collector.double();
        assert_eq!(collector.report(host, 1, 2), expected);
        assert_eq!(collector.report(host, 0, 3), all);
        assert_eq!((all.reinjected_packets, all.spilled_packets), (15, 1));
        assert_eq!(collector.report(EndpointId::new(2), 0, 3), TransitReport::default());
    }
}
