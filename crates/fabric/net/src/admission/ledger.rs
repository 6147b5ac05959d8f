//! Ledgers: the reserved bandwidth of every link, at either end of it.

use gingham_topology::ChannelId;

/// End of a channel whose node keeps the ledger.
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
    /// Reserved bandwidth by channel and end, in bytes of payload per second.
    reserved: Box<[[u64; 2]]>,
    /// Highest reserved bandwidth by channel, at its sending node.
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

    /// Returns the reserved bandwidth of a channel at its sending node, in bytes of payload per
    /// second.
    pub fn reserved(&self, channel: ChannelId) -> u64 {
        self.reserved[channel.index()][End::Leaving as usize]
    }

    /// Returns the highest reserved bandwidth of a channel so far.
    pub fn most(&self, channel: ChannelId) -> u64 {
        self.most[channel.index()]
    }

    /// Whether nothing is reserved anywhere.
    pub fn is_empty(&self) -> bool {
        self.reserved.iter().flatten().all(|reserved| *reserved == 0)
    }
}
