//! Names and short texts of the reasons for which a channel carries no packet.

use gingham_stripe::Wait;
use gingham_stripe_udp::ChannelWait;
use serde::{Deserialize, Serialize};

/// Defines [`WaitName`] by the reason, its name and its text in a table.
macro_rules! wait_names {
    ($($(#[$doc:meta])* $name:ident = $wait:pat, $text:literal;)+) => {
        /// Reason for which a channel carries no packet at present. The page on operation lists them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum WaitName {
            $($(#[$doc])* $name,)+
            /// Reason that only a later daemon knows.
            #[serde(other)]
            Other,
        }

        impl WaitName {
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$name),+];

            /// Text for one line of a table.
            pub(crate) const fn words(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                    Self::Other => "other",
                }
            }
        }

        impl From<ChannelWait> for WaitName {
            fn from(wait: ChannelWait) -> Self {
                match wait {
                    $($wait => Self::$name,)+
                }
            }
        }
    };
}

wait_names! {
    /// The interface, address or route is gone, or the connection has ended.
    NoLink = ChannelWait::NoLink, "link gone";
    /// The TCP connection is not established.
    Connecting = ChannelWait::Connecting, "connecting";
    /// The address of the other end is unknown.
    NoRemote = ChannelWait::NoRemote, "no address";
    /// The handshake with the other end is not complete.
    NoHandshake = ChannelWait::NoHandshake, "no handshake";
    Resetting = ChannelWait::Protocol(Wait::Resetting), "resetting";
    Silent = ChannelWait::Protocol(Wait::Silent), "silent";
    Size = ChannelWait::Protocol(Wait::Size), "long lost";
    Planned = ChannelWait::Protocol(Wait::Planned), "by plan";
    Announced = ChannelWait::Protocol(Wait::Announced), "announced";
    Link = ChannelWait::Protocol(Wait::Link), "queue full";
    Credit = ChannelWait::Protocol(Wait::Credit), "no room";
    Losses = ChannelWait::Protocol(Wait::Losses), "quarantine";
    Length = ChannelWait::Protocol(Wait::Length), "too long";
    Window = ChannelWait::Protocol(Wait::Window), "window full";
    Pacing = ChannelWait::Protocol(Wait::Pacing), "pacing";
    Turn = ChannelWait::Protocol(Wait::Turn), "not its turn";
    Absent = ChannelWait::Protocol(Wait::Absent), "taken away";
}
