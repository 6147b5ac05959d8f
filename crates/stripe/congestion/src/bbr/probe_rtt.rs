//! ProbeRTT, which keeps half of the BDP in flight for 200 ms to measure the minimum RTT, and the
//! restart from idle.
//!
//! Differences from the draft: a sample above the minimum by less than a packet's serialisation
//! time renews the minimum, so that ProbeRTT is unnecessary if the queue empties by itself; paths
//! that share one stream of packets probe one after another.
//!
//! Source: draft-ietf-ccwg-bbr, sections "ProbeRTT" and "Restarting From Idle".

use super::clock::Step;
use super::probe_bw::AckPhase;
use super::{Bbr, State};
use crate::units::carried;

/// Time without acknowledgements after which the path may be dead: the minimum timeout in RFC 6298.
const HEARD_NS: u64 = 1_000_000_000;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    pub(super) min_rtt_ns: Option<u64>,
    min_rtt_stamp_ns: u64,
    min_rtt_expired: bool,
    done_stamp_ns: Option<u64>,
    round_done: bool,
    pub(super) cwnd: u64,
    idle_restart: bool,
    /// Validity of the minimum RTT, in filter lengths: 2 while another path is in ProbeRTT,
    /// otherwise 1.
    spans: u64,
    /// First and last delivered-byte count during ProbeRTT. Rate samples of packets sent in this
    /// range are too low.
    limited: Option<(u64, u64)>,
}

impl ProbeRtt {
    pub(super) fn new(initial_bytes: u64) -> Self {
        Self { cwnd: initial_bytes, spans: 1, ..Self::default() }
    }

    pub(super) fn limited(&self, prior_delivered_bytes: u64) -> bool {
        self.limited.is_some_and(|(from, to)| (from..=to).contains(&prior_delivered_bytes))
    }
}

impl Bbr {
    /// Records whether another path is in ProbeRTT, because simultaneous probes would reduce
    /// throughput twice as much.
    pub(crate) const fn see_others_probe_rtt(&mut self, others_probe: bool) {
        self.probe_rtt.spans = if others_probe { 2 } else { 1 };
    }

    /// Returns whether the path is in ProbeRTT and has recently received an acknowledgement.
    pub(crate) fn is_probing_rtt(&self, now_ns: u64) -> bool {
        let heard_by_ns = self.seen.now_ns.saturating_add(HEARD_NS);
        self.state == State::ProbeRtt && now_ns <= heard_by_ns
    }

    pub(super) fn update_min_rtt(&mut self) {
        let now_ns = self.seen.now_ns;
        let age_ns = now_ns.saturating_sub(self.probe_rtt.min_rtt_stamp_ns);
        let span_ns = self.parameters.min_rtt_filter_ns.saturating_mul(self.probe_rtt.spans);
        self.probe_rtt.min_rtt_expired = self.probe_rtt.min_rtt_ns.is_some() && age_ns > span_ns;
        if self.probe_rtt.min_rtt_expired && self.state != State::ProbeRtt {
            self.save_probe_rtt_cwnd();
        }
        let expired = self.probe_rtt.min_rtt_expired;
        let Some(sample_ns) = self.seen.round_trip_ns else { return };
        if expired || self.probe_rtt.min_rtt_ns.is_none_or(|least_ns| sample_ns < least_ns) {
            if self.probe_rtt.min_rtt_ns.is_none() {
                self.init_pacing_rate();
            }
            self.probe_rtt.min_rtt_ns = Some(sample_ns.max(1));
            self.probe_rtt.min_rtt_stamp_ns = now_ns;
        } else if self.is_without_queue(sample_ns) {
            self.probe_rtt.min_rtt_stamp_ns = now_ns;
        }
    }

    fn is_without_queue(&self, round_trip_ns: u64) -> bool {
        let queued_ns = round_trip_ns - self.probe_rtt.min_rtt_ns.unwrap_or(0).min(round_trip_ns);
        carried(self.max_bw_filter.get(), queued_ns) < self.longest_bytes
    }

    fn save_probe_rtt_cwnd(&mut self) {
        let half = self.bdp_multiple(self.bw, self.parameters.probe_rtt_cwnd_gain);
        self.probe_rtt.cwnd = half.max(self.min_pipe_cwnd());
    }

    pub(super) fn check_probe_rtt(&mut self) {
        if self.state != State::ProbeRtt
            && self.probe_rtt.min_rtt_expired
            && !self.probe_rtt.idle_restart
        {
            self.step(Step::ProbeRtt);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt();
        }
        if self.seen.rate.is_some_and(|rate| rate.delivered_bytes > 0) {
            self.probe_rtt.idle_restart = false;
        }
    }

    /// Enters ProbeRTT. A path that joins the ProbeRTT of other paths must first compute its
    /// window.
    pub(super) fn enter_probe_rtt(&mut self) {
        self.save_cwnd();
        if !self.probe_rtt.min_rtt_expired {
            self.save_probe_rtt_cwnd();
        }
        self.state = State::ProbeRtt;
        self.probe_rtt.done_stamp_ns = None;
        self.probe_rtt.limited = Some((self.seen.delivered_bytes, self.seen.delivered_bytes));
        self.cycle.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
    }

    fn handle_probe_rtt(&mut self) {
        let until = self.seen.delivered_bytes.saturating_add(self.seen.inflight_bytes);
        if let Some((_, to)) = &mut self.probe_rtt.limited {
            *to = until;
        }
        if self.probe_rtt.done_stamp_ns.is_none() {
            if self.seen.inflight_bytes <= self.probe_rtt.cwnd {
                let done_ns = self.seen.now_ns.saturating_add(self.parameters.probe_rtt_ns);
                self.probe_rtt.done_stamp_ns = Some(done_ns);
                self.probe_rtt.round_done = false;
                self.start_round();
            }
            return;
        }
        self.probe_rtt.round_done |= self.round.is_start;
        if self.probe_rtt.round_done {
            self.check_probe_rtt_done();
        }
    }

    fn check_probe_rtt_done(&mut self) {
        if self.probe_rtt.done_stamp_ns.is_some_and(|done_ns| self.seen.now_ns > done_ns) {
            self.step(Step::ExitProbeRtt);
        }
    }

    pub(super) fn exit_probe_rtt(&mut self) {
        self.probe_rtt.min_rtt_stamp_ns = self.seen.now_ns;
        self.restore_cwnd();
        self.reset_short_term_model();
        if self.full_pipe.full_bw_reached {
            self.start_probe_bw_down();
            self.start_probe_bw_cruise();
        } else {
            self.enter_startup();
        }
    }

    pub(super) fn handle_restart_from_idle(&mut self, now_ns: u64) {
        self.probe_rtt.idle_restart = true;
        self.aggregation.restart(now_ns);
        if self.state.is_probe_bw() {
            self.set_pacing_rate_with_gain(super::Thousandths(1_000));
        } else if self.state == State::ProbeRtt {
            self.seen.now_ns = self.seen.now_ns.max(now_ns);
            self.check_probe_rtt_done();
        }
    }
}
