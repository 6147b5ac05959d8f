//! What the ends refuse: what a user can ask for and cannot have.

use thiserror::Error;

/// Why a packet is not taken for sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// A reset is under way: nothing may be sent before it is acknowledged.
    #[error("a reset is under way; send once it is acknowledged")]
    Resetting,
    /// The receiver may have no room for it.
    #[error("channel {channel} has no credit; send after the next report")]
    NoCredit {
        /// The channel whose turn it is.
        channel: usize,
    },
    /// As much of the channel is in flight as may be.
    #[error("enough of channel {channel} is in flight; send after the next report")]
    FlightFull {
        /// The channel whose turn it is.
        channel: usize,
    },
    /// A packet has no bytes, or more than the longest.
    #[error("a packet of {length_bytes} bytes; it must have 1 to {longest_bytes}")]
    BadLength {
        /// Its length.
        length_bytes: u32,
        /// The longest packet.
        longest_bytes: u32,
    },
    /// A packet is longer than any channel passes that may take it.
    #[error("no channel passes so long a packet; all of them pass {longest_bytes} bytes")]
    TooLong {
        /// The longest that all channels take.
        longest_bytes: u32,
    },
}

/// Why a size of a channel is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SizeError {
    /// There is no such channel.
    #[error("there is no such channel")]
    NoSuchChannel,
    /// Sizes are told, and none is probed.
    #[error("sizes are told; to have them found give the option sizes")]
    Told,
    /// It is not below what is known to pass or is probed.
    #[error("it is not below the size of the channel, {frame_bytes} bytes")]
    NotBelow {
        /// The longest frame that passes.
        frame_bytes: u32,
    },
}

/// Why quanta are not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum QuantaError {
    /// Quanta for another number of channels.
    #[error("{given} quanta for {count} channels; expected one for each")]
    Mismatch {
        /// Quanta given.
        given: usize,
        /// Channels.
        count: usize,
    },
    /// A quantum that does not let the longest packet pass.
    #[error(
        "the quantum of channel {channel} is {quantum}; it must be 0, so that the channel goes \
        out, or at least {quantum_min}"
    )]
    TooSmall {
        /// The channel, from 0.
        channel: usize,
        /// The quantum.
        quantum: u32,
        /// The least that a channel may have that is in.
        quantum_min: u32,
    },
    /// Every channel that is there is to be out.
    #[error("every channel that is there has a quantum of 0; one at least must be in")]
    NoneIn,
}

/// Why a channel is not added, removed or moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ChannelError {
    /// The id is not below the cap: there are so many places for channels.
    #[error("channel {id}, where at most {cap} are numbered from 0")]
    AboveCap {
        /// The id.
        id: usize,
        /// The cap.
        cap: usize,
    },
    /// A channel has this id.
    #[error("there is a channel {id} already; remove it first, or move it")]
    AlreadyThere {
        /// The id.
        id: usize,
    },
    /// No channel has this id.
    #[error("there is no channel {id}; add it first")]
    NotThere {
        /// The id.
        id: usize,
    },
    /// No other channel is there that is to be in.
    #[error("channel {id} is the last that is there and to be in; add another first")]
    Last {
        /// The id.
        id: usize,
    },
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OptionsError {
    /// Quanta are to follow rates in bytes, and count packets.
    #[error("quanta that count packets follow no rates: take a scheduler whose quanta are bytes")]
    QuantaOfPackets,
    /// Reports hold the sender back, and a channel of which none comes is never taken out.
    #[error(
        "{option} waits for reports of every channel, and without silence a channel that sends none \
        holds the others up for ever: give silence a time, or do without {option}"
    )]
    EndlessSilence {
        /// The option by which they do.
        option: &'static str,
    },
    /// A free choice of channels, or quanta that follow rates, with nothing that finds rates.
    #[error(
        "shares and a free order go by the rates that control finds: give control where they are given"
    )]
    NoControl,
    /// A free choice of channels without tags, whose numbers give the order.
    #[error("where order is free the numbers of tags give it: give guaranteed where order is free")]
    NoTags,
    /// Less may be in flight than the longest packet.
    #[error(
        "control.window_bytes_max is below the longest packet, {longest_bytes} bytes, so that none \
        could go; it must be at least that"
    )]
    SmallWindow {
        /// The longest packet.
        longest_bytes: u32,
    },
    /// Memory for less than a longest packet a channel, or for more than serial numbers tell.
    #[error(
        "buffer_bytes_max is {bytes}; it must be at least {least}, a longest packet for each \
        channel and for copies, and at most {most}"
    )]
    BufferBytes {
        /// The memory, as it is charged.
        bytes: u64,
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// No channel is there at the start.
    #[error("present names no channel; at least one must be there")]
    NonePresent,
    /// Markers every zero rounds.
    #[error("markers every 0 rounds; it must be at least every round")]
    NoRounds,
    /// A base size below a message, or above the largest.
    #[error(
        "sizes.base is {base}; it must be at least the {} bytes of a message, and at most \
        sizes.max, {max}",
        crate::MESSAGE_BYTES_MAX
    )]
    BaseSize {
        /// The base size.
        base: u32,
        /// The largest.
        max: u32,
    },
    /// A channel that there is no room for: markers at its turn, or one that is there at the start.
    #[error("there is no channel {channel}: {count} are numbered from 0")]
    NoSuchChannel {
        /// The channel named, counted from 0.
        channel: usize,
        /// How many there are.
        count: usize,
    },
    /// A span of time or a count that must not be zero.
    #[error("{option} is zero; it must be more")]
    Zero {
        /// The option.
        option: &'static str,
    },
    /// Room for more packets than an end makes: [`PACKETS_MAX`](crate::PACKETS_MAX).
    #[error("{option} is {packets}; it must be at most {}", crate::PACKETS_MAX)]
    TooManyPackets {
        /// The option.
        option: &'static str,
        /// The packets asked for.
        packets: usize,
    },
    /// Rounds ahead that serial numbers cannot tell from rounds behind.
    #[error("far_rounds_max is {rounds}; it must be at most {rounds_max}")]
    FarRounds {
        /// The rounds asked for.
        rounds: u32,
        /// The most.
        rounds_max: u32,
    },
}
