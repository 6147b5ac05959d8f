//! The numbers that the draft leaves to whoever sets it up, and those that it gives.

use crate::units::scaled;

/// A gain or a share, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thousandths(pub u64);

impl Thousandths {
    /// So much of something.
    pub(crate) fn of(self, whole: u64) -> u64 {
        scaled(whole, self.0, 1_000)
    }

    /// What is missing to one.
    pub(crate) const fn rest(self) -> Self {
        Self(1_000_u64.saturating_sub(self.0))
    }
}

const MILLISECOND_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000 * MILLISECOND_NS;

/// The parameters of BBR. Their defaults are the draft's (draft-ietf-ccwg-bbr, constant
/// parameters), by whose names they go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BbrParameters {
    /// What a loss rate over a round trip must not exceed (`LossThresh`).
    pub loss_threshold: Thousandths,
    /// The share of a round trip's bytes whose loss between probes leaves the short-term bounds as
    /// they are. The draft has none: any loss lowers them, and what a path loses at random adds up
    /// from one probe to the next.
    pub short_term_threshold: Option<Thousandths>,
    /// What is kept after a loss at least (`Beta`).
    pub beta: Thousandths,
    /// The share of the long-term bound that is left to others between probes (`Headroom`). What is
    /// left is that of what path and queue hold together: a queue of a tenth of the path lets it
    /// carry .85 * 1.1 = .935 with the draft's .15, and all with .05.
    pub headroom: Thousandths,
    /// `StartupPacingGain`.
    pub startup_pacing_gain: Thousandths,
    /// `DrainPacingGain`.
    pub drain_pacing_gain: Thousandths,
    /// `DefaultCwndGain`; `StartupCwndGain` of older versions is the same.
    pub default_cwnd_gain: Thousandths,
    /// The pacing gain of ProbeBW_UP.
    pub probe_up_pacing_gain: Thousandths,
    /// The window's gain of ProbeBW_UP.
    pub probe_up_cwnd_gain: Thousandths,
    /// The pacing gain of ProbeBW_DOWN.
    pub probe_down_pacing_gain: Thousandths,
    /// `ProbeRTTCwndGain`.
    pub probe_rtt_cwnd_gain: Thousandths,
    /// What the pace stays below the estimate (`PacingMarginPercent`).
    pub pacing_margin: Thousandths,
    /// How many times a round losses must be told for Startup to end by them
    /// (`StartupFullLossCnt`).
    pub startup_full_loss_count: u32,
    /// `MinRTTFilterLen`, which is `ProbeRTTInterval` too.
    pub min_rtt_filter_ns: u64,
    /// `ProbeRTTDuration`.
    pub probe_rtt_ns: u64,
    /// `ExtraAckedFilterLen`, in round trips.
    pub extra_acked_filter_rounds: u64,
    /// The least time between two probes for bandwidth (`bw_probe_wait`).
    pub bw_probe_wait_ns: u64,
    /// What is added to it at random, at most.
    pub bw_probe_wait_spread_ns: u64,
    /// The most round trips between two probes (`T_reno_bound`).
    pub bw_probe_rounds_max: u64,
    /// `InitialCwnd`, in packets of the longest.
    pub initial_cwnd_packets: u64,
    /// `MinPipeCwnd`, in packets of the longest.
    pub min_pipe_cwnd_packets: u64,
    /// What goes at once at most, as time at the pace (`send_quantum`).
    pub send_quantum_ns: u64,
    /// What goes at once at most.
    pub send_quantum_bytes_max: u64,
    /// Packets that the other end lets come before it acknowledges.
    pub acknowledged_packets: u64,
    /// How long the other end waits at most before it acknowledges.
    pub acknowledgement_delay_ns: u64,
    /// Whether steps between states are taken together with other paths (`keep_time`).
    pub shares_clock: bool,
    /// Of what random waits are drawn.
    pub seed: u64,
}

impl Default for BbrParameters {
    fn default() -> Self {
        Self {
            loss_threshold: Thousandths(20),
            short_term_threshold: None,
            beta: Thousandths(700),
            headroom: Thousandths(150),
            startup_pacing_gain: Thousandths(2_770),
            drain_pacing_gain: Thousandths(500),
            default_cwnd_gain: Thousandths(2_000),
            probe_up_pacing_gain: Thousandths(1_250),
            probe_up_cwnd_gain: Thousandths(2_250),
            probe_down_pacing_gain: Thousandths(900),
            probe_rtt_cwnd_gain: Thousandths(500),
            pacing_margin: Thousandths(10),
            startup_full_loss_count: 6,
            min_rtt_filter_ns: 10 * SECOND_NS,
            probe_rtt_ns: 200 * MILLISECOND_NS,
            extra_acked_filter_rounds: 10,
            bw_probe_wait_ns: 2 * SECOND_NS,
            bw_probe_wait_spread_ns: SECOND_NS,
            bw_probe_rounds_max: 63,
            initial_cwnd_packets: 10,
            min_pipe_cwnd_packets: 4,
            send_quantum_ns: MILLISECOND_NS,
            send_quantum_bytes_max: 64 * 1_024,
            acknowledged_packets: 4,
            acknowledgement_delay_ns: 5 * MILLISECOND_NS,
            shares_clock: false,
            seed: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_and_the_rest_of_it_are_the_whole() {
        let headroom = Thousandths(150);
        assert_eq!((headroom.of(2_000), headroom.rest().of(2_000)), (300, 1_700));
        assert_eq!(Thousandths(2_770).of(u64::MAX), u64::MAX);
        assert_eq!(Thousandths(1_001).rest(), Thousandths(0));
    }
}
