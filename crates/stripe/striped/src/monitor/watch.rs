//! The network as it changes: interfaces, addresses and routes that come, go and change.
//!
//! ```text
//!   netlink says that something changed ──► all that channels depend on is looked at anew
//!                                             |
//!                                             +── orders: Lost, Moved, and Look in any case
//! ```
//!
//! What changed is not read out of the messages: which address a channel goes from, the kernel says
//! best where it is asked for the way to the other end.
//!
//! Source: rtnetlink(7).

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use gingham_stripe::Instant;
use gingham_stripe_udp::{ChannelPlan, now};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use nix::errno::Errno;

use crate::config::{Channel, ChannelAt, ChannelNumber, Config};
use crate::machine::Machine;
use crate::orders::Order;

/// `RTMGRP_LINK`, `RTMGRP_IPV4_IFADDR`, `RTMGRP_IPV4_ROUTE`, `RTMGRP_IPV6_IFADDR`,
/// `RTMGRP_IPV6_ROUTE` (linux/rtnetlink.h).
const GROUPS: u32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400;
/// Between two looks there is so much time at least: a change is many messages, and a router may
/// have thousands of them a second.
const PAUSE: Duration = Duration::from_millis(10);

/// Where the kernel says that something changed.
pub(super) struct Watch {
    socket: Socket,
    looked_at: Instant,
    has_changed: bool,
}

impl Watch {
    pub(super) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind(&SocketAddr::new(0, GROUPS))?;
        socket.set_non_blocking(true)?;
        Ok(Self { socket, looked_at: now(), has_changed: false })
    }

    /// Takes what the kernel has said.
    pub(super) fn hear(&mut self) {
        while match self.socket.recv_from_full() {
            Ok(_) => true,
            Err(error) => error.raw_os_error() == Some(Errno::ENOBUFS as i32),
        } {
            self.has_changed = true;
        }
    }

    pub(super) fn due_at(&self) -> Option<Instant> {
        self.has_changed.then(|| self.looked_at.after(PAUSE))
    }

    /// Whether it is to be looked now: then it is.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.due_at().is_some_and(|at| at <= now);
        if is_due {
            (self.looked_at, self.has_changed) = (now, false);
        }
        is_due
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// From which address each channel goes, by its number, as far as there is one.
#[derive(Debug, Default)]
pub(super) struct Sources(BTreeMap<usize, IpAddr>);

impl Sources {
    /// As it is now.
    pub(super) fn of(config: &Config) -> Self {
        let peers = 0..config.peers.list.len();
        let known = |(peer, (id, at)): (usize, (usize, ChannelAt<'_>))| {
            let place = config.peers.place(peer);
            let number = ChannelNumber { place, id }.number();
            Some((number, source(config, at.channel)?))
        };
        let of = |peer| config.channels_of(peer).enumerate().map(move |at| (peer, at));
        Self(peers.flat_map(of).filter_map(known).collect())
    }

    /// What the half that carries packets is to hear of what has changed since.
    pub(super) fn changes(&mut self, config: &Config) -> Vec<Order> {
        let Ok(machine) = Machine::read(&[]) else { return vec![Order::Look] };
        let (mut lost, mut moved) = (BTreeSet::new(), Vec::new());
        let now = Self::of(config);
        for (id, source) in &now.0 {
            if self.0.get(id).is_some_and(|before| before != source) {
                moved.push(Order::Moved(*id));
            }
        }
        lost.extend(self.0.values().filter(|source| !machine.addresses.contains(source)));
        // Where there is none just now, the last one is what the next is another than.
        self.0.extend(now.0);
        self.0.retain(|number, _| config.channel_asked(*number).is_some());
        lost.into_iter().map(Order::Lost).chain(moved).chain([Order::Look]).collect()
    }
}

fn source(config: &Config, channel: &Channel) -> Option<IpAddr> {
    let remote = channel.remote()?;
    let local = channel.local(remote);
    if !local.ip().is_unspecified() {
        return Some(local.ip());
    }
    let (interface, mark) = (channel.interface.clone(), config.mark);
    let local = std::net::SocketAddr::new(local.ip(), 0);
    ChannelPlan { local, interface, mark, remote }.source().ok()
}
