//! Packet classes for free order.

/// Packet class, which determines the choice of the channel in free order, but not the delivery
/// order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// The packet uses the channel with the earliest expected delivery, among the channels of the
    /// first priority that has room.
    #[default]
    Spread,
    /// The packet uses the channel with the shortest minimum round-trip time. It waits for this
    /// channel if the pacing rate permits a packet soon, or while reports keep arriving.
    Fastest,
    /// Like `Spread`, with a copy on another channel. Copies require [`SenderOptions::repair`].
    ///
    /// [`SenderOptions::repair`]: crate::SenderOptions::repair
    Redundant,
}
