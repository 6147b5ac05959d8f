//! Packet classes.

/// Treatment of a packet in free order.
///
/// The class does not affect the delivery order of the pipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Uses the channel with the earliest expected delivery among those of the first priority with
    /// room.
    #[default]
    Spread,
    /// Uses the channel with the minimum round-trip time. A packet waits for that channel as long
    /// as its pacing rate promises room, or reports arrive.
    Fastest,
    /// Like `Spread`, but a copy is sent at once on another channel. Copies require retransmission
    /// ([`SenderOptions::repair`]).
    ///
    /// [`SenderOptions::repair`]: crate::SenderOptions::repair
    Redundant,
}
