//! Channels that come, go and move while the ends run.
//!
//! ```text
//!   slot 0   there            the scheduler has as many slots as there can be channels, the cap; a
//!   slot 1   absent           channel's id is the number of its slot
//!   slot 2   there
//! ```
//!
//! A channel that goes is one that was lost: Left says so on all others, and what was on its way
//! goes again over them. One that comes is one that is alive again, of which nothing is known: it is
//! announced to come in. Its numbers go on where those of the channel before it in the slot ended, so
//! what is late of that one is a late packet, and no number is used twice in an epoch. The receiver is
//! told by Left and by markers alone.
//!
//! A channel that is the last which is in, and goes while others are still to come in, stays in the
//! scheduler until one of them is in; nothing goes on it.
//!
//! Source: ours; that a channel which moves begins anew is RFC 9000, section 9.4.
//!
//! Invariants: some channel is there; nothing is given out for one that is not.

use super::Sender;
use super::presence::Life;
use crate::{ChannelError, Instant, Numbered, take_lowest};

impl<S: Numbered> Sender<S> {
    /// Whether there is a channel of this id.
    pub fn is_there(&self, id: usize) -> bool {
        id < self.scheduler.channels() && !self.presence.is(id, Life::Absent)
    }

    /// A channel is there from now on: it comes in once the receiver knows, with the quantum that it is
    /// to have.
    pub fn add_channel(&mut self, now: Instant, id: usize) -> Result<(), ChannelError> {
        self.check_id(id)?;
        if self.is_there(id) {
            return Err(ChannelError::AlreadyThere { id });
        }
        self.begin(now, id, Life::Alive);
        self.announce_targets();
        Ok(())
    }

    /// A channel is there no longer.
    pub fn remove_channel(&mut self, now: Instant, id: usize) -> Result<(), ChannelError> {
        self.check_there(id)?;
        let is_to_be_in = |other: usize| self.is_there(other) && self.target_quantum(other) != 0;
        if !(0..self.scheduler.channels()).any(|other| other != id && is_to_be_in(other)) {
            return Err(ChannelError::Last { id });
        }
        self.presence.remove(id);
        self.due &= !(1 << id);
        if self.is_open() {
            self.lose(id, now);
            self.see_turn(now);
        } else {
            self.await_no_more(now, id);
        }
        Ok(())
    }

    /// A channel has another address at either end: what was learned of it does not hold.
    pub fn move_channel(&mut self, now: Instant, id: usize) -> Result<(), ChannelError> {
        self.check_there(id)?;
        let life = if self.is_dead(id) { Life::Dead } else { Life::Alive };
        self.begin(now, id, life);
        self.presence.probe(id, now, self.options.markers.interval);
        if self.is_open() {
            self.due |= 1 << id;
        }
        Ok(())
    }

    /// Whether packets may go on a channel: it is there and in.
    pub(super) fn carries(&self, channel: usize) -> bool {
        self.scheduler.standing(channel).is_in() && !self.presence.is(channel, Life::Absent)
    }

    /// Channels that are gone go out, once another is in.
    pub(super) fn let_go(&mut self, now: Instant) {
        let mut absent = self.presence.all(Life::Absent);
        while let Some(channel) = take_lowest(&mut absent) {
            if self.scheduler.standing(channel).is_in() {
                self.lose(channel, now);
            }
        }
    }

    /// A channel is on another line than before.
    fn begin(&mut self, now: Instant, id: usize, life: Life) {
        self.presence.begin(id, now, life);
        self.sizes.begin(id);
        if let Some(paths) = &mut self.paths {
            paths.begin(id);
        }
    }

    fn check_id(&self, id: usize) -> Result<(), ChannelError> {
        let cap = self.scheduler.channels();
        if id < cap { Ok(()) } else { Err(ChannelError::AboveCap { id, cap }) }
    }

    fn check_there(&self, id: usize) -> Result<(), ChannelError> {
        self.check_id(id)?;
        if self.is_there(id) { Ok(()) } else { Err(ChannelError::NotThere { id }) }
    }
}
