use core::time::Duration;

use super::RepairPlan;
use super::control::{ControlPlan, Order, SharePlan};
use super::paths::Paths;
use super::sizes::SizePlan;
use crate::charge::USUAL_BYTES;
use crate::error::check_packets;
use crate::{ChannelSet, Charge, Discards, Numbered, OptionsError, first_channels};

/// Marker schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkerPlan {
    /// Number of rounds between markers.
    pub every_rounds: u32,
    /// Channel before whose turn markers are sent.
    pub before_channel: usize,
    /// Maximum time between markers until all packets are accounted for. With tags, a channel gets
    /// at most four time-triggered markers per round trip, but at least one per silence period
    /// ([`SenderOptions::silence`]).
    pub interval: Duration,
    /// Maximum time between markers while the sender is idle.
    pub idle_interval_max: Duration,
}

/// Options of the sending end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderOptions {
    /// Marker schedule.
    pub markers: MarkerPlan,
    /// Time between repetitions of an unacknowledged reset.
    pub reset_interval: Duration,
    /// Time to wait for other channels after the first acknowledgement of a reset.
    pub reset_wait: Duration,
    /// Time without reports, in addition to two round trips, after which a channel is deactivated.
    /// Credits and congestion control require this option.
    pub silence: Option<Duration>,
    /// Maximum interval between probes of an inactive channel.
    pub probe_interval_max: Duration,
    /// Memory charge of a packet at the receiver, for credit-based flow control; `None` disables
    /// credits.
    pub credits: Option<Charge>,
    /// Rule for choosing channels.
    pub order: Order,
    /// Congestion control; required by free order.
    pub control: Option<ControlPlan>,
    /// Adaptation of quanta to measured rates, in strict order.
    pub shares: Option<SharePlan>,
    /// Retransmission when the receiver requests it.
    pub repair: Option<RepairPlan>,
    /// Search for the maximum frame size of each channel. Without it, only the scheduler limits
    /// packets.
    pub sizes: Option<SizePlan>,
    /// Bit set of the channels that exist at the start; all channels if `None`.
    pub present: Option<u64>,
}

impl Default for SenderOptions {
    /// Returns options with markers every 10 s at rest: with reports, about 4 MB a day per channel
    /// in both directions.
    fn default() -> Self {
        let interval = Duration::from_millis(20);
        Self {
            markers: MarkerPlan {
                every_rounds: 4,
                before_channel: 0,
                interval,
                idle_interval_max: Duration::from_secs(10),
            },
            reset_interval: Duration::from_millis(100),
            reset_wait: Duration::from_millis(500),
            silence: Some(Duration::from_millis(200)),
            probe_interval_max: Duration::from_secs(1),
            credits: None,
            order: Order::Strict,
            control: None,
            shares: None,
            repair: None,
            sizes: None,
            present: None,
        }
    }
}

impl SenderOptions {
    pub(super) fn check(&self, channels: usize) -> Result<(), OptionsError> {
        let channel = self.markers.before_channel;
        if self.markers.every_rounds == 0 {
            Err(OptionsError::NoRounds)
        } else if channel >= channels {
            Err(OptionsError::NoSuchChannel { channel, count: channels })
        } else if self.markers.interval.is_zero() {
            Err(OptionsError::Zero { option: "markers.interval" })
        } else if self.reset_interval.is_zero() {
            Err(OptionsError::Zero { option: "reset_interval" })
        } else if self.silence.is_some_and(|silence| silence.is_zero()) {
            Err(OptionsError::Zero { option: "silence" })
        } else if self.probe_interval_max.is_zero() {
            Err(OptionsError::Zero { option: "probe_interval_max" })
        } else if self.control.is_none() && (self.shares.is_some() || self.order == Order::Free) {
            Err(OptionsError::NoControl)
        } else if let (None, Some(option)) = (self.silence, self.held_back_by()) {
            Err(OptionsError::EndlessSilence { option })
        } else {
            self.check_present(channels)?;
            let room = |plan: RepairPlan| check_packets("repair.packets", plan.packets);
            self.repair.map_or(Ok(()), room)?;
            self.sizes.map_or(Ok(()), |plan| plan.check())?;
            self.shares.map_or(Ok(()), |plan| plan.check())
        }
    }

    fn check_present(&self, channels: usize) -> Result<(), OptionsError> {
        match self.present {
            Some(0) => Err(OptionsError::NonePresent),
            Some(present) if present & !first_channels(channels) != 0 => {
                let channel = ChannelSet::BITS - 1 - present.leading_zeros();
                Err(OptionsError::NoSuchChannel { channel: channel as usize, count: channels })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn present(&self, channels: usize) -> ChannelSet {
        self.present.unwrap_or(first_channels(channels))
    }

    const fn held_back_by(&self) -> Option<&'static str> {
        match self {
            Self { credits: Some(_), .. } => Some("credits"),
            Self { control: Some(_), .. } => Some("control"),
            _ => None,
        }
    }

    pub(super) fn paths(&self, scheduler: &impl Numbered) -> Result<Option<Paths>, OptionsError> {
        let Some(plan) = &self.control else { return Ok(None) };
        let longest_bytes = match scheduler.longest_bytes() {
            u32::MAX if self.shares.is_some() => return Err(OptionsError::QuantaOfPackets),
            u32::MAX => USUAL_BYTES,
            longest_bytes => longest_bytes,
        };
        plan.check(longest_bytes)?;
        Ok(Some(Paths::new(plan, self.order, self.shares, longest_bytes, scheduler.channels())))
    }
}

/// Counters of the sending end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sending {
    /// Packets sent.
    pub packets: u64,
    /// Bytes in packets sent.
    pub bytes: u64,
    /// Markers sent.
    pub markers: u64,
    /// Retransmissions of lost packets.
    pub repairs: u64,
    /// Copies of packets of class `Redundant`, and copies that measure losses.
    pub redundant: u64,
    /// Copies of packets of class `Redundant` not sent, because they became useless.
    pub redundant_late: u64,
    /// Retransmissions not sent, because they would have arrived too late.
    pub repairs_too_late: u64,
    /// Retransmissions not sent, because the packet no longer fits any channel.
    pub repairs_too_long: u64,
    /// Self-checks that found a corrupt state.
    pub corrupt: u64,
    /// Resets started, including the first.
    pub resets: u64,
    /// Completed quantum changes, including changes to and from 0.
    pub changes: u64,
    /// Number of times that a channel was declared dead.
    pub deaths: u64,
    /// Number of times that a channel entered quarantine.
    pub quarantines: u64,
    /// Quantum changes postponed because they were not acknowledged in time.
    pub postponed: u64,
    /// Discarded messages, by reason.
    pub discards: Discards,
}

impl Sending {
    pub(super) const fn gone(&self) -> u64 {
        self.packets + self.repairs + self.redundant
    }
}
