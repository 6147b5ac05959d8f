//! Updates of credits that are lost: which, and when a receiver says again what was.
//!
//! ```text
//!   e: blocks come free   update, lost        no other update of the lane    e + period: the count again
//!                                             another update: heals it
//! ```
//!
//! Source: InfiniBand Architecture Specification, Volume 1, section 7.9: credits are absolute, and a lane
//! is updated at least every 65,536 symbol times. When what happens is told in
//! `docs/concepts/timing-packets.md`.

use crate::ChannelPlan;
use gingham_kernel::{Purpose, Span, Stream, Time};
use gingham_topology::ChannelId;
use std::ops::Range;

/// Updates of credits that get lost.
#[derive(Clone, PartialEq, Debug)]
pub struct CreditLossPlan {
    /// With which probability one of them does.
    pub probability: f64,
    /// Those that are sent then.
    pub sent: Range<Time>,
    /// The count of a lane is repeated this long after its last update. Default: InfiniBand's
    /// period.
    pub period: Option<Span>,
}

/// Bytes in the 65,536 symbol times after which InfiniBand repeats an update. *(ours)*: a channel is
/// taken to have four lines (4x), since its rate does not tell how many, and a symbol to be a byte
/// of one. Of one line (1x) the period has a fourth of these bytes, of twelve (12x) three times as
/// many: there a scenario gives the `period`.
const PERIOD_BYTES: u64 = 65_536 * 4;

impl CreditLossPlan {
    /// So long after the last update of a lane it is said again, by `back`, the channel from the
    /// receiver to the sender.
    pub fn period_on(&self, back: &ChannelPlan) -> Span {
        self.period.unwrap_or_else(|| back.bytes.of(PERIOD_BYTES))
    }

    /// Whether what the receiver of a channel says of a lane at an instant is lost.
    pub fn is_lost(&self, seed: u64, channel: ChannelId, lane: u8, sent: Time) -> bool {
        if !self.sent.contains(&sent) || self.probability <= 0.0 {
            return false;
        }
        let name =
            format!("update of lane {lane} on channel {} at {}", channel.index(), sent.as_ps());
        self.probability >= 1.0 || Stream::new(seed, &name, Purpose::Loss).unit() < self.probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::Rate;

    fn loss(probability: f64) -> CreditLossPlan {
        CreditLossPlan { probability, sent: Time::from_ps(10)..Time::from_ps(20_010), period: None }
    }

    #[test]
    fn so_many_are_lost_as_the_probability_says() {
        let lost = |probability: f64, lane: u8| -> Vec<bool> {
            let plan = loss(probability);
            let is_lost = |ps| plan.is_lost(7, ChannelId::new(3), lane, Time::from_ps(ps));
            (0..20_020).map(is_lost).collect()
        };
        let count = |of: &[bool]| of.iter().filter(|lost| **lost).count();
        assert_eq!(count(&lost(0.0, 0)), 0);
        // All from the first instant on, and none at the last.
        let all = lost(1.0, 0);
        assert_eq!(
            (count(&all), all[9], all[10], all[20_009], all[20_010]),
            (20_000, false, true, true, false)
        );
        // A tenth of 20,000, give or take four standard deviations, 4 x 42.
        let some = lost(0.1, 0);
        assert!(count(&some).abs_diff(2_000) < 170, "{}", count(&some));
        assert_ne!(some, lost(0.1, 1));
    }

    #[test]
    fn infiniband_says_it_again_after_65536_symbols() {
        // SDR: 2.5 Gb/s a line, a symbol of ten bits takes 4 ns; 1 GB/s on four lines.
        let bytes = Rate::from_bytes_per_second(1_000_000_000).byte_time();
        let back = ChannelPlan { flit: Span::from_ns(1), bytes, delay: Span::ZERO, slack: None };
        assert_eq!(loss(0.5).period_on(&back), Span::from_ns(65_536 * 4));
        let plan = CreditLossPlan { period: Some(Span::from_ns(3)), ..loss(0.5) };
        assert_eq!(plan.period_on(&back), Span::from_ns(3));
    }
}
