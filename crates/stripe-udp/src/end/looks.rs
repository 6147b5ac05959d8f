//! What a person is told of channels, and what somebody says who sees the network change.

use std::io;
use std::net::{IpAddr, SocketAddr};

use gingham_stripe::{ChannelError, Wait};
use gingham_stripe_crypt::Peer;

use super::End;
use crate::clock::now;

/// Why no packet goes on a channel just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelWait {
    /// Its interface, its address or its route is gone, or its connection over; it is tried again.
    NoLink,
    /// Its connection is not there yet.
    Connecting,
    /// The other end has no address yet: it is learned from what comes.
    NoRemote,
    /// The other end has not shaken hands yet.
    NoHandshake,
    /// What the protocol says.
    Protocol(Wait),
}

impl End {
    /// Why no packet goes on a channel just now, if none does.
    pub fn wait_of(&self, channel: usize) -> Option<ChannelWait> {
        let absent = ChannelWait::Protocol(Wait::Absent);
        let Some(one) = self.channels.get(channel).and_then(Option::as_ref) else {
            return Some(absent);
        };
        let peer = self.encapsulation.peer();
        if one.link.is_connecting() {
            Some(ChannelWait::Connecting)
        } else if !one.link.is_open() {
            Some(ChannelWait::NoLink)
        } else if peer.is_some() && one.link.remote().is_none() {
            Some(ChannelWait::NoRemote)
        } else if !peer.is_none_or(Peer::can_seal) {
            Some(ChannelWait::NoHandshake)
        } else {
            self.striping.wait_of(channel).map(ChannelWait::Protocol)
        }
    }

    /// Whether packets go on a channel: it is in, has a link, and they can be sealed.
    pub fn is_carrying(&self, channel: usize) -> bool {
        let one = self.channels.get(channel).and_then(Option::as_ref);
        one.is_some_and(|one| one.link.is_open()) && self.is_open() && self.is_in(channel)
    }

    /// What the kernel said last of a link that is gone.
    pub fn link_error(&self, channel: usize) -> Option<io::Error> {
        let one = self.channels.get(channel)?.as_ref()?;
        let gone_by = one.gone_by.filter(|_| !one.link.is_open());
        gone_by.map(io::Error::from_raw_os_error)
    }

    /// Where the other end of a channel is, if that is known.
    pub fn remote(&self, channel: usize) -> Option<SocketAddr> {
        self.channels.get(channel)?.as_ref()?.link.remote()
    }

    /// Something has changed in the network: links that are gone are tried at once, and channels that
    /// are out are asked, without waiting for the time at which they would be.
    pub fn look_anew(&mut self) {
        let now = self.striping.advance(now());
        for id in 0..self.channels.len() {
            let Some(one) = &mut self.channels[id] else { continue };
            one.look_anew(now);
            if one.link.is_open() && !self.striping.is_in(id) {
                self.striping.ask(id);
            }
        }
    }

    /// A channel goes another way than before, over the same socket: what was learned of it does not
    /// hold, and the other end hears from it at once.
    pub fn forget_path(&mut self, id: usize) -> Result<(), ChannelError> {
        self.striping.advance(now());
        self.striping.move_channel(id)?;
        self.striping.ask(id);
        Ok(())
    }

    /// This machine does not have an address any more: links from there are gone.
    pub fn lose_address(&mut self, address: IpAddr) {
        let now = self.striping.advance(now());
        for id in 0..self.channels.len() {
            let Some(one) = &mut self.channels[id] else { continue };
            if one.link.local().is_some_and(|local| local.ip().to_canonical() == address) {
                one.lose_link(now);
                self.striping.lose(id);
            }
        }
    }
}
