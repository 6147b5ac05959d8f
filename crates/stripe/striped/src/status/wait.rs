//! Names and short texts of the reasons why a channel carries no packets.

use gingham_stripe::Wait;
use gingham_stripe_udp::ChannelWait;
use serde::{Deserialize, Serialize};

macro_rules! wait_names {
    ($($(#[$doc:meta])* $name:ident = $wait:pat, $text:literal;)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum WaitName {
            $($(#[$doc])* $name,)+
            /// Reason reported by a newer daemon.
            #[serde(other)]
            Other,
        }

        impl WaitName {
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$name),+];

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
    NoLink = ChannelWait::NoLink, "link gone";
    Connecting = ChannelWait::Connecting, "connecting";
    NoRemote = ChannelWait::NoRemote, "no address";
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
