/// Reason why a channel carries no packet at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The channel does not exist.
    Absent,
    /// The receiver has not acknowledged the epoch yet.
    Resetting,
    /// The receiver does not respond on the channel.
    Silent,
    /// Frames of the required size do not pass the channel.
    Size,
    /// The target quantum of the channel is 0.
    Planned,
    /// The receiver has not acknowledged that the channel is active.
    Announced,
    /// The channel's link accepts no packets at present.
    Link,
    /// The receiver has no room for the packet.
    Credit,
    /// The channel is in quarantine because of heavy loss.
    Losses,
    /// The waiting packet is too long for the channel.
    Length,
    /// The congestion window is full.
    Window,
    /// The pacing rate delays the next packet.
    Pacing,
    /// In strict order, it is another channel's turn.
    Turn,
}
