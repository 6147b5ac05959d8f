//! How what is in flight on channels is controlled, and how a channel is chosen.

use core::time::Duration;

use gingham_congestion::{BbrParameters, Control, Path, Thousandths, Told};

use crate::{Instant, OptionsError};

/// How the channel of a packet is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// In turn, so that the receiver knows which comes next: what a scheduler says. With or without
    /// tags.
    #[default]
    Strict,
    /// The channel with room on which it is there first; the numbers of the tags give the order.
    Free,
}

/// BBR, version 3, as its draft has it but for these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BbrPlan {
    /// Losses of a larger share of a round trip are congestion (`LossThresh`).
    pub loss_threshold: Thousandths,
    /// This share of what may be in flight is left to others between two probes (`Headroom`).
    pub headroom: Thousandths,
    /// Of what random waits are drawn; each channel draws of a seed of its own.
    pub seed: u64,
}

impl Default for BbrPlan {
    /// The draft's threshold of 2 %, and a headroom of a tenth. Of a queue that is short the draft's
    /// .15 is a large part: on queues of a thirteenth to a half of what the way holds it carries
    /// .906 to .940, a tenth .946 to .976 (page on rates of striped channels).
    fn default() -> Self {
        let BbrParameters { loss_threshold, seed, .. } = BbrParameters::default();
        Self { loss_threshold, headroom: Thousandths(100), seed }
    }
}

/// What says how much may be in flight on a channel, and how fast it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controlled {
    /// BBR, version 3 (draft-ietf-ccwg-bbr).
    Bbr(BbrPlan),
    /// CUBIC (RFC 9438) with HyStart++ (RFC 9406).
    Cubic,
    /// A rate that is told, in bytes a second: of all channels, but for what
    /// [`Sender::tell_rate`](crate::Sender::tell_rate) says of one.
    Told(u64),
}

impl Default for Controlled {
    fn default() -> Self {
        Self::Bbr(BbrPlan::default())
    }
}

/// What has been found out of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    /// What it carries, if that is known.
    pub bytes_per_second: Option<u64>,
    /// The least time there and back, of the last while.
    pub round_trip_least: Duration,
    /// The smoothed time there and back.
    pub round_trip: Duration,
    /// The mean difference of a time there and back to the next.
    pub variation: Duration,
    /// Bytes that may be in flight.
    pub window_bytes: u64,
    /// Bytes that are.
    pub in_flight_bytes: u64,
    /// Bytes that were sent, and bytes of these that were found lost, since the path began.
    pub sent_bytes: u64,
    /// See `sent_bytes`.
    pub lost_bytes: u64,
    /// How fast packets go, where something says so.
    pub pace_bytes_per_second: Option<u64>,
    /// Whether less than the channel holds is in flight for a while, so that its least round trip shows.
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
            pace_bytes_per_second: path.pace_bytes_per_second(),
            is_probing_round_trip: path.is_probing_round_trip(now.nanoseconds()),
        }
    }
}

/// How quanta follow the rates of their channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharePlan {
    /// How long a round is to take: what a channel sends at once. The slowest channel's longest
    /// packet may make it longer.
    pub round: Duration,
    /// The largest quantum.
    pub quantum_bytes_max: u32,
}

impl Default for SharePlan {
    /// A millisecond, which is what goes on a channel at once where nothing is shared: as what the
    /// segmentation of a network card sends, and too short to be felt as delay; a mebibyte, a thousand packets.
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

/// How what is in flight on channels is controlled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlPlan {
    /// By what.
    pub by: Controlled,
    /// The most that may be in flight on a channel; nothing where the controller alone says so.
    pub window_bytes_max: Option<u64>,
    /// What goes on a channel at once: packets of so much time at its pace.
    pub burst: Duration,
}

impl Default for ControlPlan {
    /// A millisecond at once, as what the segmentation of a network card sends.
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
            Controlled::Told(bytes_per_second) => {
                Control::Told(Told::new(bytes_per_second, longest_bytes))
            }
        }
    }
}
