use core::time::Duration;

use super::presence::Life;
use super::{Flight, Order, Reported, Sender, Sending, Sent, Size, Wait};
use crate::{Epoch, Instant, Numbered, channels_where};

impl<S: Numbered> Sender<S> {
    /// Returns whether the receiver has acknowledged the epoch, so that packets are accepted.
    pub const fn is_open(&self) -> bool {
        self.resets.is_open()
    }

    /// Returns the present epoch.
    pub const fn epoch(&self) -> Epoch {
        self.resets.epoch()
    }

    /// Returns the rule for choosing channels.
    pub const fn order(&self) -> Order {
        self.options.order
    }

    /// Returns the scheduler, which is not used in free order.
    pub const fn scheduler(&self) -> &S {
        self.schedule.scheduler()
    }

    /// Returns the packet and byte counts of a channel in this epoch.
    pub fn sent(&self, channel: usize) -> Sent {
        self.counts.sent(channel)
    }

    /// Returns the last report about a channel in this epoch.
    pub fn reported(&self, channel: usize) -> Option<Reported> {
        self.counts.reported(channel)
    }

    /// Returns the sending counters.
    pub const fn sending(&self) -> &Sending {
        &self.sending
    }

    /// Returns the target quantum of a channel.
    pub fn target_quantum(&self, channel: usize) -> u32 {
        self.schedule.target(channel)
    }

    /// Returns whether a channel with this id exists.
    pub fn is_there(&self, id: usize) -> bool {
        self.presence.is_present(id)
    }

    /// Returns whether a channel is inactive because the receiver did not respond on it.
    pub fn is_dead(&self, channel: usize) -> bool {
        self.presence.is(channel, Life::Dead)
    }

    /// Returns whether a channel is in quarantine: it carries copies instead of packets.
    pub fn is_in_quarantine(&self, channel: usize) -> bool {
        self.quarantine.has(channel)
    }

    /// Returns whether the sender has been idle for so long that no packet can be requested again.
    pub fn is_at_rest(&self) -> bool {
        self.markers.is_at_rest(self.sending.gone())
    }

    /// Returns why a channel cannot carry a packet at present; `None` if it can.
    pub fn wait_of(&self, now: Instant, channel: usize) -> Option<Wait> {
        if !self.is_there(channel) {
            Some(Wait::Absent)
        } else if !self.is_open() {
            Some(Wait::Resetting)
        } else if !self.carries(channel) {
            Some(match (self.is_dead(channel), self.target_quantum(channel)) {
                (true, _) if self.sizes.is_out(channel) => Wait::Size,
                (true, _) => Wait::Silent,
                (false, 0) => Wait::Planned,
                (false, _) => Wait::Announced,
            })
        } else if self.is_blocked(channel) {
            Some(Wait::Link)
        } else if !self.counts.has_credit(channel, 0) {
            Some(Wait::Credit)
        } else if self.quarantine.has(channel) && self.is_left_out(channel, 0) {
            Some(Wait::Losses)
        } else if !self.sizes.fits_waiting(channel) {
            Some(Wait::Length)
        } else if self.options.order == Order::Strict && self.schedule.current() != channel {
            Some(Wait::Turn)
        } else {
            let path = self.paths.as_ref()?.on(channel);
            let now_ns = now.nanoseconds();
            let paced = (!path.admits(now_ns)).then_some(Wait::Pacing);
            if path.has_room(now_ns) { paced } else { Some(Wait::Window) }
        }
    }

    /// Returns the congestion control state of a channel; `None` without congestion control.
    pub fn flight(&self, channel: usize) -> Option<Flight> {
        self.paths.as_ref().map(|paths| Flight::of(paths.on(channel), self.now))
    }

    /// Returns the longest of the active channels' minimum round-trip times.
    pub fn round_trip_least(&self) -> Option<Duration> {
        let is_left_out =
            |channel: usize| self.quarantine.has(channel) && self.is_left_out(channel, 0);
        let left_out = channels_where(self.schedule.channels(), is_left_out);
        self.paths.as_ref()?.round_trip_least(self.carrying() & !left_out)
    }

    /// Returns the priority of a channel.
    pub fn priority(&self, channel: usize) -> u8 {
        self.paths.as_ref().map_or(0, |paths| paths.priority(channel))
    }

    /// Returns the maximum length of packets that fit every active channel, in bytes. In free
    /// order, longer packets use only the channels that they fit.
    pub fn longest_bytes(&self) -> u32 {
        self.sizes.longest_on(self.carrying(), self.scheduler().longest_bytes())
    }

    /// Returns the maximum length of packets that fit every active channel whose size search is
    /// complete, in bytes. A channel still being searched would temporarily lower the result to its
    /// base size.
    pub fn bundle_bytes(&self) -> u32 {
        self.sizes.longest_known(self.carrying(), self.scheduler().longest_bytes())
    }

    /// Returns the frame and packet limits of a channel.
    pub fn size(&self, channel: usize) -> Size {
        self.sizes.size(channel, self.scheduler().longest_bytes())
    }

    /// Returns whether a packet fits an active channel; in strict order, the channel whose turn it
    /// is.
    pub fn fits_somewhere(&self, length_bytes: u32) -> bool {
        match self.options.order {
            Order::Free => self.sizes.fits_some(self.carrying(), length_bytes),
            Order::Strict => self.sizes.fits(self.schedule.current(), length_bytes),
        }
    }

    /// Returns whether a packet may fit an active channel whose size is still unknown.
    pub fn may_fit(&self, length_bytes: u32) -> bool {
        self.sizes.may_fit(self.carrying(), length_bytes)
    }

    /// Returns the padded length of the last message on a channel if it is a size probe; otherwise
    /// 0.
    pub fn padded_bytes(&self, channel: usize) -> usize {
        self.sizes.padded_bytes(channel)
    }

    /// Returns the expected time from sending to delivery on an active channel; `None` if unknown.
    pub fn arrives_after(&self, channel: usize) -> Option<Duration> {
        let is_known = self.carries(channel) && self.presence.round_trip_ns(channel) > 0;
        is_known.then(|| self.there_after(channel))
    }
}
