//! What the model says: pace, what goes at once, and the window.
//!
//! Source: draft-ietf-ccwg-bbr, sections "Updating Control Parameters" and "BBR.extra_acked".

use super::{Bbr, BbrParameters, INFINITY, MaxFilter, State, Thousandths};
use crate::controller::Sent;
use crate::units::{carried, rate};

const ONE: Thousandths = Thousandths(1_000);
/// Over which an initial window is spread before a time there and back is known.
const NOMINAL_ROUND_TRIP_NS: u64 = 1_000_000;

/// Pace and window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) cwnd: u64,
    initial_cwnd: u64,
    prior_cwnd: u64,
    pub(super) pacing_rate: u64,
    send_quantum: u64,
    /// The window has limited what was sent, until so much is delivered.
    pub(super) limited_until_delivered: Option<u64>,
}

impl Window {
    pub(super) fn new(parameters: &BbrParameters, initial_bytes: u64) -> Self {
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
pub(super) struct Aggregation {
    interval_start_ns: u64,
    delivered_bytes: u64,
    /// `extra_acked`, over the filter's length.
    pub(super) filter: MaxFilter,
    slot_started_round: u64,
}

impl Aggregation {
    /// Nothing has come for a while, and that is no sign of anything.
    pub(super) const fn restart(&mut self, now_ns: u64) {
        self.interval_start_ns = now_ns;
    }
}

impl Bbr {
    /// `MinPipeCwnd`.
    pub(super) const fn min_pipe_cwnd(&self) -> u64 {
        self.parameters.min_pipe_cwnd_packets.saturating_mul(self.longest_bytes)
    }

    /// `UpdateACKAggregation`.
    pub(super) fn update_ack_aggregation(&mut self) {
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
    pub(super) fn init_pacing_rate(&mut self) {
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
    pub(super) fn set_pacing_rate_with_gain(&mut self, gain: Thousandths) {
        let pacing_rate = self.parameters.pacing_margin.rest().of(gain.of(self.bw)).max(1);
        if self.full_pipe.full_bw_reached || pacing_rate > self.window.pacing_rate {
            self.window.pacing_rate = pacing_rate;
        }
    }

    /// `SetPacingRate`.
    pub(super) fn set_pacing_rate(&mut self) {
        self.set_pacing_rate_with_gain(self.pacing_gain());
    }

    /// `SetSendQuantum`.
    pub(super) fn set_send_quantum(&mut self) {
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
    pub(super) fn bdp_multiple(&self, bw: u64, gain: Thousandths) -> u64 {
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
    pub(super) fn inflight(&self, bw: u64) -> u64 {
        self.quantization_budget(self.bdp_multiple(bw, ONE))
    }

    /// `TargetInflight`.
    pub(super) fn target_inflight(&self) -> u64 {
        self.bdp_multiple(self.bw, ONE).min(self.window.cwnd)
    }

    /// `UpdateMaxInflight`.
    fn max_inflight(&self) -> u64 {
        let cap = self.bdp_multiple(self.bw, self.cwnd_gain());
        self.quantization_budget(cap.saturating_add(self.aggregation.filter.get()))
    }

    /// `SetCwnd`: what came makes room for as much again, up to what the model and losses say.
    pub(super) fn set_cwnd(&mut self) {
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
    pub(super) fn save_cwnd(&mut self) {
        if !self.bounds.in_loss_recovery && self.state != State::ProbeRtt {
            self.window.prior_cwnd = self.window.cwnd;
        } else {
            self.window.prior_cwnd = self.window.prior_cwnd.max(self.window.cwnd);
        }
    }

    /// `RestoreCwnd`.
    pub(super) fn restore_cwnd(&mut self) {
        self.window.cwnd = self.window.cwnd.max(self.window.prior_cwnd);
    }

    /// A packet goes: whether it leaves no room for another.
    pub(super) fn note_whether_cwnd_limits(&mut self, sent: &Sent) {
        let in_flight = sent.in_flight_bytes.saturating_add(sent.bytes);
        if in_flight.saturating_add(self.longest_bytes) > self.window.cwnd {
            self.window.limited_until_delivered =
                Some(sent.delivered_bytes.saturating_add(in_flight));
        }
    }

    /// `C.is_cwnd_limited`: whether the window filled within the last round trip.
    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.window.limited_until_delivered.is_some_and(|until| self.seen.delivered_bytes <= until)
    }
}
