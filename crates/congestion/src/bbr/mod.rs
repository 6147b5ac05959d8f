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

mod bounds;
mod clock;
mod control;
mod healing;
mod max_filter;
mod parameters;
mod probe_bw;
mod probe_rtt;
mod random;
mod startup;
#[cfg(test)]
mod tests;

pub use clock::keep_time;
pub use parameters::{BbrParameters, Thousandths};

pub(crate) use max_filter::MaxFilter;

use crate::controller::{Acknowledged, Controller, RateSample, Sent};
use bounds::Bounds;
use clock::Step;
use control::{Aggregation, Window};
use healing::Healing;
use probe_bw::Cycle;
use probe_rtt::ProbeRtt;
use random::Random;
use startup::FullPipe;

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
