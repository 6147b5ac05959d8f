//! Counters of a channel.

/// Counters of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelCounts {
    /// Datagrams sent.
    pub sent: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Send calls.
    pub sends: u64,
    /// Drops at a full local queue.
    pub full: u64,
    /// Datagrams longer than the interface takes.
    pub too_long: u64,
    /// Refused by ICMP message or filter.
    pub refused: u64,
    /// Drops without a socket.
    pub unsent: u64,
    /// Datagrams received.
    pub came: u64,
    /// Bytes received.
    pub came_bytes: u64,
    /// Congestion marks received (RFC 3168).
    pub marked: u64,
    /// Batches received.
    pub batches: u64,
    /// From another source, or no frame.
    pub strange: u64,
    /// Address changes of the other end.
    pub moved: u64,
    /// Losses of the link.
    pub gone: u64,
    /// Reopened links.
    pub reopened: u64,
}
