//! Why a channel waits, by name and in words.

use gingham_stripe::Wait;
use gingham_stripe_udp::ChannelWait;
use serde::{Deserialize, Serialize};

/// Why no packet goes on a channel just now. The page on operation has a line of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum WaitName {
    /// Its interface, address or route is gone, or its connection over.
    NoLink,
    /// Its connection of TCP is not there yet.
    Connecting,
    /// The address of the other end is not known yet.
    NoRemote,
    /// The other end has not shaken hands.
    NoHandshake,
    /// The other end has not acknowledged the beginning of an epoch.
    Resetting,
    /// Nothing is heard on it.
    Silent,
    /// Long packets do not pass.
    Size,
    /// It is out by plan.
    Planned,
    /// The other end does not know yet that it comes in.
    Announced,
    /// A queue of this machine is full.
    Link,
    /// The other end has no room.
    Credit,
    /// It loses much and carries little: copies measure it.
    Losses,
    /// The packet that waits is longer than what it passes.
    Length,
    /// As much is in flight as may be.
    Window,
    /// Its pace lets the next packet go later.
    Pace,
    /// It is another channel's turn.
    Turn,
    /// It was taken away.
    Absent,
    /// What a later daemon says.
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

    /// In words, of one line of a table.
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
