use crate::units::scaled;

/// Gain or fraction in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thousandths(pub u64);

impl Thousandths {
    pub(crate) fn of(self, whole: u64) -> u64 {
        scaled(whole, self.0, 1_000)
    }

    pub(crate) const fn rest(self) -> Self {
        Self(1_000_u64.saturating_sub(self.0))
    }
}

const MILLISECOND_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000 * MILLISECOND_NS;

/// BBR parameters, with the draft's names and defaults (draft-ietf-ccwg-bbr).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BbrParameters {
    /// Loss rate per round trip above which losses count as congestion (`LossThresh`).
    pub loss_threshold: Thousandths,
    /// Maximum loss rate per round trip that leaves the short-term bounds unchanged. `None` stands
    /// for zero, so that the effects of random losses accumulate until the next probe.
    pub short_term_threshold: Option<Thousandths>,
    /// Minimum fraction of its value that a bound keeps when losses lower it (`Beta`).
    pub beta: Thousandths,
    /// Fraction of the long-term bound left to other flows between probes (`Headroom`). If the path
    /// can queue 0.1 BDP, utilisation is (1 - 0.15) * 1.1 = 0.935 with the draft's value of 0.15,
    /// and full with 0.05.
    pub headroom: Thousandths,
    /// Pacing gain of Startup (`StartupPacingGain`).
    pub startup_pacing_gain: Thousandths,
    /// Pacing gain of Drain (`DrainPacingGain`).
    pub drain_pacing_gain: Thousandths,
    /// Window gain in most states (`DefaultCwndGain`).
    pub default_cwnd_gain: Thousandths,
    /// Pacing gain of ProbeBW_UP.
    pub probe_up_pacing_gain: Thousandths,
    /// Window gain of ProbeBW_UP.
    pub probe_up_cwnd_gain: Thousandths,
    /// Pacing gain of ProbeBW_DOWN.
    pub probe_down_pacing_gain: Thousandths,
    /// Window gain of ProbeRTT (`ProbeRTTCwndGain`).
    pub probe_rtt_cwnd_gain: Thousandths,
    /// Margin of the pacing rate below the estimated bandwidth (`PacingMarginPercent`).
    pub pacing_margin: Thousandths,
    /// Number of acknowledgements with losses in a round that ends Startup (`StartupFullLossCnt`).
    pub startup_full_loss_count: u32,
    /// Validity period of the minimum RTT (`MinRTTFilterLen`), and interval between ProbeRTT phases
    /// (`ProbeRTTInterval`).
    pub min_rtt_filter_ns: u64,
    /// Time spent at the reduced window in ProbeRTT (`ProbeRTTDuration`).
    pub probe_rtt_ns: u64,
    /// Length of the ACK aggregation filter, in round trips (`ExtraAckedFilterLen`).
    pub extra_acked_filter_rounds: u64,
    /// Minimum time between bandwidth probes (`bw_probe_wait`).
    pub bw_probe_wait_ns: u64,
    /// Maximum random addition to `bw_probe_wait_ns`.
    pub bw_probe_wait_spread_ns: u64,
    /// Maximum number of round trips between bandwidth probes (`T_reno_bound`).
    pub bw_probe_rounds_max: u64,
    /// Initial window, in packets (`InitialCwnd`).
    pub initial_cwnd_packets: u64,
    /// Minimum window, in packets (`MinPipeCwnd`).
    pub min_pipe_cwnd_packets: u64,
    /// Maximum `send_quantum`, expressed as time at the pacing rate.
    pub send_quantum_ns: u64,
    /// Maximum `send_quantum`.
    pub send_quantum_bytes_max: u64,
    /// Number of packets per acknowledgement.
    pub acknowledged_packets: u64,
    /// Maximum acknowledgement delay at the receiver.
    pub acknowledgement_delay_ns: u64,
    /// Whether paths change state together, on a common clock ([`keep_time`](crate::keep_time)).
    pub shares_clock: bool,
    /// Seed for random waits.
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
    fn share_and_its_rest_sum_to_the_whole() {
        let headroom = Thousandths(150);
        assert_eq!((headroom.of(2_000), headroom.rest().of(2_000)), (300, 1_700));
        assert_eq!(Thousandths(2_770).of(u64::MAX), u64::MAX);
        assert_eq!(Thousandths(1_001).rest(), Thousandths(0));
    }
}
