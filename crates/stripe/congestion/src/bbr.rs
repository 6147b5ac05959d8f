//! BBR, version 3: a model of the path says how fast packets go and how much is in flight.
//!
//! ```text
//!   Startup --> Drain --> ProbeBW:  DOWN --> CRUISE --> REFILL --> UP --.
//!      ^                             ^                                  |
//!      |                             '----------------------------------'
//!      '---- ProbeRTT <---- from any, when the least time there and back is 10 s old
//!
//!   max_bw    the highest delivery rate of two cycles  \  their product is the path's content,
//!   min_rtt   the least time there and back of 10 s    /  around which all turns
//!   inflight_longterm            what was in flight when losses grew too many, probed upward
//!   bw_shortterm, inflight_shortterm   what losses between probes leave, until the next probe
//! ```
//!
//! Source: draft-ietf-ccwg-bbr, the working group's copy of 2026 after -06. Names are the draft's.
//! Its `RS`, `C` and `BBR` are here [`Seen::rate`], [`Seen`] and [`Bbr`].
//!
//! Where this differs from the draft, and why:
//!
//! - Losses are told as bytes, not by packet. The record of the last packet accounted for stands for
//!   the lost packet (`P` of `HandleLostPacket`): a path delivers in order, so that the lost were
//!   sent just before it. Where losses are told in lumps, it stands for the whole lump.
//! - `StartupFullLossCnt` counts acknowledgements that tell of losses, as Linux does; ranges are not
//!   known.
//! - A loss cannot turn out to be none, and nothing is sent twice on a path. So nothing is undone,
//!   and loss recovery lasts from a loss until a round trip without one.
//! - No retransmission timer: who probes a path that is silent accounts for what is lost.
//! - No ECN.
//! - A least time there and back is as fresh as the last one that had not a whole packet queued
//!   before it: where that is seen between probes there is no need of ProbeRTT (`probe_rtt`).
//! - Paths of which none goes without the others may step from state to state together (`clock`).
//! - A path that lost much whatever the pace, and then nothing, is looked at anew (`healing`).
//! - A path that was gone and came back is probed at once where Startup found less than it carried.
//! - The round trip that a window is computed from is that of the acknowledgement less the time
//!   that the other end kept it; the budget for kept acknowledgements is in `offload_budget`.
//!
//! Invariants: the window is never below `MinPipeCwnd`; bytes, times and rates are whole numbers,
//! so that the same acknowledgements and seed give the same answers anywhere.

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

/// More than any quantity is.
const INFINITY: u64 = u64::MAX;

/// Where the state machine is.
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

    /// Whether it goes faster than the path is known to carry (`IsProbingBW`).
    const fn is_probing_bw(self) -> bool {
        matches!(self, Self::Startup | Self::ProbeBwRefill | Self::ProbeBwUp)
    }
}

/// What the last acknowledgement said (`C.*` and `RS.*`).
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    now_ns: u64,
    delivered_bytes: u64,
    newly_acked_bytes: u64,
    inflight_bytes: u64,
    /// Before the acknowledgement: the most since the one before it.
    prior_inflight_bytes: u64,
    round_trip_ns: Option<u64>,
    smoothed_round_trip_ns: u64,
    /// The rate sample, if there is one.
    rate: Option<RateSample>,
    /// `RS.delivery_rate`; 0 where there is none.
    delivery_rate: u64,
}

impl Seen {
    const fn is_app_limited(&self) -> bool {
        matches!(self.rate, Some(rate) if rate.is_app_limited)
    }
}

/// Round trips, counted by packets.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// `next_round_delivered`.
    next_delivered: u64,
    /// `round_count`.
    count: u64,
    /// `round_start`: whether the last acknowledgement began one.
    is_start: bool,
}

/// BBR, version 3.
#[derive(Clone, Debug)]
pub struct Bbr {
    parameters: BbrParameters,
    longest_bytes: u64,
    random: Random,
    state: State,
    seen: Seen,
    round: Round,
    full_pipe: FullPipe,
    /// The highest delivery rate of this cycle of ProbeBW and the one before.
    max_bw_filter: MaxFilter,
    /// `BBR.bw`: the highest delivery rate, but for what losses leave of it.
    bw: u64,
    cycle: Cycle,
    bounds: Bounds,
    probe_rtt: ProbeRtt,
    aggregation: Aggregation,
    window: Window,
    healing: Healing,
    /// The step that it would take, where that is taken together with other paths.
    wish: Option<Step>,
    /// What the path carried before it was gone, until the first probe after that.
    carried_before: u64,
}

impl Bbr {
    /// For packets of at most this length.
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
            wish: None,
            carried_before: 0,
        }
    }

    /// The path was gone, and carried so much before. It starts as one of which nothing is known; but
    /// where Startup ends well below that, as where losses ended it, the first probe does not wait.
    pub const fn expect(&mut self, bytes_per_second: u64) {
        self.carried_before = bytes_per_second;
    }

    /// `UpdateModelAndState`, in the draft's order.
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

    /// `UpdateControlParameters`.
    fn update_control_parameters(&mut self) {
        self.set_pacing_rate();
        self.set_send_quantum();
        self.set_cwnd();
    }

    /// `UpdateRound`: whether a packet came that was sent after the round began.
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

    /// `UpdateMaxBw`: samples that the source limits count only if they are higher.
    fn update_max_bw(&mut self) {
        self.update_round();
        let rate = self.seen.delivery_rate;
        if rate > 0 && (rate >= self.max_bw_filter.get() || !self.seen.is_app_limited()) {
            self.max_bw_filter.take(rate);
        }
    }

    /// `BoundBWForModel`.
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

    fn pace_bytes_per_second(&self) -> Option<u64> {
        Some(self.window.pacing_rate)
    }

    fn is_starting(&self) -> bool {
        self.state == State::Startup
    }

    fn bytes_per_second(&self) -> Option<u64> {
        (self.bw > 0).then_some(self.bw)
    }
}

// What losses say: how much may be in flight in the long term, how fast and how much until the
// next probe.
//
// Source: draft-ietf-ccwg-bbr, section "Updating the Model Upon Packet Loss".

/// What losses say.
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
    /// Whether losses are recent, so that what the window was before them is kept.
    in_loss_recovery: bool,
    /// Acknowledgements of this round that told of losses, while in Startup.
    loss_events: u32,
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
    fn is_inflight_too_high(&self) -> bool {
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

    /// `AdvanceLatestDeliverySignals`.
    fn advance_latest_delivery_signals(&mut self) {
        if let Some(rate) = self.seen.rate.filter(|_| self.bounds.loss_round_start) {
            self.bounds.bw_latest = self.seen.delivery_rate;
            self.bounds.inflight_latest = rate.delivered_bytes;
        }
    }

    /// `ResetCongestionSignals`.
    const fn reset_congestion_signals(&mut self) {
        self.bounds.is_loss_in_round = false;
        (self.bounds.bw_latest, self.bounds.inflight_latest) = (0, 0);
    }

    /// `UpdateCongestionSignals`: once in a round trip, losses leave their mark.
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
    const fn reset_short_term_model(&mut self) {
        (self.bounds.bw_shortterm, self.bounds.inflight_shortterm) = (INFINITY, INFINITY);
    }
}

// What the model says: pace, what goes at once, and the window.
//
// Source: draft-ietf-ccwg-bbr, sections "Updating Control Parameters" and "BBR.extra_acked".

const ONE: Thousandths = Thousandths(1_000);
/// Over which an initial window is spread before a time there and back is known.
const NOMINAL_ROUND_TRIP_NS: u64 = 1_000_000;

/// Pace and window.
#[derive(Clone, Copy, Debug)]
struct Window {
    cwnd: u64,
    initial_cwnd: u64,
    prior_cwnd: u64,
    pacing_rate: u64,
    send_quantum: u64,
    /// The window has limited what was sent, until so much is delivered.
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

/// How much more comes at once than the estimate says.
#[derive(Clone, Copy, Debug, Default)]
struct Aggregation {
    interval_start_ns: u64,
    delivered_bytes: u64,
    /// `extra_acked`, over the filter's length.
    filter: MaxFilter,
    slot_started_round: u64,
}

impl Aggregation {
    /// Nothing has come for a while, and that is no sign of anything.
    const fn restart(&mut self, now_ns: u64) {
        self.interval_start_ns = now_ns;
    }
}

impl Bbr {
    /// `MinPipeCwnd`.
    const fn min_pipe_cwnd(&self) -> u64 {
        self.parameters.min_pipe_cwnd_packets.saturating_mul(self.longest_bytes)
    }

    /// `UpdateACKAggregation`.
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

    /// `InitPacingRate`, once a time there and back is known.
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

    /// `SetPacingRateWithGain`: until the pipe is full it only grows.
    fn set_pacing_rate_with_gain(&mut self, gain: Thousandths) {
        let pacing_rate = self.parameters.pacing_margin.rest().of(gain.of(self.bw)).max(1);
        if self.full_pipe.full_bw_reached || pacing_rate > self.window.pacing_rate {
            self.window.pacing_rate = pacing_rate;
        }
    }

    /// `SetPacingRate`.
    fn set_pacing_rate(&mut self) {
        self.set_pacing_rate_with_gain(self.pacing_gain());
    }

    /// `SetSendQuantum`.
    fn set_send_quantum(&mut self) {
        self.window.send_quantum =
            carried(self.window.pacing_rate, self.parameters.send_quantum_ns)
                .min(self.parameters.send_quantum_bytes_max)
                .max(self.longest_bytes.saturating_mul(2));
    }

    /// `UpdateOffloadBudget`, as for QUIC: what goes at once, and what the other end keeps
    /// unacknowledged.
    fn offload_budget(&self) -> u64 {
        let kept = self
            .parameters
            .acknowledged_packets
            .saturating_mul(self.longest_bytes)
            .min(carried(self.max_bw_filter.get(), self.parameters.acknowledgement_delay_ns));
        self.window.send_quantum.saturating_add(kept)
    }

    /// `BDPMultiple`, of a rate.
    fn bdp_multiple(&self, bw: u64, gain: Thousandths) -> u64 {
        match self.probe_rtt.min_rtt_ns {
            None => self.window.initial_cwnd,
            Some(min_rtt_ns) => gain.of(carried(bw, min_rtt_ns)),
        }
    }

    /// `QuantizationBudget`.
    fn quantization_budget(&self, inflight_cap: u64) -> u64 {
        let cap = inflight_cap.max(self.offload_budget()).max(self.min_pipe_cwnd());
        if self.state == State::ProbeBwUp {
            cap.saturating_add(self.longest_bytes.saturating_mul(2))
        } else {
            cap
        }
    }

    /// `Inflight` of a rate, at a gain of one.
    fn inflight(&self, bw: u64) -> u64 {
        self.quantization_budget(self.bdp_multiple(bw, ONE))
    }

    /// `TargetInflight`.
    fn target_inflight(&self) -> u64 {
        self.bdp_multiple(self.bw, ONE).min(self.window.cwnd)
    }

    /// `UpdateMaxInflight`.
    fn max_inflight(&self) -> u64 {
        let cap = self.bdp_multiple(self.bw, self.cwnd_gain());
        self.quantization_budget(cap.saturating_add(self.aggregation.filter.get()))
    }

    /// `SetCwnd`: what came makes room for as much again, up to what the model and losses say.
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

    /// `BoundCwndForModel`.
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

    /// `SaveCwnd`.
    fn save_cwnd(&mut self) {
        if !self.bounds.in_loss_recovery && self.state != State::ProbeRtt {
            self.window.prior_cwnd = self.window.cwnd;
        } else {
            self.window.prior_cwnd = self.window.prior_cwnd.max(self.window.cwnd);
        }
    }

    /// `RestoreCwnd`.
    fn restore_cwnd(&mut self) {
        self.window.cwnd = self.window.cwnd.max(self.window.prior_cwnd);
    }

    /// A packet goes: whether it leaves no room for another.
    fn note_whether_cwnd_limits(&mut self, sent: &Sent) {
        let in_flight = sent.in_flight_bytes.saturating_add(sent.bytes);
        if in_flight.saturating_add(self.longest_bytes) > self.window.cwnd {
            self.window.limited_until_delivered =
                Some(sent.delivered_bytes.saturating_add(in_flight));
        }
    }

    /// `C.is_cwnd_limited`: whether the window filled within the last round trip.
    fn is_cwnd_limited(&self) -> bool {
        self.window.limited_until_delivered.is_some_and(|until| self.seen.delivered_bytes <= until)
    }
}

// Startup and Drain: the pace doubles each round trip until the pipe is full, then the queue goes.
//
// Source: draft-ietf-ccwg-bbr, sections "Startup" and "Drain".

/// Rounds without a quarter more after which the pipe is full.
const FULL_BW_ROUNDS: u32 = 3;
/// Rounds after which Drain ends whatever is in flight.
const DRAIN_ROUNDS_MAX: u64 = 3;

/// The estimator that says when the pipe is full.
#[derive(Clone, Copy, Debug, Default)]
struct FullPipe {
    full_bw: u64,
    full_bw_count: u32,
    /// Whether the pipe is full by what was measured since the last reset.
    full_bw_now: bool,
    /// Whether it ever was.
    full_bw_reached: bool,
    drain_start_round: u64,
}

impl FullPipe {
    /// `ResetFullBW`, with a new baseline.
    const fn reset(&mut self, full_bw: u64) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (full_bw, 0, false);
    }
}

impl Bbr {
    /// `CheckFullBWReached`: three rounds that brought less than a quarter more.
    fn check_full_bw_reached(&mut self) {
        // Whether a probe of several paths is over is told in rounds of all (`pass_round`).
        let is_told = self.parameters.shares_clock && self.state == State::ProbeBwUp;
        if self.round.is_start && !self.seen.is_app_limited() && !is_told {
            self.see_full_bw(self.seen.delivery_rate);
        }
    }

    /// A round is over that brought so much.
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

    /// `EnterStartup`.
    const fn enter_startup(&mut self) {
        self.wish = None;
        self.state = State::Startup;
    }

    /// `CheckStartupDone`.
    fn check_startup_done(&mut self) {
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
            self.bounds.inflight_longterm =
                self.bdp_multiple(self.bw, Thousandths(1_000)).max(self.bounds.inflight_latest);
        }
    }

    /// `EnterDrain`.
    const fn enter_drain(&mut self) {
        self.state = State::Drain;
        self.full_pipe.drain_start_round = self.round.count;
    }

    /// `CheckDrainDone`: nothing is queued any more, or it takes too long.
    fn check_drain_done(&mut self) {
        if self.state == State::Drain
            && (self.seen.inflight_bytes <= self.inflight(self.bw)
                || self.round.count > self.full_pipe.drain_start_round + DRAIN_ROUNDS_MAX)
        {
            self.start_probe_bw_down();
        }
    }
}

// A path that lost most of what was sent, whatever the pace, and does so no more.
//
// ```text
//   lost      > 1/4 in each of four rounds on end that do not probe     nothing in three rounds
//   state     DOWN, CRUISE ...                                          --> Startup
// ```
//
// Losses at a pace that the path was found to carry are not of the sender's making, but they leave
// the bounds of the model at their least. Probes then raise them a little in each cycle of seconds,
// and a path that is good again stays nearly unused for a minute or longer. So it is looked at
// anew, as after an idle time in TCP (RFC 5681, section 4.1).
//
// A round that lost less ends the row of heavy ones. Of many flows in one full queue each has a few
// packets in flight, and loses a quarter of them now and then. That is congestion, and a flow that
// began anew would make it worse.
//
// Source: ours. The draft has no such state.
//
// Invariant: losses of probes alone never lead here.

/// More than one byte in so many lost is heavy loss.
const HEAVY_SHARE: u64 = 4;
/// Rounds of heavy loss, one after another, after which the model says nothing of a path without.
const HEAVY_ROUNDS: u32 = 4;
/// Rounds without any loss after which it is taken to be such a path.
const CLEAN_ROUNDS: u32 = 3;

/// What was lost lately.
#[derive(Clone, Copy, Debug, Default)]
struct Healing {
    came_bytes: u64,
    lost_bytes: u64,
    heavy_rounds: u32,
    clean_rounds: u32,
}

impl Bbr {
    /// What an acknowledgement tells; at the end of a round that is weighed.
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
            // Fewer than that were no row.
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

    /// Two thirds of 3,000 bytes are lost in a round, at a pace that the path was found to carry.
    const HEAVY: Step = Step {
        came: 1_000,
        bytes_per_second: 50_000,
        lost: 2_000,
        tx_in_flight: 3_000,
        in_flight: 1_000,
        is_app_limited: false,
    };
    const CLEAN: Step = Step { lost: 0, came: 3_000, bytes_per_second: 150_000, ..HEAVY };

    /// After rounds of which each lost heavily or lightly, and so many without any loss.
    fn after(lossy: &[Step], clean: u32) -> Trace {
        let mut trace = Trace::cruising();
        for step in lossy {
            trace.round(*step);
        }
        (0..clean).for_each(|_| trace.round(CLEAN));
        trace
    }

    /// Four rounds of heavy loss and three without any: it begins anew, without a bound. Three of
    /// heavy loss are not enough, nor are two without any.
    #[test]
    fn a_path_that_lost_much_and_does_so_no_more_is_looked_at_anew() {
        for (heavy, clean, is_anew) in [(4, 3, true), (3, 3, false), (4, 2, false)] {
            let trace = after(&vec![HEAVY; heavy], clean);
            assert_eq!(trace.bbr.state == State::Startup, is_anew, "{heavy} and {clean}");
            if is_anew {
                assert_eq!(trace.bbr.bounds.inflight_longterm, INFINITY);
                assert_eq!(trace.bbr.bounds.inflight_shortterm, INFINITY);
            }
        }
    }

    /// A sixth lost is not heavy: of rounds on its two sides only those after it count. Where four on
    /// end were heavy, it takes nothing back.
    #[test]
    fn a_round_of_light_loss_ends_a_row_of_heavy_ones() {
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
