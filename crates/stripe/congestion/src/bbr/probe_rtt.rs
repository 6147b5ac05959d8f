//! ProbeRTT: half of the path's content for 200 ms, so that the least time there and back shows.
//! And what happens when a path has been idle.
//!
//! Where the queue goes by itself between two probes for bandwidth the least time shows without
//! ProbeRTT. A time that is longer by less than a packet takes had no whole packet before it, and
//! keeps the least as fresh as the same time would.
//!
//! Source: draft-ietf-ccwg-bbr, sections "ProbeRTT" and "Restarting From Idle"; that a time within a
//! packet of the least counts as the least is ours, and that paths that share packets probe one after
//! another.

use super::clock::Step;
use super::probe_bw::AckPhase;
use super::{Bbr, State};
use crate::units::carried;

/// Who is heard is heard within a second: the least timeout of RFC 6298.
const HEARD_NS: u64 = 1_000_000_000;

/// The least time there and back, and when it was last looked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// The least of the filter's length; nothing before there is a sample (`Infinity`).
    pub(super) min_rtt_ns: Option<u64>,
    min_rtt_stamp_ns: u64,
    min_rtt_expired: bool,
    done_stamp_ns: Option<u64>,
    round_done: bool,
    /// What may be in flight meanwhile, fixed when it begins (`probe_rtt_cwnd`).
    pub(super) cwnd: u64,
    idle_restart: bool,
    /// So many lengths of the filter the least is believed: two while another path that packets may
    /// take is in `ProbeRTT`.
    spans: u64,
    /// Of what was sent when so much was delivered, samples are low on purpose.
    limited: Option<(u64, u64)>,
}

impl ProbeRtt {
    pub(super) fn new(initial_bytes: u64) -> Self {
        Self { cwnd: initial_bytes, spans: 1, ..Self::default() }
    }

    /// Whether what was sent when so much was delivered was limited on purpose.
    pub(super) fn limited(&self, prior_delivered_bytes: u64) -> bool {
        self.limited.is_some_and(|(from, to)| (from..=to).contains(&prior_delivered_bytes))
    }
}

impl Bbr {
    /// Whether another path is looking for its least time there and back, which then waits here until
    /// the present one is two filters' lengths old: two at once would cost twice.
    pub(crate) const fn see_others_probe_rtt(&mut self, others_probe: bool) {
        self.probe_rtt.spans = if others_probe { 2 } else { 1 };
    }

    /// Whether it is looking for the least time there and back; not if nothing has been heard for so
    /// long that the path may be dead.
    pub(crate) fn is_probing_rtt(&self, now_ns: u64) -> bool {
        let heard_by_ns = self.seen.now_ns.saturating_add(HEARD_NS);
        self.state == State::ProbeRtt && now_ns <= heard_by_ns
    }

    /// `UpdateMinRTT`.
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

    /// Whether not even one packet of the longest was queued before one that took so long.
    fn is_without_queue(&self, round_trip_ns: u64) -> bool {
        let queued_ns = round_trip_ns - self.probe_rtt.min_rtt_ns.unwrap_or(0).min(round_trip_ns);
        carried(self.max_bw_filter.get(), queued_ns) < self.longest_bytes
    }

    /// `SaveProbeRTTCwnd`.
    fn save_probe_rtt_cwnd(&mut self) {
        let half = self.bdp_multiple(self.bw, self.parameters.probe_rtt_cwnd_gain);
        self.probe_rtt.cwnd = half.max(self.min_pipe_cwnd());
    }

    /// `CheckProbeRTT`.
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

    /// What `CheckProbeRTT` does to begin. Who goes with others has not saved its half yet.
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

    /// `HandleProbeRTT`.
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

    /// `CheckProbeRTTDone`.
    fn check_probe_rtt_done(&mut self) {
        if self.probe_rtt.done_stamp_ns.is_some_and(|done_ns| self.seen.now_ns > done_ns) {
            self.step(Step::ExitProbeRtt);
        }
    }

    /// `ExitProbeRTT`.
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

    /// `HandleRestartFromIdle`.
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
