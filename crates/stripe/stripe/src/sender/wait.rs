//! Reasons why a channel carries no packet at present, as shown to users.

/// Reason why a channel carries no packet at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The channel does not exist.
    Absent,
    /// The other end has not acknowledged the epoch.
    Resetting,
    /// The channel is out: the other end does not answer on it, and it is probed.
    Silent,
    /// The channel is out: frames of the required length do not pass.
    Size,
    /// The channel is out by plan.
    Planned,
    /// The channel is to become active, and the other end has not acknowledged that.
    Announced,
    /// The link accepts no packet at present.
    Link,
    /// The other end has no room for more packets of the channel.
    Credit,
    /// The channel is in quarantine: it loses much and carries little.
    Losses,
    /// The waiting packet is longer than the channel passes.
    Length,
    /// The window is full.
    Window,
    /// The pacing rate delays the next packet.
    Pace,
    /// It is the turn of another channel.
    Turn,
}
