//! Counters of an end.

/// Socket counters of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelCounts {
    /// Datagrams sent.
    pub sent: u64,
    /// Bytes of datagrams sent.
    pub sent_bytes: u64,
    /// Send calls.
    pub sends: u64,
    /// Datagrams dropped because a local queue was full.
    pub full: u64,
    /// Datagrams longer than the interface takes.
    pub too_long: u64,
    /// Datagrams refused on the way, according to an ICMP message or a filter.
    pub refused: u64,
    /// Datagrams dropped because there was no socket.
    pub unsent: u64,
    /// Datagrams received.
    pub came: u64,
    /// Bytes of datagrams received.
    pub came_bytes: u64,
    /// Datagrams received with a congestion mark (RFC 3168).
    pub marked: u64,
    /// Batches received.
    pub batches: u64,
    /// Datagrams received from another source, or that were not frames.
    pub strange: u64,
    /// Changes of the other end's address.
    pub moved: u64,
    /// Losses of the link: interface, address or route gone, or connection closed.
    pub gone: u64,
    /// Sockets reopened and connections reestablished.
    pub reopened: u64,
}
