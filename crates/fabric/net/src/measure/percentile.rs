//! Percentiles of latency with confidence intervals.
//!
//! ```text
//!   share at or below        ......*****   q + h
//!                       ..***..............q         the share of messages at or below Q(q) is a ratio like
//!                    .**...................q - h     any other, with half-width h; the interval of the
//!                 ***      |    |    |               percentile lies between the latencies of the shares
//!                      Q(q - h) Q(q) Q(q + h)        q - h and q + h (Serfling 1980, section 2.6.3)
//! ```

use super::Estimate;
use super::latencies::{Latencies, Merged};
use gingham_kernel::Span;
use gingham_results::{Ratio, real};

/// Percentile of latency with its 95 % confidence interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Percentile {
    /// Latency that this fraction of the messages does not exceed, exact to half a per cent.
    pub latency: Span,
    /// Lower end of the interval; `None` without an interval.
    pub low: Option<Span>,
    /// Upper end of the interval; `None` also if too few messages are slower.
    pub high: Option<Span>,
}

/// Computes a percentile; `None` with fewer messages than `1 / (1 - share)`. `merged` is the sum of
/// all `sections`.
pub(super) fn percentile(
    merged: &Merged,
    sections: &[Latencies],
    share: f64,
) -> Option<Percentile> {
    let messages = real(u128::from(merged.messages()));
    // Of 1,000 messages, one exceeds the 99.9th percentile; rounding must not exclude it.
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

/// Half-width of the confidence interval of the fraction of messages up to a latency.
fn half_width(sections: &[Latencies], latency: Span) -> Option<f64> {
    let ratio = |section: &Latencies| Ratio {
        sum: real(u128::from(section.messages_up_to(latency))),
        over: real(u128::from(section.messages())),
    };
    let ratios: Vec<Ratio> = sections.iter().map(ratio).collect();
    Estimate::of_sections(&ratios)?.half_width
}
