//! Errors of the sending and receiving ends.

use thiserror::Error;

/// Reason for refusing a packet to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// A reset has not been acknowledged yet.
    #[error("a reset is in progress; retry once it is acknowledged")]
    Resetting,
    /// The receiver has granted no credit for the packet.
    #[error("channel {channel}: no credit; retry after the next report")]
    NoCredit {
        /// Channel whose turn it is.
        channel: usize,
    },
    /// The congestion window is full.
    #[error("channel {channel}: window full; retry after the next report")]
    FlightFull {
        /// Channel whose turn it is.
        channel: usize,
    },
    /// The packet is empty or too long.
    #[error("packet of {length_bytes} bytes; expected 1 to {longest_bytes}")]
    BadLength {
        /// Length of the packet.
        length_bytes: u32,
        /// Longest packet.
        longest_bytes: u32,
    },
    /// The packet is too long for every usable channel.
    #[error("packet too long for every channel; all of them pass {longest_bytes} bytes")]
    TooLong {
        /// Longest packet that fits every usable channel.
        longest_bytes: u32,
    },
}

/// Reason for refusing to lower the frame size of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SizeError {
    /// The channel does not exist.
    #[error("there is no such channel")]
    NoSuchChannel,
    /// Frame sizes are configured rather than probed.
    #[error("sizes are configured; set the option sizes to have them probed")]
    Configured,
    /// The reported size is not below the present one.
    #[error("it is not below the size of the channel, {frame_bytes} bytes")]
    NotBelow {
        /// Present size: the longest frame that passes.
        frame_bytes: u32,
    },
}

/// Reason for refusing new quanta.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum QuantaError {
    /// The number of quanta is wrong.
    #[error("{given} quanta for {count} channels; expected one for each")]
    Mismatch {
        /// Number of quanta.
        given: usize,
        /// Number of channels.
        count: usize,
    },
    /// A quantum is neither 0 nor at least the longest packet.
    #[error(
        "the quantum of channel {channel} is {quantum}; it must be 0, so that the channel goes \
        out, or at least {quantum_min}"
    )]
    TooSmall {
        /// Channel, from 0.
        channel: usize,
        /// Requested quantum.
        quantum: u32,
        /// Smallest nonzero quantum.
        quantum_min: u32,
    },
    /// No present channel would remain active.
    #[error("every channel that is there has a quantum of 0; one at least must be in")]
    NoneIn,
}

/// Reason for refusing to add, remove or move a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ChannelError {
    /// The id is too large.
    #[error("channel {id}, where at most {cap} are numbered from 0")]
    AboveCap {
        /// Id of the channel.
        id: usize,
        /// Largest number of channels.
        cap: usize,
    },
    /// A channel with this id already exists.
    #[error("there is a channel {id} already; remove it first, or move it")]
    AlreadyThere {
        /// Id of the channel.
        id: usize,
    },
    /// No channel has this id.
    #[error("there is no channel {id}; add it first")]
    NotThere {
        /// Id of the channel.
        id: usize,
    },
    /// The channel is the only active one.
    #[error("channel {id} is the last that is there and to be in; add another first")]
    Last {
        /// Id of the channel.
        id: usize,
    },
}

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

/// Reason for refusing options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OptionsError {
    /// Quanta are counted in packets, but shares require bytes.
    #[error("quanta that count packets follow no rates: take a scheduler whose quanta are bytes")]
    QuantaOfPackets,
    /// `silence` is `None`, but another option waits for reports.
    #[error(
        "{option} waits for reports of every channel, and without silence a channel that sends none \
        holds the others up for ever: give silence a time, or do without {option}"
    )]
    EndlessSilence {
        /// Option that waits for reports.
        option: &'static str,
    },
    /// Free order or shares are set without congestion control.
    #[error(
        "shares and a free order go by the rates that control finds: give control where they are given"
    )]
    NoControl,
    /// Free order is set, but packets have no tags.
    #[error("where order is free the numbers of tags give it: give guaranteed where order is free")]
    NoTags,
    /// The largest window is below the longest packet.
    #[error(
        "control.window_bytes_max is below the longest packet, {longest_bytes} bytes, so that none \
        could go; it must be at least that"
    )]
    SmallWindow {
        /// Longest packet, in bytes.
        longest_bytes: u32,
    },
    /// The memory limit is out of range.
    #[error(
        "buffer_bytes_max is {bytes}; it must be at least {least}, a longest packet for each \
        channel and for copies, and at most {most}"
    )]
    BufferBytes {
        /// Requested memory, in units of the charge.
        bytes: u64,
        /// Smallest allowed value.
        least: u64,
        /// Largest allowed value.
        most: u64,
    },
    /// No channel is present at the start.
    #[error("present names no channel; at least one must be there")]
    NonePresent,
    /// The interval between markers is zero rounds.
    #[error("markers every 0 rounds; it must be at least every round")]
    NoRounds,
    /// The base size is out of range.
    #[error(
        "sizes.base is {base}; it must be at least the {} bytes of a message, and at most \
        sizes.max, {max}",
        crate::MESSAGE_BYTES_MAX
    )]
    BaseSize {
        /// Configured base size.
        base: u32,
        /// Configured maximum.
        max: u32,
    },
    /// A channel index is out of range.
    #[error("there is no channel {channel}: {count} are numbered from 0")]
    NoSuchChannel {
        /// Channel, from 0.
        channel: usize,
        /// Number of channels.
        count: usize,
    },
    /// An option is zero that must not be.
    #[error("{option} is zero; it must be more")]
    Zero {
        /// Name of the option.
        option: &'static str,
    },
    /// An option asks for more than [`PACKETS_MAX`](crate::PACKETS_MAX) packets.
    #[error("{option} is {packets}; it must be at most {}", crate::PACKETS_MAX)]
    TooManyPackets {
        /// Name of the option.
        option: &'static str,
        /// Requested packets.
        packets: usize,
    },
    /// A number of rounds exceeds the range of serial numbers.
    #[error("far_rounds_max is {rounds}; it must be at most {rounds_max}")]
    FarRounds {
        /// Requested rounds.
        rounds: u32,
        /// Largest allowed value.
        rounds_max: u32,
    },
}
