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
    /// Datagrams dropped because a local queue was full.
    pub full: u64,
    /// Datagrams that exceed the interface's MTU.
    pub too_long: u64,
    /// Datagrams refused by an ICMP message or a packet filter.
    pub refused: u64,
    /// Datagrams dropped for lack of a socket.
    pub unsent: u64,
    /// Datagrams received.
    pub came: u64,
    /// Bytes received.
    pub came_bytes: u64,
    /// Datagrams received with a congestion mark (RFC 3168).
    pub marked: u64,
    /// Batches received.
    pub batches: u64,
    /// Datagrams from an unexpected source or without a valid frame.
    pub strange: u64,
    /// Address changes of the other end.
    pub moved: u64,
    /// Number of times the link was lost.
    pub gone: u64,
    /// Number of times the link was reopened.
    pub reopened: u64,
}
