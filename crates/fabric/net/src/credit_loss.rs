//! Lost credit updates. The lane's next update, or a periodic repetition, repairs the loss.
//!
//! Source: InfiniBand Architecture Specification, Volume 1, section 7.9: credit counts are
//! absolute, and each lane is updated at least every 65,536 symbol times. Timing:
//! `docs/concepts/timing-packets.md`.

use crate::ChannelPlan;
use gingham_kernel::{Purpose, Span, Stream, Time};
use gingham_topology::ChannelId;
use std::ops::Range;

/// Random loss of credit updates.
#[derive(Clone, PartialEq, Debug)]
pub struct CreditLossPlan {
    /// Loss probability of each update.
    pub probability: f64,
    /// Half-open interval; only updates sent within it may be lost.
    pub sent: Range<Time>,
    /// Time from the last update of a lane until its credit count is repeated. Default:
    /// InfiniBand's period.
    pub period: Option<Span>,
}

/// Bytes in InfiniBand's 65,536 symbol times, at one byte per symbol and lane. *(ours)*: a 4x link
/// is assumed, because the rate of a channel does not determine its width; a scenario with 1x or
/// 12x links sets the `period`.
const PERIOD_BYTES: u64 = 65_536 * 4;

impl CreditLossPlan {
    /// Returns the time from the last update of a virtual lane to its repetition; `back` is the
    /// channel that carries the updates.
    pub fn period_on(&self, back: &ChannelPlan) -> Span {
        self.period.unwrap_or_else(|| back.bytes.of(PERIOD_BYTES))
    }

    /// Returns whether the credit update that the receiver of `channel` sends at time `sent` is
    /// lost.
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
    fn lost_updates_match_the_loss_probability() {
        let lost = |probability: f64, lane: u8| -> Vec<bool> {
            let plan = loss(probability);
            let is_lost = |ps| plan.is_lost(7, ChannelId::new(3), lane, Time::from_ps(ps));
            (0..20_020).map(is_lost).collect()
        };
        let count = |of: &[bool]| of.iter().filter(|lost| **lost).count();
        assert_eq!(count(&lost(0.0, 0)), 0);
        let all = lost(1.0, 0);
        assert_eq!(
            (count(&all), all[9], all[10], all[20_009], all[20_010]),
            (20_000, false, true, true, false)
        );
        // Expected: a tenth of 20,000 updates. Tolerance: four standard deviations, each of 42
        // updates.
        let some = lost(0.1, 0);
        assert!(count(&some).abs_diff(2_000) < 170, "{}", count(&some));
        assert_ne!(some, lost(0.1, 1));
    }

    #[test]
    fn default_update_period_is_65536_symbol_times() {
        // SDR: at 2.5 Gb/s per physical lane, a ten-bit symbol takes 4 ns; four lanes carry 1 GB/s.
        let bytes = Rate::from_bytes_per_second(1_000_000_000).byte_time();
        let back = ChannelPlan { flit: Span::from_ns(1), bytes, delay: Span::ZERO, slack: None };
        assert_eq!(loss(0.5).period_on(&back), Span::from_ns(65_536 * 4));
        let plan = CreditLossPlan { period: Some(Span::from_ns(3)), ..loss(0.5) };
        assert_eq!(plan.period_on(&back), Span::from_ns(3));
    }
}
