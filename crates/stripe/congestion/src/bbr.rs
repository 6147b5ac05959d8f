//! BBR version 3: a model of the path determines pacing rate and congestion window.
//!
//! ```text
//!   Startup --> Drain --> ProbeBW:  DOWN --> CRUISE --> REFILL --> UP --.
//!      ^                             ^                                  |
//!      |                             '----------------------------------'
//!      '---- ProbeRTT <---- from any state, when the minimum RTT is 10 s old
//!
//!   max_bw    maximum delivery rate of two cycles    \  their product is the bandwidth-delay
//!   min_rtt   minimum round-trip time in 10 s        /  product (BDP) of the path
//!   inflight_longterm   bytes in flight when losses became excessive, probed upward
//!   bw_shortterm, inflight_shortterm   bounds set by losses, valid until the next probe
//! ```
//!
//! Source: draft-ietf-ccwg-bbr, the working group's editing copy (2026, after -06). Names follow
//! the draft, in Rust spelling; the draft's `RS`, `C` and `BBR` are [`Seen::rate`], [`Seen`] and
//! [`Bbr`].
//!
//! Differences from the draft:
//!
//! - Losses are reported in bytes, not per packet. The last packet accounted for represents the
//!   lost packets (`P` in `HandleLostPacket`), which were sent just before it, because the path
//!   preserves order.
//! - `StartupFullLossCnt` counts acknowledgements that report losses, as in Linux.
//! - Reactions are never undone, because no loss is spurious. Loss recovery ends after a round trip
//!   without loss.
//! - The controller has no retransmission timer: the caller probes a silent path and accounts for
//!   its losses.
//! - ECN is not supported.
//! - A sample with less than a packet queued ahead of it renews the minimum RTT, which may make
//!   ProbeRTT unnecessary (`probe_rtt`).
//! - Interdependent paths may change state together (`clock`).
//! - A path restarts in Startup once heavy loss that did not depend on the sending rate has ended
//!   (`Healing`).
//! - A path that was lost and has returned is probed immediately if Startup finds less than its
//!   former bandwidth.
//! - The RTT for the window excludes the delay at the receiver (see `offload_budget`).
//!
//! Invariants: the window is never below `MinPipeCwnd`; all quantities are integers, so that
//! results do not depend on the machine.

mod clock;
mod max_filter;
mod parameters;
mod probe_bw;
mod probe_rtt;
mod random;
#[cfg(test)]
mod tests;

use crate::controller::{Acknowledged, Controller, RateSample, Sent};
use crate::units::{carried, rate};
use clock::Step;
pub use clock::keep_time;
pub(crate) use max_filter::MaxFilter;
pub use parameters::{BbrParameters, Thousandths};
use probe_bw::Cycle;
use probe_rtt::ProbeRtt;
use random::Random;

const INFINITY: u64 = u64::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

impl State {
    const fn is_probe_bw(self) -> bool {
        matches!(
            self,
            Self::ProbeBwDown | Self::ProbeBwCruise | Self::ProbeBwRefill | Self::ProbeBwUp
        )
    }

    const fn is_probing_bw(self) -> bool {
        matches!(self, Self::Startup | Self::ProbeBwRefill | Self::ProbeBwUp)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    now_ns: u64,
    delivered_bytes: u64,
    newly_acked_bytes: u64,
    inflight_bytes: u64,
    prior_inflight_bytes: u64,
    round_trip_ns: Option<u64>,
    smoothed_round_trip_ns: u64,
    rate: Option<RateSample>,
    /// Delivery rate in bytes per second; 0 without a sample.
    delivery_rate: u64,
}

impl Seen {
    const fn is_app_limited(&self) -> bool {
        matches!(self.rate, Some(rate) if rate.is_app_limited)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Round {
    next_delivered: u64,
    count: u64,
    is_start: bool,
}

/// BBR version 3 controller.
#[derive(Clone, Debug)]
pub struct Bbr {
    parameters: BbrParameters,
    longest_bytes: u64,
    random: Random,
    state: State,
    seen: Seen,
    round: Round,
    full_pipe: FullPipe,
    max_bw_filter: MaxFilter,
    /// Maximum delivery rate in bytes per second, limited by the short-term bound.
    bw: u64,
    cycle: Cycle,
    bounds: Bounds,
    probe_rtt: ProbeRtt,
    aggregation: Aggregation,
    window: Window,
    healing: Healing,
    announced_step: Option<Step>,
    /// Bandwidth before the path was lost, kept until the first probe afterwards.
    carried_before: u64,
}

impl Bbr {
    /// Creates a controller for packets of at most `longest_bytes` bytes.
    pub fn new(parameters: BbrParameters, longest_bytes: u64) -> Self {
        let longest_bytes = longest_bytes.max(1);
        let initial_bytes = parameters.initial_cwnd_packets.max(1).saturating_mul(longest_bytes);
        Self {
            parameters,
            longest_bytes,
            random: Random(parameters.seed),
            state: State::Startup,
            seen: Seen::default(),
            round: Round::default(),
            full_pipe: FullPipe::default(),
            max_bw_filter: MaxFilter::default(),
            bw: 0,
            cycle: Cycle::default(),
            bounds: Bounds::default(),
            probe_rtt: ProbeRtt::new(initial_bytes),
            aggregation: Aggregation::default(),
            window: Window::new(&parameters, initial_bytes),
            healing: Healing::default(),
            announced_step: None,
            carried_before: 0,
        }
    }

    /// Records the bandwidth before the path was lost. If Startup ends well below it, the first
    /// probe is immediate.
    pub const fn expect(&mut self, bytes_per_second: u64) {
        self.carried_before = bytes_per_second;
    }

    fn update_model_and_state(&mut self, lost_bytes: u64) {
        self.update_latest_delivery_signals();
        self.update_congestion_signals();
        self.check_healed(lost_bytes);
        self.update_ack_aggregation();
        self.check_full_bw_reached();
        self.check_startup_done();
        self.check_drain_done();
        self.update_probe_bw_cycle_phase();
        self.update_min_rtt();
        self.check_probe_rtt();
        self.advance_latest_delivery_signals();
        self.bound_bw_for_model();
    }

    fn update_control_parameters(&mut self) {
        self.set_pacing_rate();
        self.set_send_quantum();
        self.set_cwnd();
    }

    fn update_round(&mut self) {
        self.round.is_start = self
            .seen
            .rate
            .is_some_and(|rate| rate.prior_delivered_bytes >= self.round.next_delivered);
        if self.round.is_start {
            self.start_round();
            self.round.count += 1;
            self.cycle.rounds_since_probe_up = self.cycle.rounds_since_probe_up.saturating_add(1);
        }
    }

    const fn start_round(&mut self) {
        self.round.next_delivered = self.seen.delivered_bytes;
    }

    fn update_max_bw(&mut self) {
        self.update_round();
        let rate = self.seen.delivery_rate;
        if rate > 0 && (rate >= self.max_bw_filter.get() || !self.seen.is_app_limited()) {
            self.max_bw_filter.take(rate);
        }
    }

    fn bound_bw_for_model(&mut self) {
        self.bw = self.max_bw_filter.get().min(self.bounds.bw_shortterm);
    }

    fn see(&mut self, acknowledged: &Acknowledged) {
        let rate = acknowledged.rate.map(|rate| RateSample {
            is_app_limited: rate.is_app_limited && !self.is_behind_a_queue(acknowledged)
                || self.probe_rtt.limited(rate.prior_delivered_bytes),
            ..rate
        });
        self.seen = Seen {
            now_ns: acknowledged.now_ns,
            delivered_bytes: acknowledged.delivered_bytes,
            newly_acked_bytes: acknowledged.acknowledged_bytes,
            inflight_bytes: acknowledged.in_flight_bytes,
            prior_inflight_bytes: acknowledged.prior_in_flight_bytes,
            round_trip_ns: acknowledged.round_trip_ns,
            smoothed_round_trip_ns: acknowledged.smoothed_round_trip_ns,
            rate,
            delivery_rate: rate.and_then(|rate| rate.bytes_per_second()).unwrap_or(0),
        };
    }
}

impl Controller for Bbr {
    #[inline]
    fn sent(&mut self, sent: &Sent) {
        if sent.was_idle {
            self.handle_restart_from_idle(sent.now_ns);
        }
        self.note_whether_cwnd_limits(sent);
    }

    fn acknowledged(&mut self, acknowledged: &Acknowledged) {
        self.see(acknowledged);
        self.handle_lost(acknowledged.lost_bytes);
        self.update_model_and_state(acknowledged.lost_bytes);
        self.update_control_parameters();
    }

    fn window_bytes(&self) -> u64 {
        self.window.cwnd
    }

    fn pacing_rate_bytes_per_second(&self) -> Option<u64> {
        Some(self.window.pacing_rate)
    }

    fn is_starting(&self) -> bool {
        self.state == State::Startup
    }

    fn bytes_per_second(&self) -> Option<u64> {
        (self.bw > 0).then_some(self.bw)
    }
}

// Bounds set by losses: long-term for the bytes in flight, short-term (until the next probe) for
// rate and bytes in flight (draft, section "Updating the Model Upon Packet Loss").

#[derive(Clone, Copy, Debug)]
struct Bounds {
    bw_shortterm: u64,
    inflight_shortterm: u64,
    inflight_longterm: u64,
    bw_latest: u64,
    inflight_latest: u64,
    loss_round_delivered: u64,
    loss_round_start: bool,
    is_loss_in_round: bool,
    in_loss_recovery: bool,
    /// Number of acknowledgements with losses in the present round of Startup.
    loss_events: u32,
    /// Lost bytes not evaluated yet for lack of a rate sample.
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
    fn handle_lost(&mut self, lost_bytes: u64) {
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

    fn note_loss(&mut self) {
        if !self.bounds.is_loss_in_round {
            self.bounds.loss_round_delivered = self.seen.delivered_bytes;
            self.save_cwnd();
        }
        (self.bounds.is_loss_in_round, self.bounds.in_loss_recovery) = (true, true);
        self.bounds.loss_events = self.bounds.loss_events.saturating_add(1);
    }

    /// Returns whether the losses of a round trip exceed both the threshold and one packet. Without
    /// the second condition, one lost packet among fewer than fifty in flight would exceed the
    /// draft's threshold of 2 %.
    fn is_inflight_too_high(&self) -> bool {
        self.loses_more_than(self.parameters.loss_threshold)
    }

    fn loses_more_than(&self, threshold: Thousandths) -> bool {
        self.seen.rate.is_some_and(|rate| {
            let most = threshold.of(rate.tx_in_flight_bytes);
            rate.lost_bytes > most.max(self.longest_bytes)
        })
    }

    fn is_loss_congestion(&self) -> bool {
        self.parameters.short_term_threshold.is_none_or(|threshold| self.loses_more_than(threshold))
    }

    fn inflight_at_loss(&self, rate: &RateSample) -> u64 {
        let threshold = self.parameters.loss_threshold;
        let inflight_prev = rate.tx_in_flight_bytes.saturating_sub(self.longest_bytes);
        let lost_prev = rate.lost_bytes.saturating_sub(self.longest_bytes);
        let budget = threshold.of(inflight_prev).saturating_sub(lost_prev);
        let lost_prefix = u128::from(budget) * 1_000 / u128::from(threshold.rest().0.max(1));
        inflight_prev.saturating_add(u64::try_from(lost_prefix).unwrap_or(u64::MAX))
    }

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

    fn update_latest_delivery_signals(&mut self) {
        self.bounds.loss_round_start = false;
        let Some(rate) = self.seen.rate else { return };
        self.bounds.bw_latest = self.bounds.bw_latest.max(self.seen.delivery_rate);
        self.bounds.inflight_latest = self.bounds.inflight_latest.max(rate.delivered_bytes);
        if rate.prior_delivered_bytes >= self.bounds.loss_round_delivered {
            self.bounds.loss_round_delivered = self.seen.delivered_bytes;
            self.bounds.loss_round_start = true;
        }
    }

    fn advance_latest_delivery_signals(&mut self) {
        if let Some(rate) = self.seen.rate.filter(|_| self.bounds.loss_round_start) {
            self.bounds.bw_latest = self.seen.delivery_rate;
            self.bounds.inflight_latest = rate.delivered_bytes;
        }
    }

    const fn reset_congestion_signals(&mut self) {
        self.bounds.is_loss_in_round = false;
        (self.bounds.bw_latest, self.bounds.inflight_latest) = (0, 0);
    }

    fn update_congestion_signals(&mut self) {
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

    /// Lowers the short-term bounds (`InitLowerBounds` and `LossLowerBounds` in the draft).
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

    const fn reset_short_term_model(&mut self) {
        (self.bounds.bw_shortterm, self.bounds.inflight_shortterm) = (INFINITY, INFINITY);
    }
}

// Control parameters (draft, sections "Updating Control Parameters" and "BBR.extra_acked").

const ONE: Thousandths = Thousandths(1_000);
const NOMINAL_ROUND_TRIP_NS: u64 = 1_000_000;

#[derive(Clone, Copy, Debug)]
struct Window {
    cwnd: u64,
    initial_cwnd: u64,
    prior_cwnd: u64,
    pacing_rate: u64,
    send_quantum: u64,
    /// Delivered-byte count until which sending counts as limited by the window.
    limited_until_delivered: Option<u64>,
}

impl Window {
    fn new(parameters: &BbrParameters, initial_bytes: u64) -> Self {
        let nominal = rate(initial_bytes, NOMINAL_ROUND_TRIP_NS);
        Self {
            cwnd: initial_bytes,
            initial_cwnd: initial_bytes,
            prior_cwnd: 0,
            pacing_rate: parameters.startup_pacing_gain.of(nominal),
            send_quantum: 0,
            limited_until_delivered: None,
        }
    }
}

/// ACK aggregation: bytes acknowledged in excess of the estimated rate.
#[derive(Clone, Copy, Debug, Default)]
struct Aggregation {
    interval_start_ns: u64,
    delivered_bytes: u64,
    filter: MaxFilter,
    slot_started_round: u64,
}

impl Aggregation {
    const fn restart(&mut self, now_ns: u64) {
        self.interval_start_ns = now_ns;
    }
}

impl Bbr {
    const fn min_pipe_cwnd(&self) -> u64 {
        self.parameters.min_pipe_cwnd_packets.saturating_mul(self.longest_bytes)
    }

    fn update_ack_aggregation(&mut self) {
        let (now_ns, round_count) = (self.seen.now_ns, self.round.count);
        let filter_rounds = if self.full_pipe.full_bw_reached {
            self.parameters.extra_acked_filter_rounds
        } else {
            1
        };
        let aggregation = &mut self.aggregation;
        let interval_ns = now_ns.saturating_sub(aggregation.interval_start_ns);
        let mut expected = carried(self.bw, interval_ns);
        if aggregation.delivered_bytes <= expected {
            (aggregation.delivered_bytes, aggregation.interval_start_ns) = (0, now_ns);
            expected = 0;
        }
        aggregation.delivered_bytes =
            aggregation.delivered_bytes.saturating_add(self.seen.newly_acked_bytes);
        let extra = aggregation.delivered_bytes.saturating_sub(expected).min(self.window.cwnd);
        if round_count - aggregation.slot_started_round >= filter_rounds.div_ceil(2) {
            aggregation.filter.advance();
            aggregation.slot_started_round = round_count;
        }
        aggregation.filter.take(extra);
    }

    fn init_pacing_rate(&mut self) {
        let span_ns = match self.seen.smoothed_round_trip_ns {
            0 => NOMINAL_ROUND_TRIP_NS,
            smoothed_ns => smoothed_ns,
        };
        let nominal = rate(self.window.initial_cwnd, span_ns);
        self.window.pacing_rate = self.parameters.startup_pacing_gain.of(nominal);
    }

    const fn pacing_gain(&self) -> Thousandths {
        match self.state {
            State::Startup => self.parameters.startup_pacing_gain,
            State::Drain => self.parameters.drain_pacing_gain,
            State::ProbeBwDown => self.parameters.probe_down_pacing_gain,
            State::ProbeBwUp => self.parameters.probe_up_pacing_gain,
            State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeRtt => ONE,
        }
    }

    const fn cwnd_gain(&self) -> Thousandths {
        match self.state {
            State::ProbeBwUp => self.parameters.probe_up_cwnd_gain,
            State::ProbeRtt => self.parameters.probe_rtt_cwnd_gain,
            _ => self.parameters.default_cwnd_gain,
        }
    }

    fn set_pacing_rate_with_gain(&mut self, gain: Thousandths) {
        let pacing_rate = self.parameters.pacing_margin.rest().of(gain.of(self.bw)).max(1);
        if self.full_pipe.full_bw_reached || pacing_rate > self.window.pacing_rate {
            self.window.pacing_rate = pacing_rate;
        }
    }

    fn set_pacing_rate(&mut self) {
        self.set_pacing_rate_with_gain(self.pacing_gain());
    }

    fn set_send_quantum(&mut self) {
        self.window.send_quantum =
            carried(self.window.pacing_rate, self.parameters.send_quantum_ns)
                .min(self.parameters.send_quantum_bytes_max)
                .max(self.longest_bytes.saturating_mul(2));
    }

    /// Returns the window increment for the send quantum and for delayed acknowledgements
    /// (`UpdateOffloadBudget`, as for QUIC).
    fn offload_budget(&self) -> u64 {
        let kept = self
            .parameters
            .acknowledged_packets
            .saturating_mul(self.longest_bytes)
            .min(carried(self.max_bw_filter.get(), self.parameters.acknowledgement_delay_ns));
        self.window.send_quantum.saturating_add(kept)
    }

    fn bdp_multiple(&self, bw: u64, gain: Thousandths) -> u64 {
        match self.probe_rtt.min_rtt_ns {
            None => self.window.initial_cwnd,
            Some(min_rtt_ns) => gain.of(carried(bw, min_rtt_ns)),
        }
    }

    fn quantization_budget(&self, inflight_cap: u64) -> u64 {
        let cap = inflight_cap.max(self.offload_budget()).max(self.min_pipe_cwnd());
        if self.state == State::ProbeBwUp {
            cap.saturating_add(self.longest_bytes.saturating_mul(2))
        } else {
            cap
        }
    }

    fn inflight(&self, bw: u64) -> u64 {
        self.quantization_budget(self.bdp_multiple(bw, ONE))
    }

    fn target_inflight(&self) -> u64 {
        self.bdp_multiple(self.bw, ONE).min(self.window.cwnd)
    }

    fn max_inflight(&self) -> u64 {
        let cap = self.bdp_multiple(self.bw, self.cwnd_gain());
        self.quantization_budget(cap.saturating_add(self.aggregation.filter.get()))
    }

    fn set_cwnd(&mut self) {
        let max_inflight = self.max_inflight();
        let grown = self.window.cwnd.saturating_add(self.seen.newly_acked_bytes);
        if self.full_pipe.full_bw_reached {
            self.window.cwnd = grown.min(max_inflight);
        } else if self.window.cwnd < max_inflight
            || self.seen.delivered_bytes < self.window.initial_cwnd
        {
            self.window.cwnd = grown;
        }
        self.window.cwnd = self.window.cwnd.max(self.min_pipe_cwnd());
        if self.state == State::ProbeRtt {
            self.window.cwnd = self.window.cwnd.min(self.probe_rtt.cwnd);
        }
        self.bound_cwnd_for_model();
    }

    fn bound_cwnd_for_model(&mut self) {
        let cap = match self.state {
            State::ProbeBwDown | State::ProbeBwRefill | State::ProbeBwUp => {
                self.bounds.inflight_longterm
            }
            State::ProbeRtt | State::ProbeBwCruise => self.inflight_with_headroom(),
            State::Startup | State::Drain => INFINITY,
        };
        let cap = cap.min(self.bounds.inflight_shortterm).max(self.min_pipe_cwnd());
        self.window.cwnd = self.window.cwnd.min(cap);
    }

    fn save_cwnd(&mut self) {
        if !self.bounds.in_loss_recovery && self.state != State::ProbeRtt {
            self.window.prior_cwnd = self.window.cwnd;
        } else {
            self.window.prior_cwnd = self.window.prior_cwnd.max(self.window.cwnd);
        }
    }

    fn restore_cwnd(&mut self) {
        self.window.cwnd = self.window.cwnd.max(self.window.prior_cwnd);
    }

    fn note_whether_cwnd_limits(&mut self, sent: &Sent) {
        let in_flight = sent.in_flight_bytes.saturating_add(sent.bytes);
        if in_flight.saturating_add(self.longest_bytes) > self.window.cwnd {
            self.window.limited_until_delivered =
                Some(sent.delivered_bytes.saturating_add(in_flight));
        }
    }

    fn is_cwnd_limited(&self) -> bool {
        self.window.limited_until_delivered.is_some_and(|until| self.seen.delivered_bytes <= until)
    }
}

// Startup and Drain (draft, sections "Startup" and "Drain").

/// Number of rounds without 25 % growth after which the pipe counts as full.
const FULL_BW_ROUNDS: u32 = 3;
const DRAIN_ROUNDS_MAX: u64 = 3;

#[derive(Clone, Copy, Debug, Default)]
struct FullPipe {
    full_bw: u64,
    full_bw_count: u32,
    /// Whether measurements since the last reset show a full pipe.
    full_bw_now: bool,
    full_bw_reached: bool,
    drain_start_round: u64,
}

impl FullPipe {
    const fn reset(&mut self, full_bw: u64) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (full_bw, 0, false);
    }
}

impl Bbr {
    fn check_full_bw_reached(&mut self) {
        // With a common clock, the common rounds of all paths determine the end of a probe
        // (`pass_round`).
        let is_told = self.parameters.shares_clock && self.state == State::ProbeBwUp;
        if self.round.is_start && !self.seen.is_app_limited() && !is_told {
            self.see_full_bw(self.seen.delivery_rate);
        }
    }

    fn see_full_bw(&mut self, rate: u64) {
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

    const fn enter_startup(&mut self) {
        self.announced_step = None;
        self.state = State::Startup;
    }

    fn check_startup_done(&mut self) {
        self.check_startup_high_loss();
        if self.state == State::Startup && self.full_pipe.full_bw_reached {
            self.enter_drain();
        }
    }

    fn check_startup_high_loss(&mut self) {
        if self.full_pipe.full_bw_reached || !self.bounds.loss_round_start {
            return;
        }
        let told_enough = self.bounds.loss_events >= self.parameters.startup_full_loss_count;
        self.bounds.loss_events = 0;
        if told_enough && self.is_inflight_too_high() {
            (self.full_pipe.full_bw_now, self.full_pipe.full_bw_reached) = (true, true);
            self.bounds.inflight_longterm =
                self.bdp_multiple(self.bw, Thousandths(1_000)).max(self.bounds.inflight_latest);
        }
    }

    const fn enter_drain(&mut self) {
        self.state = State::Drain;
        self.full_pipe.drain_start_round = self.round.count;
    }

    fn check_drain_done(&mut self) {
        if self.state == State::Drain
            && (self.seen.inflight_bytes <= self.inflight(self.bw)
                || self.round.count > self.full_pipe.drain_start_round + DRAIN_ROUNDS_MAX)
        {
            self.start_probe_bw_down();
        }
    }
}

// Recovery of a path after heavy loss that did not depend on the rate.
//
// ```text
//   lost      > 1/4 in each of four consecutive rounds without probing   no loss in three rounds
//   state     DOWN, CRUISE ...                                           --> Startup
// ```
//
// Losses not caused by the sender reduce the model's bounds to their minimum. Probes then raise the
// bounds only slightly per cycle, and a recovered path stays nearly unused for a minute or longer.
// BBR therefore restarts in Startup, like TCP after an idle period (RFC 5681, section 4.1).
//
// A round with lighter loss ends a series of rounds with heavy loss: flows that share a full queue
// have few packets in flight, and occasionally lose a quarter of them. A restart would worsen this
// congestion.
//
// Invariant: losses during probes alone never cause a restart.

/// Reciprocal of the loss rate above which a round has heavy loss.
const HEAVY_SHARE: u64 = 4;
const HEAVY_ROUNDS: u32 = 4;
const CLEAN_ROUNDS: u32 = 3;

#[derive(Clone, Copy, Debug, Default)]
struct Healing {
    came_bytes: u64,
    lost_bytes: u64,
    heavy_rounds: u32,
    clean_rounds: u32,
}

impl Bbr {
    fn check_healed(&mut self, lost_bytes: u64) {
        let is_probing = self.state.is_probing_bw();
        let healing = &mut self.healing;
        healing.came_bytes = healing.came_bytes.saturating_add(self.seen.newly_acked_bytes);
        healing.lost_bytes = healing.lost_bytes.saturating_add(lost_bytes);
        if !self.round.is_start {
            return;
        }
        let (came_bytes, lost_bytes) = (healing.came_bytes, healing.lost_bytes);
        (healing.came_bytes, healing.lost_bytes) = (0, 0);
        if lost_bytes > came_bytes / (HEAVY_SHARE - 1) {
            healing.clean_rounds = 0;
            healing.heavy_rounds = healing.heavy_rounds.saturating_add(u32::from(!is_probing));
        } else {
            if healing.heavy_rounds < HEAVY_ROUNDS {
                healing.heavy_rounds = 0;
            }
            let is_clean = lost_bytes == 0;
            let clean_rounds = healing.clean_rounds.saturating_add(u32::from(came_bytes > 0));
            healing.clean_rounds = if is_clean { clean_rounds } else { 0 };
        }
        if healing.clean_rounds >= CLEAN_ROUNDS {
            let was_heavy = healing.heavy_rounds >= HEAVY_ROUNDS;
            *healing = Healing::default();
            if was_heavy && self.full_pipe.full_bw_reached {
                self.start_anew();
            }
        }
    }

    fn start_anew(&mut self) {
        self.full_pipe = FullPipe::default();
        self.full_pipe.reset(self.seen.delivery_rate);
        self.bounds.inflight_longterm = INFINITY;
        self.reset_short_term_model();
        self.bounds.loss_events = 0;
        self.cycle.forget_probes();
        self.enter_startup();
    }
}

#[cfg(test)]
mod healing_tests {
    use super::tests::{Step, Trace};
    use super::{INFINITY, State};

    const HEAVY: Step = Step {
        came: 1_000,
        bytes_per_second: 50_000,
        lost: 2_000,
        tx_in_flight: 3_000,
        in_flight: 1_000,
        is_app_limited: false,
    };
    const CLEAN: Step = Step { lost: 0, came: 3_000, bytes_per_second: 150_000, ..HEAVY };

    fn after(lossy: &[Step], clean: u32) -> Trace {
        let mut trace = Trace::cruising();
        for step in lossy {
            trace.round(*step);
        }
        (0..clean).for_each(|_| trace.round(CLEAN));
        trace
    }

    #[test]
    fn path_restarts_after_heavy_loss_and_three_clean_rounds() {
        for (heavy, clean, is_anew) in [(4, 3, true), (3, 3, false), (4, 2, false)] {
            let trace = after(&vec![HEAVY; heavy], clean);
            assert_eq!(trace.bbr.state == State::Startup, is_anew, "{heavy} and {clean}");
            if is_anew {
                assert_eq!(trace.bbr.bounds.inflight_longterm, INFINITY);
                assert_eq!(trace.bbr.bounds.inflight_shortterm, INFINITY);
            }
        }
    }

    /// A loss rate of 1/6 is not heavy. Four rounds with heavy loss already invalidate the model,
    /// so that a light round after them has no effect.
    #[test]
    fn light_loss_round_ends_a_series_of_heavy_ones() {
        let light = Step { lost: 500, came: 2_500, bytes_per_second: 125_000, ..HEAVY };
        for (before, after_it, is_anew) in
            [(3, 1, false), (2, 3, false), (0, 4, true), (4, 0, true)]
        {
            let lossy = [vec![HEAVY; before], vec![light], vec![HEAVY; after_it]].concat();
            let state = after(&lossy, 3).bbr.state;
            assert_eq!(state == State::Startup, is_anew, "{before} and {after_it}");
        }
    }
}
