//! Latency histograms by section of message creation.
//!
//! A bin is narrower than 1 % of its latencies (`hdrhistogram`, after Tene's HdrHistogram: 128
//! equal bins per power of two). A percentile, the middle of its bin, is thus accurate to within
//! 0.5 %.

use gingham_kernel::Span;
use hdrhistogram::Histogram;

const DIGITS: u8 = 2;

/// Histogram bin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bar {
    /// Lower bound, inclusive.
    pub from: Span,
    /// Upper bound, exclusive.
    pub below: Span,
    /// Number of messages in the bin.
    pub messages: u64,
}

/// Binary logarithm of the number of equal bins per power of two.
const BARS_LOG2: u32 = 7;

/// Bin counts without the other state of [`Merged`], to save work per message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Latencies {
    bars: Vec<u32>,
    longest: Span,
}

impl Latencies {
    fn new() -> Self {
        Self { bars: Vec::new(), longest: Span::ZERO }
    }

    fn emptied(&self) -> Self {
        Self { bars: vec![0; self.bars.len()], longest: Span::ZERO }
    }

    #[inline]
    pub(super) fn record(&mut self, latency: Span) {
        self.longest = self.longest.max(latency);
        let bar = bar_of(latency);
        match self.bars.get_mut(bar) {
            Some(messages) => *messages = messages.saturating_add(1),
            None => self.record_beyond(bar),
        }
    }

    #[cold]
    fn record_beyond(&mut self, bar: usize) {
        // Extends the bins to the next power of two, as similar latencies are likely to follow.
        self.bars.resize((bar + 1).next_multiple_of(1 << BARS_LOG2), 0);
        self.bars[bar] = 1;
    }

    pub(super) fn messages(&self) -> u64 {
        self.bars.iter().map(|messages| u64::from(*messages)).sum()
    }

    pub(super) fn messages_up_to(&self, latency: Span) -> u64 {
        let bars = self.bars.iter().take(bar_of(latency) + 1);
        bars.map(|messages| u64::from(*messages)).sum()
    }

    fn merge(&mut self, other: &Self) {
        if self.bars.len() < other.bars.len() {
            self.bars.resize(other.bars.len(), 0);
        }
        for (messages, more) in self.bars.iter_mut().zip(&other.bars) {
            *messages = messages.saturating_add(*more);
        }
        self.longest = self.longest.max(other.longest);
    }

    fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        let bars = self.bars.iter().enumerate().filter(|(_, messages)| **messages > 0);
        bars.map(|(bar, messages)| (longest_of(bar), u64::from(*messages)))
    }
}

/// Returns the bin index of a latency. Each latency below 256 ps has its own bin.
#[inline]
fn bar_of(latency: Span) -> usize {
    let ps = latency.as_ps();
    let narrow = (2 << BARS_LOG2) - 1;
    let width_log2 = u64::leading_zeros(narrow) - u64::leading_zeros(ps | narrow);
    let below = u64::from(width_log2) << BARS_LOG2;
    usize::try_from(below + (ps >> width_log2)).expect("bars are few")
}

fn longest_of(bar: usize) -> u64 {
    let bar = bar as u64;
    let width_log2 = (bar >> BARS_LOG2).saturating_sub(1);
    let from = (bar - (width_log2 << BARS_LOG2)) << width_log2;
    from + ((1 << width_log2) - 1)
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LatencySections {
    sections: Vec<Latencies>,
}

impl LatencySections {
    pub(super) fn new() -> Self {
        Self { sections: Vec::new() }
    }

    #[inline]
    pub(super) fn at(&mut self, index: usize) -> &mut Latencies {
        if index >= self.sections.len() {
            self.make_room_for(index);
        }
        &mut self.sections[index]
    }

    #[cold]
    fn make_room_for(&mut self, index: usize) {
        while index >= self.sections.len() {
            let next = self.sections.last().map_or_else(Latencies::new, Latencies::emptied);
            self.sections.push(next);
        }
    }

    pub(super) fn range(&self, from: usize, to: usize) -> &[Latencies] {
        let to = to.min(self.sections.len());
        &self.sections[from.min(to)..to]
    }

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

#[derive(Clone, Debug)]
pub(super) struct Merged {
    histogram: Histogram<u64>,
    longest: Span,
}

impl Merged {
    pub(super) fn of<'a>(sections: impl IntoIterator<Item = &'a Latencies>) -> Self {
        let mut histogram = Histogram::new(DIGITS).expect("two digits are few enough");
        let mut longest = Span::ZERO;
        for section in sections {
            for (latency, messages) in section.recorded() {
                let recorded = histogram.record_n(latency, messages);
                recorded.expect("the histogram grows with its counts");
            }
            longest = longest.max(section.longest);
        }
        Self { histogram, longest }
    }

    pub(super) fn longest(&self) -> Option<Span> {
        (self.messages() > 0).then_some(self.longest)
    }

    pub(super) fn messages(&self) -> u64 {
        self.histogram.len()
    }

    pub(super) fn quantile(&self, share: f64) -> Span {
        Span::from_ps(self.histogram.value_at_quantile(share))
    }

    pub(super) fn middle(&self, latency: Span) -> Span {
        Span::from_ps(self.histogram.median_equivalent(latency.as_ps())).min(self.longest)
    }

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
    fn short_latencies_have_exact_bins() {
        // Bins are 1 ps wide below 256 ps, and 2 ps wide up to 512 ps.
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
    fn bins_match_hdr_histogram() {
        let histogram = Histogram::<u64>::new(DIGITS).unwrap();
        for exponent in 0..63 {
            for latency in [0, 1, 2, 77].map(|more| (1_u64 << exponent) + (more << exponent >> 7)) {
                let bar = bar_of(Span::from_ps(latency));
                assert_eq!(longest_of(bar), histogram.highest_equivalent(latency), "{latency}");
                let next = Span::from_ps(histogram.next_non_equivalent(latency));
                assert_eq!(bar_of(next), bar + 1, "{latency}");
            }
        }
        assert_eq!((bar_of(Span::ZERO), longest_of(0)), (0, 0));
    }

    #[test]
    fn merging_latency_sections_keeps_every_message() {
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
        fn quantile_error_is_below_half_a_percent(
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
