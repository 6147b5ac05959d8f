//! What an end has counted.

/// What has been counted of the socket of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelCounts {
    /// Datagrams that went.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Calls that it took.
    pub sends: u64,
    /// Those that a queue of ours had no room for.
    pub full: u64,
    /// Those that were longer than the interface takes.
    pub too_long: u64,
    /// Those that were refused by somebody on the way, as an ICMP message or a filter said.
    pub refused: u64,
    /// Those for which there was no socket.
    pub unsent: u64,
    /// Datagrams that came.
    pub came: u64,
    /// Their bytes.
    pub came_bytes: u64,
    /// Of these, marked on the way as having met congestion (RFC 3168).
    pub marked: u64,
    /// Batches in which they came.
    pub batches: u64,
    /// Those that came from elsewhere, or were no frame.
    pub strange: u64,
    /// Times that the other end was heard from another address than before.
    pub moved: u64,
    /// Times that the interface, its address or its route was gone, or a connection over.
    pub gone: u64,
    /// Times that a socket was opened or a connection was there anew.
    pub reopened: u64,
}
