//! What the sending end is told, and what it counts.

use core::time::Duration;

use super::RepairPlan;
use super::control::{ControlPlan, Order, SharePlan};
use super::paths::Paths;
use super::sizes::SizePlan;
use crate::charge::USUAL_BYTES;
use crate::error::check_packets;
use crate::{ChannelSet, Charge, Discards, Numbered, OptionsError, first_channels};

/// When markers go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkerPlan {
    /// Markers in one round out of so many.
    pub every_rounds: u32,
    /// They go before the turn of this channel, from 0.
    pub before_channel: usize,
    /// They go at the latest so long after the last, while anything sent is not accounted for. Where
    /// packets have tags a channel has four in a round trip at most, if that is less often, but one
    /// within [`SenderOptions::silence`].
    pub interval: Duration,
    /// While nothing is sent they go less and less often, at least so often.
    pub idle_interval_max: Duration,
}

/// What the sending end is told at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderOptions {
    /// When markers go.
    pub markers: MarkerPlan,
    /// A reset that is not acknowledged goes again after so long.
    pub reset_interval: Duration,
    /// A reset that one channel has acknowledged waits so long for the others.
    pub reset_wait: Duration,
    /// A channel of which nothing is heard for so long and two round trips more, though markers go
    /// on it, is out; nobody ever is where there is none, so neither credits nor windows may be
    /// then.
    pub silence: Option<Duration>,
    /// A channel that is out is probed by a marker at least so often.
    pub probe_interval_max: Duration,
    /// No packet goes that the receiver has not said it has room for; its reports say so, best
    /// between markers, too. This is what it charges, as the receiver does.
    pub credits: Option<Charge>,
    /// How the channel of a packet is chosen.
    pub order: Order,
    /// What says how much may be in flight on a channel, and how fast it goes; nothing if not
    /// given. A free choice needs it.
    pub control: Option<ControlPlan>,
    /// How quanta follow the rates that control finds, where order is strict; they stay if none is
    /// given.
    pub shares: Option<SharePlan>,
    /// Which lost packets are sent again, where the receiver asks for them.
    pub repair: Option<RepairPlan>,
    /// How the longest frames of channels are found; nothing where they are told: every channel
    /// takes the scheduler's longest packet.
    pub sizes: Option<SizePlan>,
    /// The channels that are there at the start, a bit each, from the lowest; all where none are
    /// given.
    pub present: Option<u64>,
}

impl Default for SenderOptions {
    /// Markers at the beginning of each fourth round and each 20 ms, each ten seconds while nothing
    /// is sent: with reports some 4 MB a day and channel, there and back; resets each 100 ms, for at
    /// most 500 ms; no credits, nothing that controls what is in flight, quanta that stay.
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

    /// The channels that are there at the start.
    pub(super) fn present(&self, channels: usize) -> ChannelSet {
        self.present.unwrap_or(first_channels(channels))
    }

    /// By which option reports hold the sender back, if by any.
    const fn held_back_by(&self) -> Option<&'static str> {
        match self {
            Self { credits: Some(_), .. } => Some("credits"),
            Self { control: Some(_), .. } => Some("control"),
            _ => None,
        }
    }

    /// The channels as paths, if what is in flight on them is controlled.
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

/// What the sending end has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sending {
    /// Packets given a channel.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Markers given out.
    pub markers: u64,
    /// Copies of lost packets given out.
    pub repairs: u64,
    /// Copies given out of packets that go on two channels, or that measure a channel in quarantine.
    pub redundant: u64,
    /// Those that were not, because the packet was accounted for before any other channel had room.
    pub redundant_late: u64,
    /// Copies of lost packets that were not, because they would have come too late.
    pub repairs_too_late: u64,
    /// Those that were not, because they fit no channel any more.
    pub repairs_too_long: u64,
    /// Times that the sender found its state corrupt: one that nothing leads to.
    pub corrupt: u64,
    /// Resets begun, the first included.
    pub resets: u64,
    /// Quanta that changed, channels that came in or went out by them included.
    pub changes: u64,
    /// Channels that were found dead, at the opening of an epoch or later.
    pub deaths: u64,
    /// Times that a channel entered quarantine.
    pub quarantines: u64,
    /// Changes that were put off, not having been acknowledged in time.
    pub postponed: u64,
    /// What came and was not used.
    pub discards: Discards,
}

impl Sending {
    /// Packets and copies given out.
    pub(super) const fn gone(&self) -> u64 {
        self.packets + self.repairs + self.redundant
    }
}
