//! Options of congestion control and channel choice, and the resulting measurements.

use core::time::Duration;

use gingham_congestion::{BbrParameters, Control, FixedRate, Path, Thousandths};

use crate::{Instant, OptionsError};

/// Rule for choosing the channel of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The scheduler alone chooses the channel, with or without tags.
    #[default]
    Strict,
    /// The channel with the earliest expected delivery is chosen among those with room; tags
    /// restore the order.
    Free,
}

/// Adjustable parameters of BBR version 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BbrPlan {
    /// Loss rate per round trip above which losses count as congestion (`LossThresh`).
    pub loss_threshold: Thousandths,
    /// Fraction of the congestion window left free for other flows between two probes (`Headroom`).
    pub headroom: Thousandths,
    /// Seed for random waits; each channel derives a separate seed from it.
    pub seed: u64,
}

impl Default for BbrPlan {
    /// Returns a plan with a headroom of 0.1. If the network can queue 1/13 to 1/2 of the
    /// bandwidth-delay product, throughput is 0.946 to 0.976 of the link rate, against 0.906 to
    /// 0.940 with the draft's headroom of 0.15.
    fn default() -> Self {
        let BbrParameters { loss_threshold, seed, .. } = BbrParameters::default();
        Self { loss_threshold, headroom: Thousandths(100), seed }
    }
}

/// Congestion control algorithm, which sets the congestion window and the pacing rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controlled {
    /// BBR version 3 (draft-ietf-ccwg-bbr).
    Bbr(BbrPlan),
    /// CUBIC (RFC 9438) with HyStart++ (RFC 9406).
    Cubic,
    /// Fixed rate in bytes per second; [`Sender::set_rate`](crate::Sender::set_rate) changes it for
    /// a single channel.
    FixedRate(u64),
}

impl Default for Controlled {
    fn default() -> Self {
        Self::Bbr(BbrPlan::default())
    }
}

/// Congestion control state of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    /// Bottleneck bandwidth; `None` if unknown.
    pub bytes_per_second: Option<u64>,
    /// Recent minimum round-trip time.
    pub round_trip_least: Duration,
    /// Smoothed round-trip time.
    pub round_trip: Duration,
    /// Mean difference between consecutive round-trip times.
    pub variation: Duration,
    /// Congestion window.
    pub window_bytes: u64,
    /// Bytes in flight.
    pub in_flight_bytes: u64,
    /// Bytes sent since the channel was added or moved.
    pub sent_bytes: u64,
    /// Bytes lost since the channel was added or moved.
    pub lost_bytes: u64,
    /// Pacing rate; `None` without pacing.
    pub pacing_rate_bytes_per_second: Option<u64>,
    /// Whether the data in flight are temporarily reduced to measure the minimum round-trip time.
    pub is_probing_round_trip: bool,
}

impl Flight {
    pub(super) fn of(path: &Path, now: Instant) -> Self {
        let trip = path.round_trip();
        Self {
            bytes_per_second: path.bytes_per_second(),
            round_trip_least: Duration::from_nanos(trip.least_ns()),
            round_trip: Duration::from_nanos(trip.smoothed_ns()),
            variation: Duration::from_nanos(trip.variation_ns()),
            window_bytes: path.window_bytes(),
            in_flight_bytes: path.in_flight_bytes(),
            sent_bytes: path.sent_counts().1,
            lost_bytes: path.lost_bytes(),
            pacing_rate_bytes_per_second: path.pacing_rate_bytes_per_second(),
            is_probing_round_trip: path.is_probing_round_trip(now.nanoseconds()),
        }
    }
}

/// Adaptation of quanta to channel rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharePlan {
    /// Minimum duration of a round, which determines the length of bursts. Rounds are longer if the
    /// slowest channel needs more time for a packet of maximum length.
    pub round: Duration,
    /// Maximum quantum.
    pub quantum_bytes_max: u32,
}

impl Default for SharePlan {
    /// Returns a plan with rounds of 1 ms, like bursts with segmentation offload, and quanta of at
    /// most 1 MiB, about 700 packets.
    fn default() -> Self {
        Self { round: Duration::from_millis(1), quantum_bytes_max: 1 << 20 }
    }
}

impl SharePlan {
    pub(super) fn check(&self) -> Result<(), OptionsError> {
        if self.round.is_zero() {
            Err(OptionsError::Zero { option: "shares.round" })
        } else if self.quantum_bytes_max == 0 {
            Err(OptionsError::Zero { option: "shares.quantum_bytes_max" })
        } else {
            Ok(())
        }
    }
}

/// Congestion control options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlPlan {
    /// Congestion control algorithm.
    pub by: Controlled,
    /// Maximum number of bytes in flight on a channel; unlimited if `None`.
    pub window_bytes_max: Option<u64>,
    /// Burst size on a channel, expressed as time at the pacing rate.
    pub burst: Duration,
}

impl Default for ControlPlan {
    fn default() -> Self {
        Self { by: Controlled::default(), window_bytes_max: None, burst: Duration::from_millis(1) }
    }
}

impl ControlPlan {
    pub(super) fn check(&self, longest_bytes: u32) -> Result<(), OptionsError> {
        if self.window_bytes_max.is_some_and(|most| most < u64::from(longest_bytes)) {
            Err(OptionsError::SmallWindow { longest_bytes })
        } else {
            Ok(())
        }
    }

    pub(super) fn control(&self, longest_bytes: u64, order: Order, channel: usize) -> Control {
        match self.by {
            Controlled::Bbr(BbrPlan { loss_threshold, headroom, seed }) => {
                let seed = seed.wrapping_add(channel as u64);
                let shares_clock = order == Order::Strict;
                let parameters = BbrParameters {
                    loss_threshold,
                    short_term_threshold: (order == Order::Free).then_some(loss_threshold),
                    headroom,
                    seed,
                    shares_clock,
                    ..BbrParameters::default()
                };
                Control::bbr(parameters, longest_bytes)
            }
            Controlled::Cubic => Control::cubic(longest_bytes),
            Controlled::FixedRate(bytes_per_second) => {
                Control::FixedRate(FixedRate::new(bytes_per_second, longest_bytes))
            }
        }
    }
}
