//! Class of a packet.

/// Treatment of a packet in free order.
///
/// The order of the pipe does not depend on the class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Earliest delivery, among channels of the first priority with room.
    #[default]
    Spread,
    /// Minimum round-trip time. A packet waits for that channel while the pacing rate gives the
    /// time of room, or reports arrive.
    Fastest,
    /// Like `Spread`, with a copy at once on another channel. Copies require retransmission
    /// ([`SenderOptions::repair`]).
    ///
    /// [`SenderOptions::repair`]: crate::SenderOptions::repair
    Redundant,
}
