//! Why bytes are no message: a closed list.

use thiserror::Error;

use gingham_fairq::CHANNELS_MAX;

/// The version of the protocol that is known here.
pub(crate) const VERSION: u8 = 4;

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// Fewer bytes than the message has.
    #[error("{length} bytes, where the message has more")]
    Truncated {
        /// Bytes there.
        length: usize,
    },
    /// The first two bytes are those of something else.
    #[error("it does not begin as a message does")]
    BadMagic,
    /// A version of the protocol that is not known here.
    #[error("version {version}, where {VERSION} is known")]
    BadVersion {
        /// The version.
        version: u8,
    },
    /// The checksum is that of other bytes.
    #[error("the checksum does not fit")]
    BadChecksum,
    /// A kind of message that is not known here.
    #[error("kind {kind} is not known")]
    BadKind {
        /// The kind.
        kind: u8,
    },
    /// A channel that is not among the channels, or more of them than there can be.
    #[error("channel {channel} of {channels}; at most {CHANNELS_MAX} are numbered from 0")]
    BadChannel {
        /// The channel, from 0.
        channel: u8,
        /// How many there are.
        channels: u8,
    },
    /// A deficit that no packet of the quantum has, or one of a channel that is out.
    #[error("a deficit of {deficit_bytes} at a quantum of {quantum_bytes}")]
    BadDeficit {
        /// The deficit.
        deficit_bytes: u32,
        /// The quantum.
        quantum_bytes: u32,
    },
    /// A NACK of no packets.
    #[error("a NACK names no packets")]
    EmptyNack,
    /// A field that this kind of message leaves zero is not.
    #[error("a field that must be zero is not")]
    NotZero,
}

/// Refuses a channel that is not among the channels, and more of these than there can be.
pub(super) fn check_channel(channel: u8, channels: u8) -> Result<(), WireError> {
    if channel >= channels || usize::from(channels) > CHANNELS_MAX {
        return Err(WireError::BadChannel { channel, channels });
    }
    Ok(())
}
