//! How a packet is to go: what whoever gives it can ask for.

/// How a packet goes over the channels, where their choice is free.
///
/// The pipe keeps one order: whatever its class, a packet comes out after those that were given
/// before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Where it is there first, of the channels of the first priority with room.
    #[default]
    Spread,
    /// On the channel with the least round trip. While that has no room it waits, for as long as the
    /// channel says when it will, or is heard of.
    Fastest,
    /// As `Spread`, and a copy of it at once on another channel: it comes once, though one of them
    /// loses it. Where lost packets are not sent again ([`SenderOptions::repair`]) there is no
    /// copy.
    ///
    /// [`SenderOptions::repair`]: crate::SenderOptions::repair
    Redundant,
}
