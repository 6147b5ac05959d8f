//! Errors of both ends.

use thiserror::Error;

/// Reason for refusing to send a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// The receiver has not acknowledged the last reset yet.
    #[error("a reset is in progress; retry once it is acknowledged")]
    Resetting,
    /// In strict order, the credit for the channel is too small for the packet.
    #[error("channel {channel}: no credit; retry after the next report")]
    NoCredit {
        /// Channel whose turn it is.
        channel: usize,
    },
    /// No channel can take the packet now: the congestion window is full, the pacing rate delays
    /// the packet, or the link is blocked. In free order, credit may also be missing.
    #[error("channel {channel}: window full; retry after the next report")]
    FlightFull {
        /// Current channel of the scheduler; meaningless in free order.
        channel: usize,
    },
    /// The packet is empty or too long.
    #[error("packet of {length_bytes} bytes; expected 1 to {longest_bytes}")]
    BadLength {
        /// Packet length.
        length_bytes: u32,
        /// Maximum packet length.
        longest_bytes: u32,
    },
    /// The packet fits no active channel; in strict order, it does not fit the channel whose turn
    /// it is.
    #[error("packet too long for every channel; all of them pass {longest_bytes} bytes")]
    TooLong {
        /// Maximum packet length that fits every active channel.
        longest_bytes: u32,
    },
}

/// Reason for refusing to lower a channel's frame size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SizeError {
    /// The channel index is out of range.
    #[error("there is no such channel")]
    NoSuchChannel,
    /// Frame sizes are configured instead of probed.
    #[error("sizes are configured; set the option sizes to have them probed")]
    Configured,
    /// The reported size is not below the present size.
    #[error("it is not below the size of the channel, {frame_bytes} bytes")]
    NotBelow {
        /// Present frame size limit of the channel.
        frame_bytes: u32,
    },
}

/// Reason for refusing new quanta.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum QuantaError {
    /// The number of quanta differs from the number of channels.
    #[error("{given} quanta for {count} channels; expected one for each")]
    Mismatch {
        /// Number of quanta given.
        given: usize,
        /// Number of channels.
        count: usize,
    },
    /// A quantum is neither 0 nor at least the maximum packet length.
    #[error(
        "the quantum of channel {channel} is {quantum}; it must be 0, so that the channel goes \
        out, or at least {quantum_min}"
    )]
    TooSmall {
        /// Channel index, from 0.
        channel: usize,
        /// Requested quantum.
        quantum: u32,
        /// Smallest nonzero quantum.
        quantum_min: u32,
    },
    /// No existing channel would remain active.
    #[error("every channel that is there has a quantum of 0; one at least must be in")]
    NoneIn,
}

/// Reason for refusing to add, remove or move a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ChannelError {
    /// The channel id is too large.
    #[error("channel {id}, where at most {cap} are numbered from 0")]
    AboveCap {
        /// Channel id.
        id: usize,
        /// Maximum number of channels; ids are below this number.
        cap: usize,
    },
    /// A channel with this id already exists.
    #[error("there is a channel {id} already; remove it first, or move it")]
    AlreadyThere {
        /// Channel id.
        id: usize,
    },
    /// No channel has this id.
    #[error("there is no channel {id}; add it first")]
    NotThere {
        /// Channel id.
        id: usize,
    },
    /// The channel is the only active one.
    #[error("channel {id} is the last that is there and to be in; add another first")]
    Last {
        /// Channel id.
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

/// Reason for rejecting options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OptionsError {
    /// The scheduler's quanta count packets, but adaptive shares require bytes.
    #[error("quanta that count packets follow no rates: take a scheduler whose quanta are bytes")]
    QuantaOfPackets,
    /// `silence` is `None`, although another option depends on reports from every channel.
    #[error(
        "{option} waits for reports of every channel, and without silence a channel that sends none \
        holds the others up for ever: give silence a time, or do without {option}"
    )]
    EndlessSilence {
        /// Name of the option that depends on reports.
        option: &'static str,
    },
    /// Free order or shares are set without congestion control.
    #[error(
        "shares and a free order go by the rates that control finds: give control where they are given"
    )]
    NoControl,
    /// Free order is set, but packets carry no tags.
    #[error("where order is free the numbers of tags give it: give guaranteed where order is free")]
    NoTags,
    /// The maximum window is below the maximum packet length.
    #[error(
        "control.window_bytes_max is below the longest packet, {longest_bytes} bytes, so that none \
        could go; it must be at least that"
    )]
    SmallWindow {
        /// Maximum packet length.
        longest_bytes: u32,
    },
    /// The memory limit is out of range.
    #[error(
        "buffer_bytes_max is {bytes}; it must be at least {least}, a longest packet for each \
        channel and for copies, and at most {most}"
    )]
    BufferBytes {
        /// Requested memory limit, in bytes or packets, depending on the charge.
        bytes: u64,
        /// Minimum memory limit.
        least: u64,
        /// Maximum memory limit.
        most: u64,
    },
    /// No channel exists at the start.
    #[error("present names no channel; at least one must be there")]
    NonePresent,
    /// The interval between markers is zero rounds.
    #[error("markers every 0 rounds; it must be at least every round")]
    NoRounds,
    /// The base size is below the length of a message or above the maximum size.
    #[error(
        "sizes.base is {base}; it must be at least the {} bytes of a message, and at most \
        sizes.max, {max}",
        crate::MESSAGE_BYTES_MAX
    )]
    BaseSize {
        /// Configured base size, in bytes.
        base: u32,
        /// Configured maximum size, in bytes.
        max: u32,
    },
    /// A channel index is out of range.
    #[error("there is no channel {channel}: {count} are numbered from 0")]
    NoSuchChannel {
        /// Channel index, from 0.
        channel: usize,
        /// Number of channels.
        count: usize,
    },
    /// An option is zero, but must be positive.
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
        /// Requested number of packets.
        packets: usize,
    },
    /// A number of rounds exceeds the maximum that keeps serial numbers comparable.
    #[error("far_rounds_max is {rounds}; it must be at most {rounds_max}")]
    FarRounds {
        /// Requested number of rounds.
        rounds: u32,
        /// Maximum number of rounds.
        rounds_max: u32,
    },
}
