//! Reasons for idle channels.

/// Reason why a channel carries no packet at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The channel does not exist.
    Absent,
    /// The other end has not acknowledged the epoch.
    Resetting,
    /// The other end does not answer on the channel.
    Silent,
    /// Frames of the required length do not pass.
    Size,
    /// The channel is out by plan.
    Planned,
    /// The other end has not acknowledged the channel.
    Announced,
    /// The link accepts no packet at present.
    Link,
    /// The other end has no room.
    Credit,
    /// The channel is in quarantine for its losses.
    Losses,
    /// The waiting packet is longer than the channel passes.
    Length,
    /// The window is full.
    Window,
    /// The pacing rate delays the next packet.
    Pacing,
    /// It is the turn of another channel.
    Turn,
}
