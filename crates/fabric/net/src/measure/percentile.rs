//! Latency percentiles with confidence intervals.
//!
//! ```text
//!   fraction up to           ......*****   q + h
//!                       ..***..............q         the fraction of messages with latencies up to Q(q) is a
//!                    .**...................q - h     ratio with half-width h; the percentile's interval
//!                 ***      |    |    |               extends from the latency at q - h to the latency
//!                      Q(q - h) Q(q) Q(q + h)        at q + h (Serfling 1980, section 2.6.3)
//! ```

use super::Estimate;
use super::latencies::{Latencies, Merged};
use gingham_kernel::Span;
use gingham_results::{Ratio, real};

/// Latency percentile with its 95 % confidence interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Percentile {
    /// Latency that the given fraction of messages does not exceed, to within 0.5 %.
    pub latency: Span,
    /// Lower end of the interval; `None` if the data do not suffice for an interval.
    pub low: Option<Span>,
    /// Upper end of the interval; also `None` if too few messages have higher latencies.
    pub high: Option<Span>,
}

/// Computes a percentile, without an interval if `sections` is empty; `None` for fewer messages
/// than `1 / (1 - share)`.
pub(super) fn percentile(
    merged: &Merged,
    sections: &[Latencies],
    share: f64,
) -> Option<Percentile> {
    let messages = real(u128::from(merged.messages()));
    // Exactly one of 1,000 messages exceeds the 99.9th percentile; rounding must not exclude this
    // case.
    if messages * (1.0 - share) < 1.0 - 1e-6 {
        return None;
    }
    let latency = merged.quantile(share);
    let interval = half_width(sections, latency).map(|half| (share - half, share + half));
    let at = |share| merged.middle(merged.quantile(share));
    Some(Percentile {
        latency: merged.middle(latency),
        low: interval.map(|(low, _)| at(low.max(0.0))),
        high: interval.filter(|(_, high)| *high < 1.0).map(|(_, high)| at(high)),
    })
}

fn half_width(sections: &[Latencies], latency: Span) -> Option<f64> {
    let ratio = |section: &Latencies| Ratio {
        sum: real(u128::from(section.messages_up_to(latency))),
        over: real(u128::from(section.messages())),
    };
    let ratios: Vec<Ratio> = sections.iter().map(ratio).collect();
    Estimate::of_sections(&ratios)?.half_width
}
