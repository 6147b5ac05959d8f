//! Errors, and how they are handled.
//!
//! | kernel error | meaning | handling |
//! |---|---|---|
//! | `EMSGSIZE` | longer than the interface takes | the protocol is notified and shrinks the channel |
//! | `EAGAIN`, `ENOBUFS` | a local queue is full | as a loss in the network, which the controller sees |
//! | `ENOTCONN`, or an invalid length in the stream | the connection is over | as below |
//! | `ENETDOWN`, `ENODEV`, `ENXIO`, `EADDRNOTAVAIL`, `ENETUNREACH`, `EINVAL` | the interface, its address or its route is gone | the channel goes out, and its socket is reopened when it is probed |
//! | all others: `ECONNREFUSED`, `EHOSTUNREACH`, `EPERM`, ... | refused on the way | counted; lasting silence takes the channel out |

use std::io;

use gingham_fairq::SchedulerError;
use gingham_stripe::{ChannelError, OptionsError};
use gingham_stripe_crypt::PublicKey;
use nix::errno::Errno;

/// Reason why an end cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No channels, or too many.
    #[error("channels: {0}")]
    Channels(#[from] SchedulerError),
    /// More channels at the start than the maximum.
    #[error("channels: {channels} at the start, where at most {cap} can be; raise channels_max")]
    AboveCap {
        /// Channels at the start.
        channels: usize,
        /// Maximum number of channels.
        cap: usize,
    },
    /// Inconsistent protocol options.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// Packets longer than a datagram can hold with its headers.
    #[error("longest packet: {longest_bytes} bytes, of at most {bytes_max} that fit a datagram")]
    LongestPacket {
        /// Longest packet requested, in bytes.
        longest_bytes: u32,
        /// Longest packet possible, in bytes.
        bytes_max: usize,
    },
    /// Channels over datagrams and over Ethernet in one pipe, or options that do not suit the kind.
    #[error("channels: {0}")]
    Kinds(&'static str),
    /// No random bytes for keys.
    #[error(transparent)]
    Randomness(#[from] gingham_stripe_crypt::NoRandomness),
    /// A socket cannot be opened.
    #[error("channel {channel}: {error}")]
    Socket {
        /// Id of the channel.
        channel: usize,
        /// Kernel error.
        error: io::Error,
    },
    /// Two ends with one peer.
    #[error("peer {0}: there is an end for it already")]
    SamePeer(PublicKey),
    /// Number of an existing end.
    #[error("there is an end {0} already")]
    Taken(usize),
    /// The timer slack of the thread cannot be set.
    #[error("timer slack: {0}")]
    Timer(#[source] io::Error),
}

/// Reason why a channel cannot be added or moved.
#[derive(Debug, thiserror::Error)]
pub enum SlotError {
    /// The slot does not exist, is taken, or is free.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The channel is not of the pipe's kind.
    #[error("channel {id}: all are over UDP, or all over Ethernet, with offload or without")]
    Kind {
        /// Id of the channel.
        id: usize,
    },
    /// The socket cannot be opened.
    #[error("channel {id}: {error}")]
    Socket {
        /// Id of the channel.
        id: usize,
        /// Kernel error.
        error: io::Error,
    },
}

/// Meaning of a socket error for its channel.
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

/// Returns the error of a connection that is over.
pub(crate) fn gone() -> io::Error {
    Errno::ENOTCONN.into()
}

/// Returns the error of a full local queue.
pub(crate) fn full() -> io::Error {
    Errno::EAGAIN.into()
}
