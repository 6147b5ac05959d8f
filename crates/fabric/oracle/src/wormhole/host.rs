//! State of a host: the worm that it sends, and arriving worms.

use crate::endpoints::{InTransitHost, Tally};
use crate::wormhole::event::Flit;
use crate::wormhole::worm::WormId;
use gingham_kernel::Time;
use gingham_net::{Content, EjectionHead, InTransitPlan, TakenIn};
use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub(crate) struct Host {
    /// Worm that holds the host's channel until its tail has left.
    pub(crate) injection: Option<Injection>,
    pub(crate) head: EjectionHead,
    /// Flits in an input without a slack buffer; the head is read in the next phase.
    pub(crate) unread: VecDeque<Flit>,
    pub(crate) in_transit: InTransitHost<WormId>,
    pub(crate) packets: Vec<InTransitPacket>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Injection {
    Local(LocalWorm),
    InTransit(WormId),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalWorm {
    pub(crate) worm: WormId,
    pub(crate) next: u64,
    pub(crate) flits: u64,
    pub(crate) content: Content,
    pub(crate) started: Time,
}

#[derive(Clone, Debug)]
pub(crate) struct InTransitPacket {
    pub(crate) worm: WormId,
    pub(crate) taken: TakenIn,
    /// Index of the first flit to re-inject, which follows the mark.
    pub(crate) first: u64,
    pub(crate) received: VecDeque<Flit>,
}

impl Host {
    pub(crate) fn new(plan: InTransitPlan, tally: &Tally) -> Self {
        Self {
            injection: None,
            head: EjectionHead::Unread,
            unread: VecDeque::new(),
            in_transit: InTransitHost::new(plan, 1, tally.clone()),
            packets: Vec::new(),
        }
    }

    pub(crate) fn flits(&self) -> usize {
        self.unread.len() + self.packets.iter().map(|packet| packet.received.len()).sum::<usize>()
    }

    pub(crate) fn needed_bytes(&self) -> u64 {
        let taken = self.packets.iter().map(|packet| packet.taken);
        taken.filter(|taken| !taken.is_spilled).map(|taken| taken.bytes).sum()
    }
}
