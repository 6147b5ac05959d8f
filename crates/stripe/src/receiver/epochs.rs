//! Epochs as the receiving end sees them: which channels have named the present one, and what is
//! to be told the sender.
//!
//! A channel delivers in order, so a reset to the present epoch that follows something of that
//! epoch on the same channel is not a repetition: the sender has restarted and forgotten. The same
//! goes for a reset to, or a marker of, an earlier one. On a channel that has not named the present epoch they may
//! still be on their way from before.
//!
//! Invariant: no more messages are asked for than came, so two ends cannot talk each other up.

use gingham_fairq::CHANNELS_MAX;

use crate::{ChannelSet, Discard, Epoch, Kind, take_lowest};

const _: () = assert!(CHANNELS_MAX == ChannelSet::BITS as usize);

/// What is known of epochs, and what is to be said of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Epochs {
    current: Option<Epoch>,
    /// Channels that have named the present epoch.
    synchronised: ChannelSet,
    /// Channels on which data or a marker of the present epoch has come.
    heard: ChannelSet,
    /// Channels on which a reset is to be acknowledged.
    acknowledge: ChannelSet,
    /// A reset to ask for: on the way back of which channel, after which epoch.
    request: Option<(usize, Epoch)>,
}

impl Epochs {
    pub(super) const fn current(&self) -> Option<Epoch> {
        self.current
    }

    pub(super) const fn is_synchronised(&self, channel: usize) -> bool {
        self.synchronised & (1 << channel) != 0
    }

    /// A new epoch, which these channels have named.
    pub(super) fn enter(&mut self, epoch: Epoch, synchronised: ChannelSet) {
        *self = Self { current: Some(epoch), synchronised, ..Self::default() };
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
        match self.current {
            None => {
                self.request = Some((channel, epoch));
                Err(Discard::Unsynchronised)
            }
            Some(current) if current.is_after(epoch) => Err(self.see_earlier(channel)),
            Some(current) => Ok(self.synchronise(channel, current, epoch)),
        }
    }

    /// Whether a reset begins a new epoch.
    pub(super) fn see_reset(&mut self, channel: usize, epoch: Epoch) -> Result<bool, Discard> {
        let bit = 1 << channel;
        let current = self.current.unwrap_or(epoch);
        if current.is_after(epoch) {
            return Err(self.see_earlier(channel));
        }
        if current == epoch && self.heard & bit != 0 {
            self.request(channel);
            return Err(Discard::RepeatedReset);
        }
        let new = self.synchronise(channel, current, epoch) || self.current.is_none();
        self.current = Some(epoch);
        self.acknowledge |= bit;
        Ok(new)
    }

    /// A channel names an epoch that is over: behind the present one, only a sender that forgot does.
    fn see_earlier(&mut self, channel: usize) -> Discard {
        if self.is_synchronised(channel) {
            self.request(channel);
        }
        Discard::StaleEpoch
    }

    /// A channel names an epoch that is not over: whether it is a new one.
    fn synchronise(&mut self, channel: usize, current: Epoch, epoch: Epoch) -> bool {
        let new = epoch.is_after(current);
        if new {
            self.enter(epoch, 0);
        }
        self.synchronised |= 1 << channel;
        new
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
