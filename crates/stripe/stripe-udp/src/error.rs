//! What can go wrong, and what is made of it.
//!
//! | the kernel says | that is | and then |
//! |---|---|---|
//! | `EMSGSIZE` | it is longer than the interface takes | the protocol hears of it, and shrinks the channel |
//! | `EAGAIN`, `ENOBUFS` | a queue of ours is full | as lost on the way: the controller hears of it |
//! | `ENOTCONN`, no length where one is to be | a connection is over | the same |
//! | `ENETDOWN`, `ENODEV`, `ENXIO`, `EADDRNOTAVAIL`, `ENETUNREACH`, `EINVAL` | the interface, its address or its route is gone | the channel goes out, its socket is opened anew when it is probed |
//! | all else: `ECONNREFUSED`, `EHOSTUNREACH`, `EPERM`, ... | somebody on the way says no | counted; silence takes the channel out if it lasts |

use std::io;

use gingham_fairq::SchedulerError;
use gingham_stripe::{ChannelError, OptionsError};
use gingham_stripe_crypt::PublicKey;
use nix::errno::Errno;

/// Why there is no end.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There are none, or too many.
    #[error("channels: {0}")]
    Channels(#[from] SchedulerError),
    /// More are there at the start than there can be.
    #[error("channels: {channels} at the start, where at most {cap} can be; raise channels_max")]
    AboveCap {
        /// Channels at the start.
        channels: usize,
        /// The most there can be.
        cap: usize,
    },
    /// What the protocol is told makes no sense.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// Packets would be longer than a datagram with what stands before them.
    #[error("longest packet: {longest_bytes} bytes, of at most {bytes_max} that fit a datagram")]
    LongestPacket {
        /// The longest packet asked for.
        longest_bytes: u32,
        /// The longest that can be.
        bytes_max: usize,
    },
    /// Channels in datagrams and in frames of Ethernet are in one pipe, or what a channel over Ethernet needs is
    /// not told.
    #[error("channels: {0}")]
    Kinds(&'static str),
    /// The machine gives no random bytes for keys.
    #[error(transparent)]
    Randomness(#[from] gingham_stripe_crypt::NoRandomness),
    /// A socket cannot be opened.
    #[error("channel {channel}: {error}")]
    Socket {
        /// Of which channel.
        channel: usize,
        /// What the kernel says.
        error: io::Error,
    },
    /// Two ends have one peer.
    #[error("peer {0}: there is an end for it already")]
    SamePeer(PublicKey),
    /// There is an end of this number.
    #[error("there is an end {0} already")]
    Taken(usize),
    /// The kernel does not wake this thread in time.
    #[error("timer slack: {0}")]
    Timer(#[source] io::Error),
}

/// Why a channel is not added or moved.
#[derive(Debug, thiserror::Error)]
pub enum SlotError {
    /// There is no place for it, or it is not there.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The channels of a pipe are of one kind, and it is of another.
    #[error("channel {id}: all are over UDP, or all over Ethernet, with offload or without")]
    Kind {
        /// Of which channel.
        id: usize,
    },
    /// Its socket cannot be opened.
    #[error("channel {id}: {error}")]
    Socket {
        /// Of which channel.
        id: usize,
        /// What the kernel says.
        error: io::Error,
    },
}

/// What an error of a socket means for its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Full,
    TooLong,
    Gone,
    Refused,
}

impl Meaning {
    pub(crate) fn of(error: &io::Error) -> Self {
        match error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EAGAIN | Errno::ENOBUFS) => Self::Full,
            Some(Errno::EMSGSIZE) => Self::TooLong,
            Some(
                Errno::ENETDOWN
                | Errno::ENODEV
                | Errno::ENXIO
                | Errno::EADDRNOTAVAIL
                | Errno::ENETUNREACH
                | Errno::EINVAL
                | Errno::ENOTCONN,
            ) => Self::Gone,
            _ if error.kind() == io::ErrorKind::InvalidData => Self::Gone,
            _ => Self::Refused,
        }
    }
}

/// A connection is over.
pub(crate) fn gone() -> io::Error {
    Errno::ENOTCONN.into()
}

/// A queue of ours is full.
pub(crate) fn full() -> io::Error {
    Errno::EAGAIN.into()
}
