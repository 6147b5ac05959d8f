//! Reasons why channels are idle.

/// Reason why a channel carries no packet at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The channel does not exist.
    Absent,
    /// The other end has not acknowledged the epoch.
    Resetting,
    /// The other end does not answer on the channel.
    Silent,
    /// Frames of the required length do not pass the channel.
    Size,
    /// The target quantum of the channel is 0.
    Planned,
    /// The other end has not acknowledged that the channel is in.
    Announced,
    /// The link accepts no packet at present.
    Link,
    /// The other end has no room for the packet.
    Credit,
    /// The channel is in quarantine because of its losses.
    Losses,
    /// The waiting packet is too long for the channel.
    Length,
    /// The congestion window is full.
    Window,
    /// The pacing rate delays the next packet.
    Pacing,
    /// In strict order, another channel has the turn.
    Turn,
}
