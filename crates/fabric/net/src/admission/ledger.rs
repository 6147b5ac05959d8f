//! Ledgers: reserved bandwidth of each link, recorded separately by the sending and receiving
//! nodes.

use gingham_topology::ChannelId;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum End {
    Leaving = 0,
    Entering = 1,
}

/// Ledgers of all nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ledger {
    reserved: Box<[[u64; 2]]>,
    most: Box<[u64]>,
}

impl Ledger {
    pub(super) fn new(channels: usize) -> Self {
        Self { reserved: vec![[0; 2]; channels].into(), most: vec![0; channels].into() }
    }

    pub(super) fn reserve(&mut self, channel: ChannelId, end: End, rate: u64) {
        let reserved = &mut self.reserved[channel.index()][end as usize];
        *reserved += rate;
        if end == End::Leaving {
            let most = &mut self.most[channel.index()];
            *most = (*most).max(*reserved);
        }
    }

    pub(super) fn release(&mut self, channel: ChannelId, end: End, rate: u64) {
        let reserved = &mut self.reserved[channel.index()][end as usize];
        *reserved = reserved.checked_sub(rate).expect("what is released was reserved");
    }

    pub(super) fn at(&self, channel: ChannelId, end: End) -> u64 {
        self.reserved[channel.index()][end as usize]
    }

    /// Returns the bandwidth reserved at a channel's sending node, in payload bytes per second.
    pub fn reserved(&self, channel: ChannelId) -> u64 {
        self.reserved[channel.index()][End::Leaving as usize]
    }

    /// Returns the maximum bandwidth reserved so far at a channel's sending node, in payload bytes
    /// per second.
    pub fn most(&self, channel: ChannelId) -> u64 {
        self.most[channel.index()]
    }

    /// Returns whether no bandwidth is reserved on any channel.
    pub fn is_empty(&self) -> bool {
        self.reserved.iter().flatten().all(|reserved| *reserved == 0)
    }
}
