//! Errors, and their handling.
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

/// Reason of a failure to open an end.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Number of channels.
    #[error("channels: {0}")]
    Channels(#[from] SchedulerError),
    /// Too many channels at the start.
    #[error("channels: {channels} at the start, where at most {cap} can be; raise channels_max")]
    AboveCap {
        /// Channels.
        channels: usize,
        /// Maximum.
        cap: usize,
    },
    /// Inconsistent options.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// Packets longer than a datagram.
    #[error("longest packet: {longest_bytes} bytes, of at most {bytes_max} that fit a datagram")]
    LongestPacket {
        /// Requested bytes.
        longest_bytes: u32,
        /// Possible bytes.
        bytes_max: usize,
    },
    /// Mixed kinds of channels, or unsuitable options.
    #[error("channels: {0}")]
    Kinds(&'static str),
    /// No random bytes.
    #[error(transparent)]
    Randomness(#[from] gingham_stripe_crypt::NoRandomness),
    /// No socket.
    #[error("channel {channel}: {error}")]
    Socket {
        /// Id.
        channel: usize,
        /// Kernel error.
        error: io::Error,
    },
    /// Two ends with one peer.
    #[error("peer {0}: there is an end for it already")]
    SamePeer(PublicKey),
    /// Existing number.
    #[error("there is an end {0} already")]
    Taken(usize),
    /// Timer slack.
    #[error("timer slack: {0}")]
    Timer(#[source] io::Error),
}

/// Reason of a failure to add or move a channel.
#[derive(Debug, thiserror::Error)]
pub enum SlotError {
    /// Absent, taken or free slot.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// Other kind of channel.
    #[error("channel {id}: all are over UDP, or all over Ethernet, with offload or without")]
    Kind {
        /// Id.
        id: usize,
    },
    /// No socket.
    #[error("channel {id}: {error}")]
    Socket {
        /// Id.
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
