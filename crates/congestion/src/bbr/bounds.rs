//! What losses say: how much may be in flight in the long term, how fast and how much until the
//! next probe.
//!
//! Source: draft-ietf-ccwg-bbr, section "Updating the Model Upon Packet Loss".

use super::{Bbr, INFINITY, State, Thousandths};
use crate::controller::RateSample;

/// What losses say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) bw_shortterm: u64,
    pub(super) inflight_shortterm: u64,
    pub(super) inflight_longterm: u64,
    bw_latest: u64,
    pub(super) inflight_latest: u64,
    loss_round_delivered: u64,
    pub(super) loss_round_start: bool,
    is_loss_in_round: bool,
    /// Whether losses are recent, so that what the window was before them is kept.
    pub(super) in_loss_recovery: bool,
    /// Acknowledgements of this round that told of losses, while in Startup.
    pub(super) loss_events: u32,
    /// Lost bytes that were told before there was a record to judge them by.
    unjudged_bytes: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            bw_shortterm: INFINITY,
            inflight_shortterm: INFINITY,
            inflight_longterm: INFINITY,
            bw_latest: 0,
            inflight_latest: 0,
            loss_round_delivered: 0,
            loss_round_start: false,
            is_loss_in_round: false,
            in_loss_recovery: false,
            loss_events: 0,
            unjudged_bytes: 0,
        }
    }
}

impl Bbr {
    /// Losses that were told: `HandleLostPacket`, where the last packet accounted for stands for the
    /// lost one.
    pub(super) fn handle_lost(&mut self, lost_bytes: u64) {
        if lost_bytes > 0 {
            self.note_loss();
        }
        self.bounds.unjudged_bytes = self.bounds.unjudged_bytes.saturating_add(lost_bytes);
        let Some(rate) = self.seen.rate.filter(|_| self.bounds.unjudged_bytes > 0) else {
            return;
        };
        self.bounds.unjudged_bytes = 0;
        if self.cycle.is_bw_probe_sample && self.is_inflight_too_high() {
            self.handle_inflight_too_high(self.inflight_at_loss(&rate));
        }
    }

    /// `NoteLoss`.
    fn note_loss(&mut self) {
        if !self.bounds.is_loss_in_round {
            self.bounds.loss_round_delivered = self.seen.delivered_bytes;
            self.save_cwnd();
        }
        (self.bounds.is_loss_in_round, self.bounds.in_loss_recovery) = (true, true);
        self.bounds.loss_events = self.bounds.loss_events.saturating_add(1);
    }

    /// `IsInflightTooHigh`: more was lost in a round trip than the threshold lets be, and more than
    /// one packet, which of less than fifty is more than the draft's threshold already.
    pub(super) fn is_inflight_too_high(&self) -> bool {
        self.loses_more_than(self.parameters.loss_threshold)
    }

    fn loses_more_than(&self, threshold: Thousandths) -> bool {
        self.seen.rate.is_some_and(|rate| {
            let most = threshold.of(rate.tx_in_flight_bytes);
            rate.lost_bytes > most.max(self.longest_bytes)
        })
    }

    /// Whether the losses of a round trip are worth slowing down for until the next probe.
    fn is_loss_congestion(&self) -> bool {
        self.parameters.short_term_threshold.is_none_or(|threshold| self.loses_more_than(threshold))
    }

    /// `InflightAtLoss`: what was in flight when losses crossed the threshold.
    fn inflight_at_loss(&self, rate: &RateSample) -> u64 {
        let threshold = self.parameters.loss_threshold;
        let inflight_prev = rate.tx_in_flight_bytes.saturating_sub(self.longest_bytes);
        let lost_prev = rate.lost_bytes.saturating_sub(self.longest_bytes);
        let budget = threshold.of(inflight_prev).saturating_sub(lost_prev);
        let lost_prefix = u128::from(budget) * 1_000 / u128::from(threshold.rest().0.max(1));
        inflight_prev.saturating_add(u64::try_from(lost_prefix).unwrap_or(u64::MAX))
    }

    /// `HandleInflightTooHigh`.
    fn handle_inflight_too_high(&mut self, inflight_at_loss: u64) {
        self.cycle.previous.too_high = true;
        self.cycle.is_bw_probe_sample = false;
        if !self.seen.is_app_limited() {
            let kept = self.parameters.beta.of(self.target_inflight());
            self.bounds.inflight_longterm = inflight_at_loss.max(kept);
        }
        if self.state == State::ProbeBwUp {
            self.start_probe_bw_down();
        }
    }

    /// `UpdateLatestDeliverySignals`.
    pub(super) fn update_latest_delivery_signals(&mut self) {
        self.bounds.loss_round_start = false;
        let Some(rate) = self.seen.rate else { return };
        self.bounds.bw_latest = self.bounds.bw_latest.max(self.seen.delivery_rate);
        self.bounds.inflight_latest = self.bounds.inflight_latest.max(rate.delivered_bytes);
        if rate.prior_delivered_bytes >= self.bounds.loss_round_delivered {
            self.bounds.loss_round_delivered = self.seen.delivered_bytes;
            self.bounds.loss_round_start = true;
        }
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn advance_latest_delivery_signals(&mut self) {
        if let Some(rate) = self.seen.rate.filter(|_| self.bounds.loss_round_start) {
            self.bounds.bw_latest = self.seen.delivery_rate;
            self.bounds.inflight_latest = rate.delivered_bytes;
        }
    }

    /// `ResetCongestionSignals`.
    pub(super) const fn reset_congestion_signals(&mut self) {
        self.bounds.is_loss_in_round = false;
        (self.bounds.bw_latest, self.bounds.inflight_latest) = (0, 0);
    }

    /// `UpdateCongestionSignals`: once in a round trip, losses leave their mark.
    pub(super) fn update_congestion_signals(&mut self) {
        self.update_max_bw();
        if !self.bounds.loss_round_start {
            return;
        }
        if self.bounds.is_loss_in_round && self.is_loss_congestion() {
            self.adapt_lower_bounds_from_congestion();
        } else if self.bounds.in_loss_recovery {
            self.bounds.in_loss_recovery = false;
            self.restore_cwnd();
        }
        self.bounds.is_loss_in_round = false;
    }

    /// `AdaptLowerBoundsFromCongestion`, `InitLowerBounds` and `LossLowerBounds`.
    fn adapt_lower_bounds_from_congestion(&mut self) {
        if self.state.is_probing_bw() {
            return;
        }
        let (max_bw, cwnd, beta) =
            (self.max_bw_filter.get(), self.window.cwnd, self.parameters.beta);
        let bounds = &mut self.bounds;
        if bounds.bw_shortterm == INFINITY {
            bounds.bw_shortterm = max_bw;
        }
        if bounds.inflight_shortterm == INFINITY {
            bounds.inflight_shortterm = cwnd;
        }
        bounds.bw_shortterm = bounds.bw_latest.max(beta.of(bounds.bw_shortterm));
        bounds.inflight_shortterm = bounds.inflight_latest.max(beta.of(bounds.inflight_shortterm));
    }

    /// `ResetShortTermModel`.
    pub(super) const fn reset_short_term_model(&mut self) {
        (self.bounds.bw_shortterm, self.bounds.inflight_shortterm) = (INFINITY, INFINITY);
    }
}
