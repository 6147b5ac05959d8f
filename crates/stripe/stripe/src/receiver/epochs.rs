//! Epochs as the receiving end sees them: which channels have named the present one, and what is
//! to be told the sender.
//!
//! A channel delivers in order, so a reset to the present epoch that follows something of that
//! epoch on the same channel is not a repetition: the sender has restarted and forgotten. The same
//! goes for a reset to, or a marker of, an earlier one. On a channel that has not named the present
//! epoch they may still be on their way from before.
//!
//! Who knows of no epoch and sees a marker has forgotten the one that is under way, or missed its
//! beginning. A reset to that one was on its way from before: taken for the beginning, it would let in
//! copies of what was given out already. So only a later one is.
//!
//! Such a reset may come before any marker, on a slow channel. In guaranteed order nothing is given
//! out before every awaited channel has begun: by a reset, behind which all of the epoch comes, or by
//! a marker that counts no packet before it. A packet, a later marker or a departure follows a reset
//! on its channel. If this receiver has not seen that reset, a former one has: the epoch was under
//! way, and is forgotten.
//!
//! Invariant: no more messages are asked for than came, so two ends cannot talk each other up.

use gingham_fairq::CHANNELS_MAX;

use crate::{ChannelSet, Discard, Epoch, Kind, take_lowest};

const _: () = assert!(CHANNELS_MAX == ChannelSet::BITS as usize);

/// How an epoch stands to the present one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// Over, or as far ahead as serial numbers do not tell.
    Earlier,
    Present,
    /// To come; any is where there has been none.
    Later,
}

/// What is known of epochs, and what is to be said of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Epochs {
    current: Option<Epoch>,
    /// Where there is none, the one that was under way as a marker said.
    forgotten: Option<Epoch>,
    /// Channels that have named the present epoch.
    synchronised: ChannelSet,
    /// Channels whose beginning of the present epoch was seen.
    begun: ChannelSet,
    /// Channels on which data or a marker of the present epoch has come.
    heard: ChannelSet,
    /// Channels on which a reset is to be acknowledged.
    acknowledge: ChannelSet,
    /// A reset to ask for: on the way back of which channel, after which epoch.
    request: Option<(usize, Epoch)>,
}

impl Epochs {
    /// How an epoch stands to the present one.
    pub(super) fn age(&self, epoch: Epoch) -> Age {
        match self.current {
            Some(current) if current == epoch => Age::Present,
            Some(current) if !epoch.is_after(current) => Age::Earlier,
            _ => Age::Later,
        }
    }

    /// Channels are taken not to have named the present epoch.
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

    /// A new epoch, which these channels have named.
    pub(super) fn enter(&mut self, epoch: Epoch, synchronised: ChannelSet) {
        let begun = synchronised;
        *self = Self { current: Some(epoch), synchronised, begun, ..Self::default() };
    }

    /// Notes that nothing of the epoch came on a channel before.
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

    /// Forgets the present epoch, which was under way as a channel shows: only a later one is taken.
    pub(super) fn forget(&mut self, channel: usize) {
        let request = self.current.map(|epoch| (channel, epoch));
        *self = Self { forgotten: self.current, request, ..Self::default() };
    }

    /// Something of the present epoch, not a reset, has come on a channel.
    pub(super) fn hear(&mut self, channel: usize) {
        self.heard |= 1 << channel;
    }

    /// Asks for a reset, if there has been an epoch.
    pub(super) fn request(&mut self, channel: usize) {
        self.request = self.current.map(|epoch| (channel, epoch));
    }

    /// Whether a marker begins a new epoch.
    pub(super) fn see_marker(&mut self, channel: usize, epoch: Epoch) -> Result<bool, Discard> {
        if self.current.is_none() {
            self.forgotten = Some(epoch);
            self.request = Some((channel, epoch));
            return Err(Discard::Unsynchronised);
        }
        self.synchronise(channel, epoch)
    }

    /// Whether a reset begins a new epoch.
    pub(super) fn see_reset(&mut self, channel: usize, epoch: Epoch) -> Result<bool, Discard> {
        if self.current == Some(epoch) && self.heard & (1 << channel) != 0 {
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

    /// A channel names an epoch: whether it is a new one. One that is over is named behind the
    /// present one only by a sender that forgot; before it perhaps by what was on its way, so the
    /// sender is to reset only if it has not come as far.
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

    /// The next message: its channel, epoch and kind.
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
    Epochs: current, forgotten, synchronised, heard, acknowledge, begun, request
);
