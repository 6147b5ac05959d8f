//! Channels that come, go and move while the pipe runs.
//!
//! ```text
//!   id 0   socket, the protocol's channel 0      ids are the slots of the protocol, at both ends
//!   id 1   no socket, no channel                 alike
//!   id 2   socket, the protocol's channel 2
//! ```
//!
//! Each end adds and removes channels of its own accord, in any order: until the other end has one
//! too, it is silent, and out. What was on its way on a channel that is removed goes again over the
//! others, where lost packets do.
//!
//! Invariant: there is a socket, or one that is opened anew, where the protocol has a channel, and
//! nowhere else.

use std::net::SocketAddr;

use gingham_stripe::ChannelError;

use super::{End, admission};
use crate::channel::Channel;
use crate::clock::now;
use crate::error::SlotError;
use crate::link::LinkPlan;
use crate::socket::Opener;

impl End {
    /// A channel is there from now on: its socket is opened, and packets go on it once the other
    /// end has answered.
    pub fn add_channel(&mut self, id: usize, plan: impl Into<LinkPlan>) -> Result<(), SlotError> {
        self.add_channel_by(id, plan, None)
    }

    /// The same, with sockets that this gives, now and later, if it is there.
    pub fn add_channel_by(
        &mut self,
        id: usize,
        plan: impl Into<LinkPlan>,
        opener: Option<Opener>,
    ) -> Result<(), SlotError> {
        if self.slot(id)?.is_some() {
            return Err(ChannelError::AlreadyThere { id }.into());
        }
        self.place(id, plan.into(), opener)?;
        Ok(self.striping.add_channel(id)?)
    }

    /// A channel is there no longer, and its socket is closed.
    pub fn remove_channel(&mut self, id: usize) -> Result<(), ChannelError> {
        self.striping.advance(now());
        self.striping.remove_channel(id)?;
        self.set_slot(id, false, false);
        *self.slot(id)? = None;
        admission::forget(&mut self.listeners, id);
        Ok(())
    }

    /// A channel begins or ends elsewhere from now on: it has another socket, and what was learned of
    /// it does not hold.
    pub fn move_channel(&mut self, id: usize, plan: impl Into<LinkPlan>) -> Result<(), SlotError> {
        self.move_channel_by(id, plan, None)
    }

    /// The same, with sockets that this gives, now and later, if it is there.
    pub fn move_channel_by(
        &mut self,
        id: usize,
        plan: impl Into<LinkPlan>,
        opener: Option<Opener>,
    ) -> Result<(), SlotError> {
        if self.slot(id)?.is_none() {
            return Err(ChannelError::NotThere { id }.into());
        }
        self.place(id, plan.into(), opener)?;
        Ok(self.striping.move_channel(id)?)
    }

    /// A channel is where its plan says from now on, wherever it was before, if anywhere.
    fn place(
        &mut self,
        id: usize,
        plan: LinkPlan,
        opener: Option<Opener>,
    ) -> Result<(), SlotError> {
        let (sockets, now) = ((self.buffers, &self.ports.clone()), self.striping.advance(now()));
        if plan.kind() != self.kind {
            return Err(SlotError::Kind { id });
        }
        let refused = |error| SlotError::Socket { id, error };
        let passes_all = plan.passes_all();
        let listeners = &mut self.listeners;
        admission::forget(listeners, id);
        admission::listen(listeners, id, &plan, opener.as_ref()).map_err(refused)?;
        let placed = match self.slot(id)? {
            Some(one) => one.relocate(plan, sockets, opener, now),
            free => Channel::open(plan, sockets, opener, now).map(|one| *free = Some(one)),
        };
        placed.map_err(refused)?;
        self.set_slot(id, true, passes_all);
        Ok(())
    }

    /// The other end of a channel over UDP has this address, which was not known until now: what was learned
    /// of the channel holds.
    pub fn set_remote(&mut self, id: usize, remote: SocketAddr) {
        if let Some(one) = &mut self.channels[id] {
            one.lead(remote);
        }
    }

    /// Whether there is a channel of this id.
    pub fn is_there(&self, id: usize) -> bool {
        self.channels.get(id).is_some_and(Option::is_some)
    }

    /// What of a channel holds for the session that is, and for those that begin later.
    fn set_slot(&mut self, id: usize, is_there: bool, passes_all: bool) {
        self.sessions.set_slot(id, is_there, passes_all);
        self.striping.set_passes_all(id, passes_all);
    }

    fn slot(&mut self, id: usize) -> Result<&mut Option<Channel>, ChannelError> {
        let cap = self.channels.len();
        self.channels.get_mut(id).ok_or(ChannelError::AboveCap { id, cap })
    }
}
