use thiserror::Error;

use gingham_fairq::CHANNELS_MAX;

pub(crate) const VERSION: u8 = 4;

/// Reason for rejecting bytes as a message or header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// The message is truncated.
    #[error("truncated to {length} bytes")]
    Truncated {
        /// Number of bytes present.
        length: usize,
    },
    /// The first two bytes are not `GS`.
    #[error("the first two bytes are not those of a message")]
    BadMagic,
    /// The version is unknown.
    #[error("version {version} is unknown; expected {VERSION}")]
    BadVersion {
        /// Received version.
        version: u8,
    },
    /// The checksum does not match.
    #[error("the checksum does not match")]
    BadChecksum,
    /// The type code is unknown.
    #[error("kind {kind} is unknown")]
    BadKind {
        /// Received type code.
        kind: u8,
    },
    /// The channel index is out of range, or there are too many channels.
    #[error("channel {channel} of {channels}; at most {CHANNELS_MAX} are numbered from 0")]
    BadChannel {
        /// Channel index, from 0.
        channel: u8,
        /// Number of channels.
        channels: u8,
    },
    /// The deficit exceeds the quantum, or an active channel has a deficit of 0.
    #[error("a deficit of {deficit_bytes} at a quantum of {quantum_bytes}")]
    BadDeficit {
        /// Received deficit.
        deficit_bytes: u32,
        /// Received quantum.
        quantum_bytes: u32,
    },
    /// The NACK requests no packets.
    #[error("a NACK names no packets")]
    EmptyNack,
    /// A reserved or unused field is not zero.
    #[error("a field that must be zero is not")]
    NotZero,
}

pub(super) fn check_channel(channel: u8, channels: u8) -> Result<(), WireError> {
    if channel >= channels || usize::from(channels) > CHANNELS_MAX {
        return Err(WireError::BadChannel { channel, channels });
    }
    Ok(())
}
