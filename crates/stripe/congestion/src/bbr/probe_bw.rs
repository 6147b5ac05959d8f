//! ProbeBW: cycles through a lower rate, the estimated rate, a refill of the pipe, and a higher
//! rate.
//!
//! ```text
//!   rate    .9          1           1        1.25
//!           DOWN -----> CRUISE ---> REFILL -> UP ----> DOWN ...
//!           until the queue         a round   until the pipe is full,
//!           is empty    ^ 2 to 3 s  trip      or losses are excessive
//! ```
//!
//! After a probe with excessive loss, the next probe is precautionary: it ends once the bytes in
//! flight reach the bound set by that loss. If no excessive loss follows, the next probe starts
//! immediately and goes further.
//!
//! Source: draft-ietf-ccwg-bbr, section "ProbeBW".

use super::clock::Step;
use super::{Bbr, INFINITY, State};

const BW_PROBE_UP_ROUNDS_MAX: u32 = 30;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probed {
    pub(super) too_high: bool,
    precautionary: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    pub(super) ack_phase: AckPhase,
    pub(super) previous: Probed,
    pub(super) is_bw_probe_sample: bool,
    pub(super) rounds_since_probe_up: u64,
    stamp_ns: u64,
    pub(super) bw_probe_wait_ns: u64,
    bw_probe_up_rounds: u32,
    bw_probe_up_acked: u64,
    probe_up_acked_per_inc: u64,
    pub(super) count: u64,
}

impl Cycle {
    pub(super) fn forget_probes(&mut self) {
        (self.previous, self.ack_phase) = (Probed::default(), AckPhase::Init);
        self.is_bw_probe_sample = false;
    }
}

impl Bbr {
    pub(super) fn start_probe_bw_down(&mut self) {
        self.announced_step = None;
        self.reset_congestion_signals();
        self.cycle.probe_up_acked_per_inc = INFINITY;
        self.pick_probe_wait();
        self.cycle.stamp_ns = self.seen.now_ns;
        self.cycle.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.state = State::ProbeBwDown;
    }

    pub(super) const fn start_probe_bw_cruise(&mut self) {
        self.state = State::ProbeBwCruise;
    }

    pub(super) fn start_probe_bw_refill(&mut self) {
        self.reset_short_term_model();
        (self.cycle.bw_probe_up_rounds, self.cycle.bw_probe_up_acked) = (0, 0);
        self.cycle.previous.precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::ProbeBwRefill;
    }

    pub(super) fn start_probe_bw_up(&mut self) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        let shares_clock = self.parameters.shares_clock;
        let rate = if shares_clock { self.max_bw_filter.get() } else { self.seen.delivery_rate };
        self.full_pipe.reset(rate);
        self.state = State::ProbeBwUp;
        self.raise_inflight_longterm_slope();
    }

    pub(super) fn update_probe_bw_cycle_phase(&mut self) {
        if !self.full_pipe.full_bw_reached || self.adapt_long_term_model() {
            return;
        }
        match self.state {
            State::ProbeBwDown => {
                if self.is_time_to_probe_bw() {
                    self.step(Step::Refill);
                } else if self.is_time_to_cruise() {
                    self.start_probe_bw_cruise();
                }
            }
            State::ProbeBwCruise if self.is_time_to_probe_bw() => self.step(Step::Refill),
            State::ProbeBwRefill if self.round.is_start => self.step(Step::Up),
            State::ProbeBwUp => {
                if self.is_time_to_go_down() {
                    self.step(Step::Down);
                } else {
                    self.go_on();
                }
            }
            _ => {}
        }
    }

    /// Chooses the wait before the next probe. A path that returned with less than 0.9 of its
    /// former bandwidth is probed immediately (ours).
    pub(super) fn pick_probe_wait(&mut self) {
        let before = u128::from(core::mem::take(&mut self.carried_before));
        if u128::from(self.max_bw_filter.get()) * 10 < before * 9 {
            (self.cycle.rounds_since_probe_up, self.cycle.bw_probe_wait_ns) = (0, 0);
            return;
        }
        self.cycle.rounds_since_probe_up = self.random.up_to(1);
        let spread_ns = self.random.up_to(self.parameters.bw_probe_wait_spread_ns);
        self.cycle.bw_probe_wait_ns = self.parameters.bw_probe_wait_ns.saturating_add(spread_ns);
    }

    fn is_time_to_probe_bw(&self) -> bool {
        let waited_ns = self.seen.now_ns.saturating_sub(self.cycle.stamp_ns);
        let reno_rounds = self.target_inflight() / self.longest_bytes;
        waited_ns > self.cycle.bw_probe_wait_ns
            || self.cycle.rounds_since_probe_up
                >= reno_rounds.min(self.parameters.bw_probe_rounds_max)
    }

    fn is_time_to_cruise(&self) -> bool {
        self.seen.inflight_bytes <= self.inflight_with_headroom()
            && self.seen.inflight_bytes <= self.inflight(self.max_bw_filter.get())
    }

    fn is_time_to_go_down(&mut self) -> bool {
        let longterm = self.bounds.inflight_longterm;
        if self.cycle.previous.too_high && self.seen.prior_inflight_bytes >= longterm {
            self.cycle.previous.precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && self.window.cwnd >= longterm {
            self.full_pipe.reset(self.seen.delivery_rate);
            return false;
        }
        self.full_pipe.full_bw_now
    }

    pub(super) fn inflight_with_headroom(&self) -> u64 {
        let longterm = self.bounds.inflight_longterm;
        if longterm == INFINITY {
            return INFINITY;
        }
        let headroom = self.parameters.headroom.of(longterm).max(self.longest_bytes);
        longterm.saturating_sub(headroom).max(self.min_pipe_cwnd())
    }

    fn raise_inflight_longterm_slope(&mut self) {
        let growth_this_round = 1_u64 << self.cycle.bw_probe_up_rounds;
        self.cycle.bw_probe_up_rounds =
            (self.cycle.bw_probe_up_rounds + 1).min(BW_PROBE_UP_ROUNDS_MAX);
        self.cycle.probe_up_acked_per_inc =
            (self.window.cwnd / growth_this_round).max(self.longest_bytes);
    }

    fn probe_inflight_longterm_upward(&mut self) {
        if !self.is_cwnd_limited() || self.window.cwnd < self.bounds.inflight_longterm {
            return;
        }
        let acked = self.cycle.bw_probe_up_acked.saturating_add(self.seen.newly_acked_bytes);
        let per_increment = self.cycle.probe_up_acked_per_inc.max(1);
        let increments = acked / per_increment;
        self.cycle.bw_probe_up_acked = acked % per_increment;
        let growth = increments.saturating_mul(self.longest_bytes);
        self.bounds.inflight_longterm = self.bounds.inflight_longterm.saturating_add(growth);
        if self.round.is_start {
            self.raise_inflight_longterm_slope();
        }
    }

    fn adapt_long_term_model(&mut self) -> bool {
        if self.cycle.ack_phase == AckPhase::ProbeStarting && self.round.is_start {
            self.cycle.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.cycle.ack_phase == AckPhase::ProbeStopping && self.round.is_start {
            self.cycle.is_bw_probe_sample = false;
            self.cycle.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() && !self.seen.is_app_limited() {
                self.advance_max_bw_filter();
            }
            let previous = self.cycle.previous;
            if self.state.is_probe_bw() && previous.precautionary && !previous.too_high {
                self.step(Step::Refill);
                return true;
            }
        }
        if !self.is_inflight_too_high() && self.bounds.inflight_longterm != INFINITY {
            let tx_in_flight = self.seen.rate.map_or(0, |rate| rate.tx_in_flight_bytes);
            self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(tx_in_flight);
            if self.state == State::ProbeBwUp {
                self.probe_inflight_longterm_upward();
            }
        }
        false
    }

    fn advance_max_bw_filter(&mut self) {
        self.cycle.count += 1;
        self.max_bw_filter.advance();
    }
}
