//! Epochs at the receiving end, and messages to the sender about them.
//!
//! A reset to the present or an earlier epoch, or a marker of an earlier epoch, shows that the
//! sender has restarted and lost its state, unless the channel has not carried a message of the
//! present epoch yet: the reset or marker may then be older than this epoch.
//!
//! If a receiver without an epoch gets a marker, it has lost its state or missed the start of the
//! epoch. Accepting a reset to the marker's epoch could deliver packets twice, so only a later
//! epoch is accepted.
//!
//! On a slow channel, a reset to a running epoch may arrive before any marker. In guaranteed order,
//! delivery starts only after the epoch has started on every awaited channel: with a reset, or with
//! a marker that counts no earlier packets. Any other first message shows that the epoch was
//! already running, and the receiver abandons it.
//!
//! Invariant: at most one request per received message, so that two ends cannot amplify each
//! other's traffic.

use gingham_fairq::CHANNELS_MAX;

use crate::{ChannelSet, Discard, Epoch, Kind, take_lowest};

const _: () = assert!(CHANNELS_MAX == ChannelSet::BITS as usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// Past epoch, or an epoch too far ahead to be compared as a serial number.
    Earlier,
    Present,
    /// Later epoch, or any epoch while the receiver has none.
    Later,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Epochs {
    current: Option<Epoch>,
    /// Epoch of a marker received while the receiver had no epoch; only later epochs are accepted.
    forgotten: Option<Epoch>,
    /// Channels that have carried a message of the present epoch.
    synchronised: ChannelSet,
    /// Channels on which the start of the present epoch has been received.
    begun: ChannelSet,
    received: ChannelSet,
    acknowledge: ChannelSet,
    /// Reset request: the channel that carries it, and the last known epoch.
    request: Option<(usize, Epoch)>,
}

impl Epochs {
    pub(super) fn age(&self, epoch: Epoch) -> Age {
        match self.current {
            Some(current) if current == epoch => Age::Present,
            Some(current) if !epoch.is_after(current) => Age::Earlier,
            _ => Age::Later,
        }
    }

    pub(super) fn doubt(&mut self, channels: ChannelSet) {
        self.synchronised &= !channels;
    }

    pub(super) const fn current(&self) -> Option<Epoch> {
        self.current
    }

    pub(super) const fn is_synchronised(&self, channel: usize) -> bool {
        self.synchronised & (1 << channel) != 0
    }

    pub(super) const fn are_synchronised(&self, channels: ChannelSet) -> bool {
        channels & !self.synchronised == 0
    }

    pub(super) fn enter(&mut self, epoch: Epoch, synchronised: ChannelSet) {
        let begun = synchronised;
        *self = Self { current: Some(epoch), synchronised, begun, ..Self::default() };
    }

    pub(super) const fn begin(&mut self, channel: usize) {
        self.begun |= 1 << channel;
    }

    pub(super) const fn has_begun(&self, channel: usize) -> bool {
        self.begun & (1 << channel) != 0
    }

    pub(super) const fn not_begun(&self, channels: ChannelSet) -> ChannelSet {
        channels & !self.begun
    }

    pub(super) fn forget(&mut self, channel: usize) {
        let request = self.current.map(|epoch| (channel, epoch));
        *self = Self { forgotten: self.current, request, ..Self::default() };
    }

    pub(super) fn record_received(&mut self, channel: usize) {
        self.received |= 1 << channel;
    }

    pub(super) fn request(&mut self, channel: usize) {
        self.request = self.current.map(|epoch| (channel, epoch));
    }

    pub(super) fn see_marker(&mut self, channel: usize, epoch: Epoch) -> Result<bool, Discard> {
        if self.current.is_none() {
            self.forgotten = Some(epoch);
            self.request = Some((channel, epoch));
            return Err(Discard::Unsynchronised);
        }
        self.synchronise(channel, epoch)
    }

    pub(super) fn see_reset(&mut self, channel: usize, epoch: Epoch) -> Result<bool, Discard> {
        if self.current == Some(epoch) && self.received & (1 << channel) != 0 {
            self.request(channel);
            return Err(Discard::RepeatedReset);
        }
        let forgotten = self.forgotten.filter(|_| self.current.is_none());
        if let Some(forgotten) = forgotten.filter(|forgotten| !epoch.is_after(*forgotten)) {
            self.request = Some((channel, forgotten));
            return Err(Discard::StaleEpoch);
        }
        let new = self.synchronise(channel, epoch)?;
        self.begin(channel);
        self.acknowledge |= 1 << channel;
        Ok(new)
    }

    /// Enters a message's epoch if it is later; returns whether it was entered. An earlier epoch
    /// triggers a reset request; if the message may be older than the present epoch, the request
    /// names the epoch before the present one.
    fn synchronise(&mut self, channel: usize, epoch: Epoch) -> Result<bool, Discard> {
        let age = self.age(epoch);
        if age == Age::Earlier {
            if self.is_synchronised(channel) {
                self.request(channel);
            } else if self.request.is_none() {
                self.request = self.current.map(|current| (channel, current.previous()));
            }
            return Err(Discard::StaleEpoch);
        }
        if age == Age::Later {
            self.enter(epoch, 0);
        }
        self.synchronised |= 1 << channel;
        Ok(age == Age::Later)
    }

    pub(super) fn poll(&mut self) -> Option<(usize, Epoch, Kind)> {
        if let Some((channel, epoch)) = self.request.take() {
            return Some((channel, epoch, Kind::ResetRequested));
        }
        let epoch = self.current?;
        let channel = take_lowest(&mut self.acknowledge)?;
        Some((channel, epoch, Kind::Acknowledged))
    }
}

#[cfg(test)]
crate::corruption::corrupt!(
    Epochs: current, forgotten, synchronised, received, acknowledge, begun, request
);
