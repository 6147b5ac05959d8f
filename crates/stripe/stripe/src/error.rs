//! What the ends refuse: what a user can ask for and cannot have.

use core::fmt;

/// Why a packet is not taken for sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// A reset is under way: nothing may be sent before it is acknowledged.
    Resetting,
    /// The receiver may have no room for it.
    NoCredit {
        /// The channel whose turn it is.
        channel: usize,
    },
    /// As much of the channel is in flight as may be.
    FlightFull {
        /// The channel whose turn it is.
        channel: usize,
    },
    /// A packet has no bytes, or more than the longest.
    BadLength {
        /// Its length.
        length_bytes: u32,
        /// The longest packet.
        longest_bytes: u32,
    },
    /// A packet is longer than any channel passes that may take it.
    TooLong {
        /// The longest that all channels take.
        longest_bytes: u32,
    },
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Resetting => write!(f, "a reset is under way; send once it is acknowledged"),
            Self::NoCredit { channel } => {
                write!(f, "channel {channel} has no credit; send after the next report")
            }
            Self::FlightFull { channel } => {
                write!(f, "enough of channel {channel} is in flight; send after the next report")
            }
            Self::BadLength { length_bytes, longest_bytes } => {
                write!(f, "a packet of {length_bytes} bytes; it must have 1 to {longest_bytes}")
            }
            Self::TooLong { longest_bytes } => write!(
                f,
                "no channel passes so long a packet; all of them pass {longest_bytes} bytes"
            ),
        }
    }
}

impl core::error::Error for SendError {}

/// Why a size of a channel is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeError {
    /// There is no such channel.
    NoSuchChannel,
    /// Sizes are told, and none is probed.
    Told,
    /// It is not below what is known to pass or is probed.
    NotBelow {
        /// The longest frame that passes.
        frame_bytes: u32,
    },
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoSuchChannel => write!(f, "there is no such channel"),
            Self::Told => write!(f, "sizes are told; to have them found give the option sizes"),
            Self::NotBelow { frame_bytes } => {
                write!(f, "it is not below the size of the channel, {frame_bytes} bytes")
            }
        }
    }
}

impl core::error::Error for SizeError {}

/// Why quanta are not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantaError {
    /// Quanta for another number of channels.
    Mismatch {
        /// Quanta given.
        given: usize,
        /// Channels.
        count: usize,
    },
    /// A quantum that does not let the longest packet pass.
    TooSmall {
        /// The channel, from 0.
        channel: usize,
        /// The quantum.
        quantum: u32,
        /// The least that a channel may have that is in.
        quantum_min: u32,
    },
    /// Every channel that is there is to be out.
    NoneIn,
}

impl fmt::Display for QuantaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Mismatch { given, count } => {
                write!(f, "{given} quanta for {count} channels; expected one for each")
            }
            Self::TooSmall { channel, quantum, quantum_min } => write!(
                f,
                "the quantum of channel {channel} is {quantum}; it must be 0, so that the channel goes \
                 out, or at least {quantum_min}"
            ),
            Self::NoneIn => {
                write!(f, "every channel that is there has a quantum of 0; one at least must be in")
            }
        }
    }
}

impl core::error::Error for QuantaError {}

/// Why a channel is not added, removed or moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelError {
    /// The id is not below the cap: there are so many places for channels.
    AboveCap {
        /// The id.
        id: usize,
        /// The cap.
        cap: usize,
    },
    /// A channel has this id.
    AlreadyThere {
        /// The id.
        id: usize,
    },
    /// No channel has this id.
    NotThere {
        /// The id.
        id: usize,
    },
    /// No other channel is there that is to be in.
    Last {
        /// The id.
        id: usize,
    },
}

impl fmt::Display for ChannelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::AboveCap { id, cap } => {
                write!(f, "channel {id}, where at most {cap} are numbered from 0")
            }
            Self::AlreadyThere { id } => {
                write!(f, "there is a channel {id} already; remove it first, or move it")
            }
            Self::NotThere { id } => write!(f, "there is no channel {id}; add it first"),
            Self::Last { id } => {
                write!(f, "channel {id} is the last that is there and to be in; add another first")
            }
        }
    }
}

impl core::error::Error for ChannelError {}

/// Holds an option that asks for room.
pub(crate) const fn check_packets(
    option: &'static str,
    packets: usize,
) -> Result<(), OptionsError> {
    match packets {
        0 => Err(OptionsError::Zero { option }),
        _ if packets > crate::PACKETS_MAX => Err(OptionsError::TooManyPackets { option, packets }),
        _ => Ok(()),
    }
}

/// Why an end is not built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionsError {
    /// Quanta are to follow rates in bytes, and count packets.
    QuantaOfPackets,
    /// Reports hold the sender back, and a channel of which none comes is never taken out.
    EndlessSilence {
        /// The option by which they do.
        option: &'static str,
    },
    /// A free choice of channels, or quanta that follow rates, with nothing that finds rates.
    NoControl,
    /// A free choice of channels without tags, whose numbers give the order.
    NoTags,
    /// Less may be in flight than the longest packet.
    SmallWindow {
        /// The longest packet.
        longest_bytes: u32,
    },
    /// Memory for less than a longest packet a channel, or for more than serial numbers tell.
    BufferBytes {
        /// The memory, as it is charged.
        bytes: u64,
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// No channel is there at the start.
    NonePresent,
    /// Markers every zero rounds.
    NoRounds,
    /// A base size below a message, or above the largest.
    BaseSize {
        /// The base size.
        base: u32,
        /// The largest.
        max: u32,
    },
    /// A channel that there is no room for: markers at its turn, or one that is there at the start.
    NoSuchChannel {
        /// The channel named, counted from 0.
        channel: usize,
        /// How many there are.
        count: usize,
    },
    /// A span of time or a count that must not be zero.
    Zero {
        /// The option.
        option: &'static str,
    },
    /// Room for more packets than an end makes: [`PACKETS_MAX`](crate::PACKETS_MAX).
    TooManyPackets {
        /// The option.
        option: &'static str,
        /// The packets asked for.
        packets: usize,
    },
    /// Rounds ahead that serial numbers cannot tell from rounds behind.
    FarRounds {
        /// The rounds asked for.
        rounds: u32,
        /// The most.
        rounds_max: u32,
    },
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::QuantaOfPackets => write!(
                f,
                "quanta that count packets follow no rates: take a scheduler whose quanta are bytes"
            ),
            Self::EndlessSilence { option } => write!(
                f,
                "{option} waits for reports of every channel, and without silence a channel that sends none \
                 holds the others up for ever: give silence a time, or do without {option}"
            ),
            Self::NoControl => write!(
                f,
                "shares and a free order go by the rates that control finds: give control where they are given"
            ),
            Self::NoTags => write!(
                f,
                "where order is free the numbers of tags give it: give guaranteed where order is free"
            ),
            Self::SmallWindow { longest_bytes } => write!(
                f,
                "control.window_bytes_max is below the longest packet, {longest_bytes} bytes, so that none \
                 could go; it must be at least that"
            ),
            Self::BaseSize { base, max } => write!(
                f,
                "sizes.base is {base}; it must be at least the {} bytes of a message, and at most \
                 sizes.max, {max}",
                crate::MESSAGE_BYTES_MAX
            ),
            Self::BufferBytes { bytes, least, most } => write!(
                f,
                "buffer_bytes_max is {bytes}; it must be at least {least}, a longest packet for each \
                 channel and for copies, and at most {most}"
            ),
            Self::NonePresent => {
                write!(f, "present names no channel; at least one must be there")
            }
            Self::NoRounds => write!(f, "markers every 0 rounds; it must be at least every round"),
            Self::NoSuchChannel { channel, count } => {
                write!(f, "there is no channel {channel}: {count} are numbered from 0")
            }
            Self::Zero { option } => write!(f, "{option} is zero; it must be more"),
            Self::TooManyPackets { option, packets } => {
                write!(f, "{option} is {packets}; it must be at most {}", crate::PACKETS_MAX)
            }
            Self::FarRounds { rounds, rounds_max } => {
                write!(f, "far_rounds_max is {rounds}; it must be at most {rounds_max}")
            }
        }
    }
}

impl core::error::Error for OptionsError {}
