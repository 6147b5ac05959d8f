//! Resets: both ends start a new epoch, and data waits until the receiver acknowledges the epoch.
//!
//! ```text
//!                 +- all channels acknowledged, or one did and `wait` is over -+
//!                 |                                                            v
//!   start --> Resetting: Reset on every channel                               Open
//!                 ^      that has not acknowledged, each `interval`            |
//!                 +-- reset(), or the receiver's request: the next epoch ---+
//! ```
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 5, requires a reset after a crash; the
//! procedure is ours.

use core::time::Duration;

use super::SenderOptions;
use crate::time::not_after;
use crate::{ChannelSet, Discard, Epoch, Instant};

/// Maximum pause between accepted reset requests, in reset intervals.
const PAUSES_MAX: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Resetting {
        acknowledged: ChannelSet,
        /// Channels whose acknowledgement is awaited: the channels alive before the reset.
        awaited: ChannelSet,
        again_at: Instant,
        open_at: Instant,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The epoch opens, because the wait for further channels is over.
    Open,
    /// Resets are due on all channels except these, which have acknowledged.
    Resets(ChannelSet),
}

#[derive(Clone, Debug)]
pub(super) struct Resets {
    interval: Duration,
    wait: Duration,
    epoch: Epoch,
    state: State,
    /// Time of the last accepted request, and the pause after it.
    heeded: Option<(Instant, Duration)>,
}

impl Resets {
    pub(super) const fn new(options: &SenderOptions, epoch: Epoch) -> Self {
        let (interval, wait) = (options.reset_interval, options.reset_wait);
        Self { interval, wait, epoch, state: State::Open, heeded: None }
    }

    pub(super) const fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    pub(super) const fn epoch(&self) -> Epoch {
        self.epoch
    }

    pub(super) fn start(&mut self, epoch: Epoch, now: Instant, awaited: ChannelSet) {
        self.epoch = epoch;
        let (again_at, open_at) = (now, now.after(self.wait));
        self.state = State::Resetting { acknowledged: 0, awaited, again_at, open_at };
    }

    pub(super) const fn open(&mut self) -> Option<ChannelSet> {
        let State::Resetting { acknowledged, .. } = self.state else { return None };
        self.state = State::Open;
        Some(acknowledged)
    }

    pub(super) const fn acknowledge(&mut self, channel: usize) -> bool {
        let State::Resetting { acknowledged, awaited, .. } = &mut self.state else { return false };
        *acknowledged |= 1 << channel;
        *awaited & !*acknowledged == 0
    }

    pub(super) const fn await_no_more(&mut self, channel: usize) -> bool {
        let State::Resetting { acknowledged, awaited, .. } = &mut self.state else { return false };
        *awaited &= !(1 << channel);
        *acknowledged &= !(1 << channel);
        *acknowledged != 0 && *awaited & !*acknowledged == 0
    }

    /// Accepts a reset request; returns the new epoch. A growing pause follows each request:
    /// otherwise, delayed requests for epochs more than 2^31 apart could cause endless resets.
    pub(super) fn heed_request(&mut self, epoch: Epoch, now: Instant) -> Result<Epoch, Discard> {
        if self.epoch.is_after(epoch) {
            return Err(Discard::StaleEpoch);
        }
        let most = self.interval.saturating_mul(PAUSES_MAX);
        let pause = match self.heeded {
            Some((at, pause)) if now < at.after(pause) => return Err(Discard::TooSoon),
            Some((at, pause)) if now < at.after(pause.saturating_mul(4)) => {
                pause.saturating_mul(2).min(most)
            }
            _ => self.interval,
        };
        self.heeded = Some((now, pause));
        // Before a restart, this sender may have sent packets in the epoch after the requested one.
        Ok(if self.epoch == epoch { epoch.next() } else { epoch.next().next() })
    }

    pub(super) fn poll(&mut self, now: Instant) -> Option<Due> {
        self.repair_state(now);
        match &mut self.state {
            State::Resetting { acknowledged, open_at, .. }
                if *acknowledged != 0 && *open_at <= now =>
            {
                Some(Due::Open)
            }
            State::Resetting { acknowledged, again_at, .. } if *again_at <= now => {
                *again_at = now.after(self.interval);
                Some(Due::Resets(*acknowledged))
            }
            _ => None,
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        match self.state {
            State::Open => None,
            State::Resetting { acknowledged: 0, again_at, .. } => Some(again_at),
            State::Resetting { again_at, open_at, .. } => Some(again_at.min(open_at)),
        }
    }

    fn repair_state(&mut self, now: Instant) {
        if let State::Resetting { again_at, open_at, .. } = &mut self.state {
            not_after(again_at, now, self.interval);
            not_after(open_at, now, self.wait);
        }
        if let Some((at, pause)) = &mut self.heeded {
            let pause_max = self.interval.saturating_mul(PAUSES_MAX);
            (*at, *pause) = ((*at).min(now), (*pause).min(pause_max));
        }
    }
}

#[cfg(test)]
impl crate::corruption::Corrupt for Resets {
    fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.epoch.corrupt(words);
        self.heeded.corrupt(words);
        let [mut again_at, mut open_at] = [Instant::default(); 2];
        again_at.corrupt(words);
        open_at.corrupt(words);
        let is_open = crate::corruption::is_hit(words);
        let resetting =
            State::Resetting { acknowledged: words(), awaited: words(), again_at, open_at };
        self.state = if is_open { State::Open } else { resetting };
    }
}
