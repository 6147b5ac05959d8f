//! Errors and their handling.
//!
//! | kernel error | meaning | handling |
//! |---|---|---|
//! | `EMSGSIZE` | above the interface's MTU | the protocol is notified and shrinks the channel |
//! | `EAGAIN`, `ENOBUFS` | a local queue is full | counted as a network loss, so the congestion controller reacts |
//! | `ENOTCONN`, or an invalid length in the stream | the connection has ended | as in the next row |
//! | `ENETDOWN`, `ENODEV`, `ENXIO`, `EADDRNOTAVAIL`, `ENETUNREACH`, `EINVAL` | the interface, its address or its route is gone | the channel is taken out of use, and its socket is reopened for the next probe |
//! | all others: `ECONNREFUSED`, `EHOSTUNREACH`, `EPERM`, ... | refused in transit | counted; prolonged silence takes the channel out of use |

use std::io;

use gingham_fairq::SchedulerError;
use gingham_stripe::{ChannelError, OptionsError};
use gingham_stripe_crypt::PublicKey;
use nix::errno::Errno;

/// Error of opening an end.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Invalid number of channels.
    #[error("channels: {0}")]
    Channels(#[from] SchedulerError),
    /// More initial channels than the maximum.
    #[error("channels: {channels} at the start, where at most {cap} can be; raise channels_max")]
    AboveCap {
        /// Initial number of channels.
        channels: usize,
        /// Maximum number of channels.
        cap: usize,
    },
    /// Inconsistent options.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// Longest packet that does not fit a datagram.
    #[error("longest packet: {longest_bytes} bytes, of at most {bytes_max} that fit a datagram")]
    LongestPacket {
        /// Requested length in bytes.
        longest_bytes: u32,
        /// Maximum length in bytes.
        bytes_max: usize,
    },
    /// Channels over both UDP and Ethernet, or unsuitable options.
    #[error("channels: {0}")]
    Kinds(&'static str),
    /// No random bytes available.
    #[error(transparent)]
    Randomness(#[from] gingham_stripe_crypt::NoRandomness),
    /// Socket that could not be opened.
    #[error("channel {channel}: {error}")]
    Socket {
        /// Channel id.
        channel: usize,
        /// Kernel error.
        error: io::Error,
    },
    /// Second end with the same peer.
    #[error("peer {0}: there is an end for it already")]
    SamePeer(PublicKey),
    /// Number already used by an end.
    #[error("there is an end {0} already")]
    Taken(usize),
    /// Timer slack that could not be set.
    #[error("timer slack: {0}")]
    Timer(#[source] io::Error),
}

/// Error of adding or moving a channel.
#[derive(Debug, thiserror::Error)]
pub enum SlotError {
    /// Invalid channel id: out of range, already in use, or not in use.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// Channel of a different kind than the other channels.
    #[error("channel {id}: all are over UDP, or all over Ethernet, with offload or without")]
    Kind {
        /// Channel id.
        id: usize,
    },
    /// Socket that could not be opened.
    #[error("channel {id}: {error}")]
    Socket {
        /// Channel id.
        id: usize,
        /// Kernel error.
        error: io::Error,
    },
}

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

pub(crate) fn gone() -> io::Error {
    Errno::ENOTCONN.into()
}

pub(crate) fn full() -> io::Error {
    Errno::EAGAIN.into()
}
