//! Network changes: interfaces, addresses and routes.
//!
//! ```text
//!   netlink reports any change ──► the addresses and routes of all channels are inspected
//!                                     |
//!                                     +── orders: Lost, Moved, and always NetworkChanged
//! ```
//!
//! Message contents are not used, as a route lookup for the remote address finds a channel's source
//! address more reliably.

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
/// Pause between inspections: a change causes many messages, and a router may receive thousands per
/// second.
const PAUSE: Duration = Duration::from_millis(10);

pub(super) struct Watch {
    socket: Socket,
    inspected_at: Instant,
    has_changed: bool,
}

impl Watch {
    pub(super) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind(&SocketAddr::new(0, GROUPS))?;
        socket.set_non_blocking(true)?;
        Ok(Self { socket, inspected_at: now(), has_changed: false })
    }

    pub(super) fn drain_notifications(&mut self) {
        while match self.socket.recv_from_full() {
            Ok(_) => true,
            Err(error) => error.raw_os_error() == Some(Errno::ENOBUFS as i32),
        } {
            self.has_changed = true;
        }
    }

    pub(super) fn due_at(&self) -> Option<Instant> {
        self.has_changed.then(|| self.inspected_at.after(PAUSE))
    }

    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.due_at().is_some_and(|at| at <= now);
        if is_due {
            (self.inspected_at, self.has_changed) = (now, false);
        }
        is_due
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[derive(Debug, Default)]
pub(super) struct Sources(BTreeMap<usize, IpAddr>);

impl Sources {
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

    pub(super) fn changes(&mut self, config: &Config) -> Vec<Order> {
        let Ok(machine) = Machine::read(&[]) else { return vec![Order::NetworkChanged] };
        let (mut lost, mut moved) = (BTreeSet::new(), Vec::new());
        let now = Self::of(config);
        for (id, source) in &now.0 {
            if self.0.get(id).is_some_and(|before| before != source) {
                moved.push(Order::Moved(*id));
            }
        }
        lost.extend(self.0.values().filter(|source| !machine.addresses.contains(source)));
        // A channel that has lost its address keeps the last one for later comparisons.
        self.0.extend(now.0);
        self.0.retain(|number, _| config.channel_asked(*number).is_some());
        lost.into_iter().map(Order::Lost).chain(moved).chain([Order::NetworkChanged]).collect()
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
