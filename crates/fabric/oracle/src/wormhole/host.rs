//! One host: the worm that leaves it, and what comes in.

use crate::wormhole::event::Flit;
use crate::wormhole::worm::WormId;
use gingham_kernel::Time;
use gingham_net::{Content, EjectionHead, InTransitHost, InTransitPlan, TakenIn};
use std::collections::VecDeque;

/// A host.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    /// The worm that holds its channel, until its tail has left.
    pub(crate) injection: Option<Injection>,
    /// What it does with the worm that stands first in its input.
    pub(crate) head: EjectionHead,
    /// Flits that wait in an input without a slack buffer: the head that is read in the next phase.
    pub(crate) unread: VecDeque<Flit>,
    /// Who has room in its pool, and who is sent on next.
    pub(crate) in_transit: InTransitHost<WormId>,
    /// Worms that go on and whose tail has not left yet, in order of arrival.
    pub(crate) packets: Vec<InTransitPacket>,
}

/// A worm that holds the channel of a host.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Injection {
    /// One that begins here.
    Local(LocalWorm),
    /// One in transit.
    InTransit(WormId),
}

/// A worm that leaves the host where it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalWorm {
    pub(crate) worm: WormId,
    /// The next flit.
    pub(crate) next: u64,
    pub(crate) flits: u64,
    /// What it carries.
    pub(crate) content: Content,
    /// When its first flit started.
    pub(crate) started: Time,
}

/// A worm that goes on.
#[derive(Clone, Debug)]
pub(crate) struct InTransitPacket {
    pub(crate) worm: WormId,
    /// What it takes of the pool.
    pub(crate) taken: TakenIn,
    /// The first flit that is sent on: those before it are the mark.
    pub(crate) first: u64,
    /// Flits that are here.
    pub(crate) received: VecDeque<Flit>,
}

impl Host {
    pub(crate) fn new(plan: InTransitPlan) -> Self {
        Self {
            injection: None,
            head: EjectionHead::Unread,
            unread: VecDeque::new(),
            in_transit: InTransitHost::new(plan, 1),
            packets: Vec::new(),
        }
    }

    /// Flits of worms that go on, and those that no one has read yet.
    pub(crate) fn flits(&self) -> usize {
        self.unread.len() + self.packets.iter().map(|packet| packet.received.len()).sum::<usize>()
    }

    /// What the worms in the pool need of it.
    pub(crate) fn needed_bytes(&self) -> u64 {
        let taken = self.packets.iter().map(|packet| packet.taken);
        taken.filter(|taken| !taken.is_spilled).map(|taken| taken.bytes).sum()
    }
}
