//! Epochs at the receiving end: the channels that have named the present one, and the messages owed
//! to the sender.
//!
//! A channel delivers in order, so a reset to the present epoch after other data of that epoch on
//! the same channel is not a repetition: the sender has restarted and lost its state. This also
//! holds for a reset to, or a marker of, an earlier epoch. On a channel that has not named the
//! present epoch, either may still be in flight from before.
//!
//! A receiver without an epoch that gets a marker has lost the state of the epoch under way, or
//! missed its beginning. A reset to that epoch was in flight from before: accepting it as the
//! beginning would admit copies of packets already delivered. Only a later epoch is therefore
//! accepted.
//!
//! On a slow channel such a reset may arrive before any marker. In guaranteed order nothing is
//! delivered before every awaited channel has begun: by a reset, which precedes all of the epoch,
//! or by a marker that counts no packet before it. A packet, a later marker or a departure follows
//! a reset on its channel. If this receiver has not received that reset, a former one has: the
//! epoch was under way, and is forgotten.
//!
//! Invariant: at most one request per received message, so that two ends cannot amplify each
//! other's traffic.

use gingham_fairq::CHANNELS_MAX;

use crate::{ChannelSet, Discard, Epoch, Kind, take_lowest};

const _: () = assert!(CHANNELS_MAX == ChannelSet::BITS as usize);

/// Age of an epoch relative to the present one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// Over, or too far ahead for serial numbers to compare.
    Earlier,
    Present,
    /// Later, or any epoch if there has been none.
    Later,
}

/// State of the epochs, and pending messages about them.
#[derive(Clone, Debug, Default)]
pub(super) struct Epochs {
    current: Option<Epoch>,
    /// Without a present epoch, the one that was under way according to a marker.
    forgotten: Option<Epoch>,
    /// Channels that have named the present epoch.
    synchronised: ChannelSet,
    /// Channels that have shown the beginning of the present epoch.
    begun: ChannelSet,
    /// Channels that have brought data or a marker of the present epoch.
    received: ChannelSet,
    /// Channels with a reset to acknowledge.
    acknowledge: ChannelSet,
    /// Pending reset request: the channel in whose reverse direction it goes, and the last epoch.
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

    /// Marks channels as not having named the present epoch.
    pub(super) fn doubt(&mut self, channels: ChannelSet) {
        self.synchronised &= !channels;
    }

    pub(super) const fn current(&self) -> Option<Epoch> {
        self.current
    }

    pub(super) const fn is_synchronised(&self, channel: usize) -> bool {
        self.synchronised & (1 << channel) != 0
    }

    /// Whether all of these channels have named the present epoch.
    pub(super) const fn are_synchronised(&self, channels: ChannelSet) -> bool {
        channels & !self.synchronised == 0
    }

    /// Enters a new epoch, which these channels have named.
    pub(super) fn enter(&mut self, epoch: Epoch, synchronised: ChannelSet) {
        let begun = synchronised;
        *self = Self { current: Some(epoch), synchronised, begun, ..Self::default() };
    }

    /// Records that nothing of the epoch arrived on a channel before.
    pub(super) const fn begin(&mut self, channel: usize) {
        self.begun |= 1 << channel;
    }

    pub(super) const fn has_begun(&self, channel: usize) -> bool {
        self.begun & (1 << channel) != 0
    }

    /// Members of a set of channels whose beginning was not seen.
    pub(super) const fn not_begun(&self, channels: ChannelSet) -> ChannelSet {
        channels & !self.begun
    }

    /// Forgets the present epoch, which a channel showed to be under way: only a later one is
    /// accepted.
    pub(super) fn forget(&mut self, channel: usize) {
        let request = self.current.map(|epoch| (channel, epoch));
        *self = Self { forgotten: self.current, request, ..Self::default() };
    }

    /// Records data or a message of the present epoch, other than a reset, on a channel.
    pub(super) fn record_received(&mut self, channel: usize) {
        self.received |= 1 << channel;
    }

    /// Requests a reset, if there has been an epoch.
    pub(super) fn request(&mut self, channel: usize) {
        self.request = self.current.map(|epoch| (channel, epoch));
    }

    /// Records a marker; returns whether it begins a new epoch.
    pub(super) fn see_marker(&mut self, channel: usize, epoch: Epoch) -> Result<bool, Discard> {
        if self.current.is_none() {
            self.forgotten = Some(epoch);
            self.request = Some((channel, epoch));
            return Err(Discard::Unsynchronised);
        }
        self.synchronise(channel, epoch)
    }

    /// Records a reset; returns whether it begins a new epoch.
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

    /// Records that a channel names an epoch; returns whether it is new. After the present epoch,
    /// only a sender that lost its state names an earlier one. Before it, the message may have been
    /// in flight, so the requested reset applies only to a sender that has not reached the present
    /// epoch.
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

    /// Returns the next message: its channel, epoch and kind.
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
