//! Class of a packet: how its source wants it sent.

/// Treatment of a packet in free order.
///
/// The order of the pipe does not depend on the class: a packet is delivered after those given
/// before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Earliest delivery, among channels of the first priority with room.
    #[default]
    Spread,
    /// The channel with the minimum round-trip time. While that has no room, the packet waits as
    /// long as the pacing rate gives the time of room, or reports arrive.
    Fastest,
    /// Like `Spread`, with a copy at once on another channel: the packet survives a loss on one of
    /// them, and is delivered once. Copies require retransmission ([`SenderOptions::repair`]).
    ///
    /// [`SenderOptions::repair`]: crate::SenderOptions::repair
    Redundant,
}
