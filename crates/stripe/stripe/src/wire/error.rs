//! Reasons for rejecting bytes that are not a message.

use thiserror::Error;

use gingham_fairq::CHANNELS_MAX;

pub(crate) const VERSION: u8 = 4;

/// Reason for rejecting bytes that are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// The message is truncated.
    #[error("truncated to {length} bytes")]
    Truncated {
        /// Number of bytes present.
        length: usize,
    },
    /// Wrong first two bytes.
    #[error("the first two bytes are not those of a message")]
    BadMagic,
    /// Unknown version.
    #[error("version {version} is unknown; expected {VERSION}")]
    BadVersion {
        /// The version.
        version: u8,
    },
    /// Wrong checksum.
    #[error("the checksum does not match")]
    BadChecksum,
    /// Unknown kind.
    #[error("kind {kind} is unknown")]
    BadKind {
        /// The kind.
        kind: u8,
    },
    /// A channel index out of range, or too many channels.
    #[error("channel {channel} of {channels}; at most {CHANNELS_MAX} are numbered from 0")]
    BadChannel {
        /// Channel, from 0.
        channel: u8,
        /// Number of channels.
        channels: u8,
    },
    /// A deficit larger than the quantum, or on a channel that is out.
    #[error("a deficit of {deficit_bytes} at a quantum of {quantum_bytes}")]
    BadDeficit {
        /// The deficit.
        deficit_bytes: u32,
        /// The quantum.
        quantum_bytes: u32,
    },
    /// A NACK for zero packets.
    #[error("a NACK names no packets")]
    EmptyNack,
    /// A field that must be zero is not.
    #[error("a field that must be zero is not")]
    NotZero,
}

pub(super) fn check_channel(channel: u8, channels: u8) -> Result<(), WireError> {
    if channel >= channels || usize::from(channels) > CHANNELS_MAX {
        return Err(WireError::BadChannel { channel, channels });
    }
    Ok(())
}
