//! Startup and Drain: the pace doubles each round trip until the pipe is full, then the queue goes.
//!
//! Source: draft-ietf-ccwg-bbr, sections "Startup" and "Drain".

use super::{Bbr, State};

/// Rounds without a quarter more after which the pipe is full.
const FULL_BW_ROUNDS: u32 = 3;
/// Rounds after which Drain ends whatever is in flight.
const DRAIN_ROUNDS_MAX: u64 = 3;

/// The estimator that says when the pipe is full.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    pub(super) full_bw: u64,
    full_bw_count: u32,
    /// Whether the pipe is full by what was measured since the last reset.
    pub(super) full_bw_now: bool,
    /// Whether it ever was.
    pub(super) full_bw_reached: bool,
    drain_start_round: u64,
}

impl FullPipe {
    /// `ResetFullBW`, with a new baseline.
    pub(super) const fn reset(&mut self, full_bw: u64) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (full_bw, 0, false);
    }
}

impl Bbr {
    /// `CheckFullBWReached`: three rounds that brought less than a quarter more.
    pub(super) fn check_full_bw_reached(&mut self) {
        // Whether a probe of several paths is over is told in rounds of all (`pass_round`).
        let is_told = self.parameters.shares_clock && self.state == State::ProbeBwUp;
        if self.round.is_start && !self.seen.is_app_limited() && !is_told {
            self.see_full_bw(self.seen.delivery_rate);
        }
    }

    /// A round is over that brought so much.
    pub(super) fn see_full_bw(&mut self, rate: u64) {
        if self.full_pipe.full_bw_now {
            return;
        }
        if u128::from(rate) * 4 >= u128::from(self.full_pipe.full_bw) * 5 {
            self.full_pipe.reset(rate);
            return;
        }
        self.full_pipe.full_bw_count += 1;
        self.full_pipe.full_bw_now = self.full_pipe.full_bw_count >= FULL_BW_ROUNDS;
        self.full_pipe.full_bw_reached |= self.full_pipe.full_bw_now;
    }

    /// `EnterStartup`.
    pub(super) const fn enter_startup(&mut self) {
        self.wish = None;
        self.state = State::Startup;
    }

    /// `CheckStartupDone`.
    pub(super) fn check_startup_done(&mut self) {
        self.check_startup_high_loss();
        if self.state == State::Startup && self.full_pipe.full_bw_reached {
            self.enter_drain();
        }
    }

    /// `CheckStartupHighLoss`: at the end of a round trip of losses, if they were too many and were
    /// told often enough.
    fn check_startup_high_loss(&mut self) {
        if self.full_pipe.full_bw_reached || !self.bounds.loss_round_start {
            return;
        }
        let told_enough = self.bounds.loss_events >= self.parameters.startup_full_loss_count;
        self.bounds.loss_events = 0;
        if told_enough && self.is_inflight_too_high() {
            (self.full_pipe.full_bw_now, self.full_pipe.full_bw_reached) = (true, true);
            self.bounds.inflight_longterm = self
                .bdp_multiple(self.bw, super::Thousandths(1_000))
                .max(self.bounds.inflight_latest);
        }
    }

    /// `EnterDrain`.
    const fn enter_drain(&mut self) {
        self.state = State::Drain;
        self.full_pipe.drain_start_round = self.round.count;
    }

    /// `CheckDrainDone`: nothing is queued any more, or it takes too long.
    pub(super) fn check_drain_done(&mut self) {
        if self.state == State::Drain
            && (self.seen.inflight_bytes <= self.inflight(self.bw)
                || self.round.count > self.full_pipe.drain_start_round + DRAIN_ROUNDS_MAX)
        {
            self.start_probe_bw_down();
        }
    }
}
