//! How often each latency occurred, by section of creation.
//!
//! Counted in bars of a relative width below 1 % (`hdrhistogram`, after Tene's HdrHistogram: 128
//! bars of equal width between a power of two and the next), so that a percentile is known to half
//! a per cent and a section needs some kilobytes whatever it holds. Bars that are needed are added
//! as they are needed.

use gingham_kernel::Span;
use hdrhistogram::{Counter, Histogram};

/// Two digits: bars narrower than 1 % of what they count.
const DIGITS: u8 = 2;

/// A bar of a histogram: `from` included, `below` not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bar {
    /// The shortest latency counted.
    pub from: Span,
    /// Shorter than this.
    pub below: Span,
    /// Messages with such a latency.
    pub messages: u64,
}

/// The latencies of messages created in one section.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Latencies {
    histogram: Histogram<u32>,
    longest: Span,
}

impl Latencies {
    fn new() -> Self {
        Self { histogram: empty(), longest: Span::ZERO }
    }

    /// Without a message, with room for as long ones as here.
    fn emptied(&self) -> Self {
        Self { histogram: Histogram::new_from(&self.histogram), longest: Span::ZERO }
    }

    /// Counts a latency.
    pub(super) fn record(&mut self, latency: Span) {
        let recorded = self.histogram.record(latency.as_ps());
        recorded.expect("the histogram grows with what it counts");
        self.longest = self.longest.max(latency);
    }

    /// Messages counted.
    pub(super) fn messages(&self) -> u64 {
        self.histogram.len()
    }

    /// Messages no slower than the slowest in the bar of `latency`.
    pub(super) fn messages_up_to(&self, latency: Span) -> u64 {
        self.histogram.count_between(0, latency.as_ps())
    }

    fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("the histogram grows with what it counts");
        self.longest = self.longest.max(other.longest);
    }
}

/// The latencies of a run, by section.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct LatencySections {
    sections: Vec<Latencies>,
}

impl LatencySections {
    pub(super) fn new() -> Self {
        Self { sections: Vec::new() }
    }

    /// The latencies of the section with this number.
    pub(super) fn at(&mut self, index: usize) -> &mut Latencies {
        while index >= self.sections.len() {
            let next = self.sections.last().map_or_else(Latencies::new, Latencies::emptied);
            self.sections.push(next);
        }
        &mut self.sections[index]
    }

    /// Sections `from..to`, as far as anything was counted in them or later.
    pub(super) fn range(&self, from: usize, to: usize) -> &[Latencies] {
        let to = to.min(self.sections.len());
        &self.sections[from.min(to)..to]
    }

    /// Neighbours merge.
    pub(super) fn double(&mut self) {
        let mut narrow = std::mem::take(&mut self.sections).into_iter();
        while let Some(mut first) = narrow.next() {
            if let Some(second) = narrow.next() {
                first.merge(&second);
            }
            self.sections.push(first);
        }
    }
}

/// The latencies of several sections together.
#[derive(Clone, Debug)]
pub(super) struct Merged {
    histogram: Histogram<u64>,
    longest: Span,
}

impl Merged {
    pub(super) fn of(sections: &[Latencies]) -> Self {
        let mut histogram = empty();
        for bar in sections.iter().flat_map(|section| section.histogram.iter_recorded()) {
            let count = u64::from(bar.count_at_value());
            let recorded = histogram.record_n(bar.value_iterated_to(), count);
            recorded.expect("the histogram grows with what it counts");
        }
        let longest = sections.iter().map(|section| section.longest).max();
        Self { histogram, longest: longest.unwrap_or(Span::ZERO) }
    }

    /// The longest latency; `None` without a message.
    pub(super) fn longest(&self) -> Option<Span> {
        (self.messages() > 0).then_some(self.longest)
    }

    /// Messages counted.
    pub(super) fn messages(&self) -> u64 {
        self.histogram.len()
    }

    /// The shortest latency that a `share` of the messages does not exceed: the slowest of its bar.
    pub(super) fn quantile(&self, share: f64) -> Span {
        Span::from_ps(self.histogram.value_at_quantile(share))
    }

    /// The middle of the bar of a latency.
    pub(super) fn middle(&self, latency: Span) -> Span {
        Span::from_ps(self.histogram.median_equivalent(latency.as_ps())).min(self.longest)
    }

    /// Every bar that is not empty, from short to long.
    pub(super) fn bars(&self) -> Vec<Bar> {
        let bar = |from: u64, messages| Bar {
            from: Span::from_ps(from),
            below: Span::from_ps(self.histogram.next_non_equivalent(from)),
            messages,
        };
        self.histogram
            .iter_recorded()
            .map(|at| {
                let from = self.histogram.lowest_equivalent(at.value_iterated_to());
                bar(from, at.count_at_value())
            })
            .collect()
    }
}

fn empty<T: Counter>() -> Histogram<T> {
    Histogram::new(DIGITS).expect("two digits are few enough")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn merged(latencies_ps: &[u64]) -> Merged {
        let mut sections = LatencySections::new();
        for (index, latency) in latencies_ps.iter().enumerate() {
            sections.at(index % 5).record(Span::from_ps(*latency));
        }
        Merged::of(sections.range(0, 5))
    }

    #[test]
    fn short_latencies_are_counted_one_by_one() {
        // Below 256 ps a bar is 1 ps wide, up to 512 ps 2 ps.
        let merged = merged(&[10, 10, 11, 255, 256, 257, 511]);
        let bars: Vec<_> = merged
            .bars()
            .iter()
            .map(|bar| (bar.from.as_ps(), bar.below.as_ps(), bar.messages))
            .collect();
        let expected = [(10, 11, 2), (11, 12, 1), (255, 256, 1), (256, 258, 2), (510, 512, 1)];
        assert_eq!(bars, expected);
        assert_eq!(merged.longest(), Some(Span::from_ps(511)));
    }

    #[test]
    fn merging_neighbours_keeps_every_message() {
        let mut sections = LatencySections::new();
        for index in 0..7 {
            for latency in 0..=index {
                sections.at(index).record(Span::from_ps(1 << (4 * latency)));
            }
        }
        let before = Merged::of(sections.range(0, 7));
        sections.double();
        let counts: Vec<_> = sections.range(0, 9).iter().map(Latencies::messages).collect();
        assert_eq!(counts, [1 + 2, 3 + 4, 5 + 6, 7]);
        assert_eq!(Merged::of(sections.range(0, 4)).bars(), before.bars());
        assert_eq!(sections.range(2, 3)[0].longest, Span::from_ps(1 << 20));
        assert_eq!(sections.range(3, 4)[0].messages_up_to(Span::from_ps(1 << 40)), 7);
        assert_eq!(sections.range(3, 4)[0].messages_up_to(Span::from_ps(256)), 3);
    }

    proptest! {
        #[test]
        fn a_quantile_is_within_half_a_per_cent_of_the_sorted_value(
            mut latencies in prop::collection::vec(1_u64..1 << 44, 1..400),
            share in 0.001..=1.0_f64,
        ) {
            let merged = merged(&latencies);
            latencies.sort_unstable();
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a rank among a few hundred"
            )]
            let rank = (share * latencies.len() as f64).ceil() as usize;
            let exact = latencies[rank.max(1) - 1];
            let counted = merged.middle(merged.quantile(share)).as_ps();
            prop_assert!(counted.abs_diff(exact) <= exact / 200 + 1, "{counted} for {exact}");
        }
    }
}
