//! Reasons why a channel waits, as names and as short texts.

use gingham_stripe::Wait;
use gingham_stripe_udp::ChannelWait;
use serde::{Deserialize, Serialize};

/// Reason why no packet can be sent on a channel now. The page on operation explains each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WaitName {
    /// The interface, address or route is gone, or the connection has ended.
    NoLink,
    /// The TCP connection is not established yet.
    Connecting,
    /// The remote address has not been learned yet.
    NoRemote,
    /// The peer has not completed a handshake.
    NoHandshake,
    /// The peer has not acknowledged the reset that begins an epoch.
    Resetting,
    /// The channel is out and probed: no datagrams arrive on it.
    Silent,
    /// The channel is out: long packets are lost on the path.
    Size,
    /// The channel is out because its target quantum is 0.
    Planned,
    /// The peer has not yet confirmed that the channel comes in.
    Announced,
    /// A queue of this machine is full.
    Link,
    /// The peer has no buffer space.
    Credit,
    /// The channel loses much and carries little; it only gets copies, which measure it.
    Losses,
    /// The next packet is longer than the channel carries.
    Length,
    /// The flight window is full.
    Window,
    /// The rate limiter delays the next packet.
    Pace,
    /// Another channel has the turn.
    Turn,
    /// The channel was removed.
    Absent,
    /// Reason added by a later version of the daemon.
    #[serde(other)]
    Other,
}

impl WaitName {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 17] = [
        Self::NoLink,
        Self::Connecting,
        Self::NoRemote,
        Self::NoHandshake,
        Self::Resetting,
        Self::Silent,
        Self::Size,
        Self::Planned,
        Self::Announced,
        Self::Link,
        Self::Credit,
        Self::Losses,
        Self::Length,
        Self::Window,
        Self::Pace,
        Self::Turn,
        Self::Absent,
    ];

    /// Returns a short text for one line of a table.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::NoLink => "link gone",
            Self::Connecting => "connecting",
            Self::NoRemote => "no address",
            Self::NoHandshake => "no handshake",
            Self::Resetting => "resetting",
            Self::Silent => "silent",
            Self::Size => "long lost",
            Self::Planned => "by plan",
            Self::Announced => "announced",
            Self::Link => "queue full",
            Self::Credit => "no room",
            Self::Losses => "quarantine",
            Self::Length => "too long",
            Self::Window => "window full",
            Self::Pace => "pace",
            Self::Turn => "not its turn",
            Self::Absent => "taken away",
            Self::Other => "other",
        }
    }
}

impl From<ChannelWait> for WaitName {
    fn from(wait: ChannelWait) -> Self {
        match wait {
            ChannelWait::NoLink => Self::NoLink,
            ChannelWait::Connecting => Self::Connecting,
            ChannelWait::NoRemote => Self::NoRemote,
            ChannelWait::NoHandshake => Self::NoHandshake,
            ChannelWait::Protocol(wait) => match wait {
                Wait::Absent => Self::Absent,
                Wait::Resetting => Self::Resetting,
                Wait::Silent => Self::Silent,
                Wait::Size => Self::Size,
                Wait::Planned => Self::Planned,
                Wait::Announced => Self::Announced,
                Wait::Link => Self::Link,
                Wait::Credit => Self::Credit,
                Wait::Losses => Self::Losses,
                Wait::Length => Self::Length,
                Wait::Window => Self::Window,
                Wait::Pace => Self::Pace,
                Wait::Turn => Self::Turn,
            },
        }
    }
}
