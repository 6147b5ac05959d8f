//! Errors of schedulers.

use core::fmt;

use crate::Round;

/// Arbitration table of [`crate::TwoLevelTables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// High-priority table.
    High,
    /// Low-priority table.
    Low,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::High => "high",
            Self::Low => "low",
        })
    }
}

/// Invalid scheduler parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerError {
    /// The scheduler has no channels or queues.
    NoChannels,
    /// The scheduler has too many channels or queues.
    TooManyChannels {
        /// Requested number of channels or queues.
        count: usize,
        /// Maximum number of channels or queues.
        count_max: usize,
    },
    /// The maximum packet length is 0.
    NoLongestPacket,
    /// A quantum is smaller than the longest packet.
    QuantumTooSmall {
        /// 0-based channel or queue index.
        channel: usize,
        /// Quantum in bytes.
        quantum_bytes: u32,
        /// Maximum packet length in bytes.
        longest_bytes: u32,
    },
    /// A weight or rate is zero.
    NoShare {
        /// 0-based channel or queue index.
        channel: usize,
    },
    /// A priority level exceeds the highest level.
    LevelTooHigh {
        /// 0-based queue index.
        queue: usize,
        /// Requested priority level.
        level: usize,
        /// Highest priority level.
        level_max: usize,
    },
    /// The channel does not exist.
    NoSuchChannel {
        /// Requested 0-based channel index.
        channel: usize,
        /// Number of channels.
        count: usize,
    },
    /// A deficit is zero or exceeds the quantum.
    DeficitOutside {
        /// 0-based channel index.
        channel: usize,
        /// Deficit in bytes.
        deficit_bytes: u32,
        /// Quantum in the next packet's round, in bytes.
        quantum_bytes: u32,
    },
    /// The last remaining channel must not be excluded.
    LastChannel {
        /// 0-based channel index.
        channel: usize,
    },
    /// A quantum change is announced for a round that the channel has already reached.
    RoundReached {
        /// 0-based channel index.
        channel: usize,
        /// First round with the new quantum.
        from: Round,
    },
    /// An arbitration table has too many slots.
    TooManySlots {
        /// Table with too many slots.
        table: Table,
        /// Number of slots.
        count: usize,
        /// Maximum number of slots.
        count_max: usize,
    },
    /// A slot refers to a queue that does not exist.
    SlotOutside {
        /// Table that contains the slot.
        table: Table,
        /// 0-based slot index.
        slot: usize,
        /// Queue number in the slot.
        queue: usize,
        /// Number of queues.
        queues: usize,
    },
    /// A slot refers to queue 15, which takes precedence over both tables.
    SlotOfFirst {
        /// Table that contains the slot.
        table: Table,
        /// 0-based slot index.
        slot: usize,
    },
    /// All weights of both tables are zero.
    NoWeight,
}

impl fmt::Display for SchedulerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoChannels => write!(f, "there must be at least one channel"),
            Self::TooManyChannels { count, count_max } => {
                write!(f, "{count} channels, where at most {count_max} have room")
            }
            Self::NoLongestPacket => write!(f, "the longest packet must have at least 1 byte"),
            Self::QuantumTooSmall { channel, quantum_bytes, longest_bytes } => write!(
                f,
                "the quantum of channel {channel} is {quantum_bytes} bytes; it must be at least the \
                 longest packet, {longest_bytes} bytes"
            ),
            Self::NoShare { channel } => {
                write!(f, "channel {channel} has a weight or rate of zero; it must be at least 1")
            }
            Self::LevelTooHigh { queue, level, level_max } => {
                write!(f, "queue {queue} has priority {level}; the highest is {level_max}")
            }
            Self::NoSuchChannel { channel, count } => {
                write!(f, "there is no channel {channel}: {count} are numbered from 0")
            }
            Self::DeficitOutside { channel, deficit_bytes, quantum_bytes } => write!(
                f,
                "a deficit of {deficit_bytes} bytes on channel {channel}; expected 1 to its quantum, \
                 {quantum_bytes} bytes"
            ),
            Self::LastChannel { channel } => {
                write!(f, "channel {channel} is the last; another must be in before it goes out")
            }
            Self::RoundReached { channel, from } => {
                write!(f, "channel {channel} has reached round {from}; name a later round")
            }
            Self::TooManySlots { table, count, count_max } => {
                write!(f, "the {table} table has {count} slots; at most {count_max} are possible")
            }
            Self::SlotOutside { table, slot, queue, queues } => write!(
                f,
                "slot {slot} of the {table} table names lane {queue}: {queues} are numbered from 0"
            ),
            Self::SlotOfFirst { table, slot } => write!(
                f,
                "slot {slot} of the {table} table names lane 15, which goes before both tables and \
                 has no slot"
            ),
            Self::NoWeight => {
                write!(
                    f,
                    "all weights are zero, so that no lane would ever send; give one a weight"
                )
            }
        }
    }
}

impl core::error::Error for SchedulerError {}

pub(crate) const fn check_count<const CAPACITY: usize>(count: usize) -> Result<(), SchedulerError> {
    const { assert!(CAPACITY <= crate::CHANNELS_MAX, "a set of channels is a word of 64 bits") };
    match count {
        0 => Err(SchedulerError::NoChannels),
        _ if count > CAPACITY => {
            Err(SchedulerError::TooManyChannels { count, count_max: CAPACITY })
        }
        _ => Ok(()),
    }
}

pub(crate) fn check_quanta<const CAPACITY: usize>(
    longest_bytes: u32,
    quanta_bytes: &[u32],
) -> Result<(), SchedulerError> {
    check_count::<CAPACITY>(quanta_bytes.len())?;
    if longest_bytes == 0 {
        return Err(SchedulerError::NoLongestPacket);
    }
    let small = quanta_bytes.iter().enumerate().find(|(_, quantum)| **quantum < longest_bytes);
    small.map_or(Ok(()), |(channel, &quantum_bytes)| {
        Err(SchedulerError::QuantumTooSmall { channel, quantum_bytes, longest_bytes })
    })
}
