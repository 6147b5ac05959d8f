//! What is reserved of every link, at either end of it.

use gingham_topology::ChannelId;

/// Which end of a channel keeps the account.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum End {
    /// The node that sends on it.
    Leaving = 0,
    /// The node that receives from it.
    Entering = 1,
}

/// The ledgers of all nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ledger {
    /// By channel and end, in bytes of payload a second.
    reserved: Box<[[u64; 2]]>,
    /// By channel: the most that was reserved where it leaves.
    most: Box<[u64]>,
}

impl Ledger {
    /// Nothing is reserved.
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

    /// What is reserved of a channel at the node that sends on it, in bytes of payload a second.
    pub fn reserved(&self, channel: ChannelId) -> u64 {
        self.reserved[channel.index()][End::Leaving as usize]
    }

    /// The most that was ever reserved of a channel.
    pub fn most(&self, channel: ChannelId) -> u64 {
        self.most[channel.index()]
    }

    /// Whether nothing is reserved anywhere.
    pub fn is_empty(&self) -> bool {
        self.reserved.iter().flatten().all(|reserved| *reserved == 0)
    }
}
