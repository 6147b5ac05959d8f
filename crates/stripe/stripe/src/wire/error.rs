//! Why bytes are no message: a closed list.

use core::fmt;

use gingham_fairq::CHANNELS_MAX;

/// The version of the protocol that is known here.
pub(crate) const VERSION: u8 = 4;

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// Fewer bytes than the message has.
    Truncated {
        /// Bytes there.
        length: usize,
    },
    /// The first two bytes are those of something else.
    BadMagic,
    /// A version of the protocol that is not known here.
    BadVersion {
        /// The version.
        version: u8,
    },
    /// The checksum is that of other bytes.
    BadChecksum,
    /// A kind of message that is not known here.
    BadKind {
        /// The kind.
        kind: u8,
    },
    /// A channel that is not among the channels, or more of them than there can be.
    BadChannel {
        /// The channel, from 0.
        channel: u8,
        /// How many there are.
        channels: u8,
    },
    /// A deficit that no packet of the quantum has, or one of a channel that is out.
    BadDeficit {
        /// The deficit.
        deficit_bytes: u32,
        /// The quantum.
        quantum_bytes: u32,
    },
    /// A NACK of no packets.
    EmptyNack,
    /// A field that this kind of message leaves zero is not.
    NotZero,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated { length } => {
                write!(f, "{length} bytes, where the message has more")
            }
            Self::BadMagic => write!(f, "it does not begin as a message does"),
            Self::BadVersion { version } => {
                write!(f, "version {version}, where {VERSION} is known")
            }
            Self::BadChecksum => write!(f, "the checksum does not fit"),
            Self::BadKind { kind } => write!(f, "kind {kind} is not known"),
            Self::BadChannel { channel, channels } => {
                write!(
                    f,
                    "channel {channel} of {channels}; at most {CHANNELS_MAX} are numbered from 0"
                )
            }
            Self::BadDeficit { deficit_bytes, quantum_bytes } => {
                write!(f, "a deficit of {deficit_bytes} at a quantum of {quantum_bytes}")
            }
            Self::EmptyNack => write!(f, "a NACK names no packets"),
            Self::NotZero => write!(f, "a field that must be zero is not"),
        }
    }
}

impl core::error::Error for WireError {}

/// Refuses a channel that is not among the channels, and more of these than there can be.
pub(super) fn check_channel(channel: u8, channels: u8) -> Result<(), WireError> {
    if channel >= channels || usize::from(channels) > CHANNELS_MAX {
        return Err(WireError::BadChannel { channel, channels });
    }
    Ok(())
}
