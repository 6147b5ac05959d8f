//! What schedulers refuse: what a user or a peer can ask for and cannot have.

use core::fmt;

use crate::Round;

/// One of the two tables of [`crate::TwoLevelTables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// That of high priority.
    High,
    /// That of low priority.
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

/// Why a scheduler is not built, or not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulerError {
    /// There is nothing to choose among.
    NoChannels,
    /// More channels or queues than there is room for.
    TooManyChannels {
        /// Those asked for.
        count: usize,
        /// Those that there is room for.
        count_max: usize,
    },
    /// The longest packet has no bytes.
    NoLongestPacket,
    /// A quantum does not let the longest packet pass, so that a channel could go without a turn.
    QuantumTooSmall {
        /// The channel or queue, from 0.
        channel: usize,
        /// Its quantum.
        quantum_bytes: u32,
        /// The longest packet.
        longest_bytes: u32,
    },
    /// A weight or a rate is zero.
    NoShare {
        /// The channel or queue, from 0.
        channel: usize,
    },
    /// A priority above the highest.
    LevelTooHigh {
        /// The queue, from 0.
        queue: usize,
        /// Its level.
        level: usize,
        /// The highest level.
        level_max: usize,
    },
    /// A channel that is not there.
    NoSuchChannel {
        /// The channel named, counted from 0.
        channel: usize,
        /// How many there are.
        count: usize,
    },
    /// A deficit that no packet can have: zero, or above the quantum of its round.
    DeficitOutside {
        /// The channel, from 0.
        channel: usize,
        /// The deficit.
        deficit_bytes: u32,
        /// The quantum.
        quantum_bytes: u32,
    },
    /// The last channel is to go out.
    LastChannel {
        /// The channel, from 0.
        channel: usize,
    },
    /// Quanta are to change at a round that a channel has reached.
    RoundReached {
        /// The channel, from 0.
        channel: usize,
        /// The round asked for.
        from: Round,
    },
    /// A table with more slots than any port has.
    TooManySlots {
        /// The table.
        table: Table,
        /// Its slots.
        count: usize,
        /// The most that there may be.
        count_max: usize,
    },
    /// A slot of a queue that is not there.
    SlotOutside {
        /// The table.
        table: Table,
        /// The slot, from 0.
        slot: usize,
        /// The queue named.
        queue: usize,
        /// How many there are.
        queues: usize,
    },
    /// A slot of the queue that goes before all tables.
    SlotOfFirst {
        /// The table.
        table: Table,
        /// The slot, from 0.
        slot: usize,
    },
    /// No slot of either table has a weight.
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

/// Checks a number of channels against the room of `CAPACITY`.
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

/// Checks quanta: one for each of so many channels, each at least the longest packet.
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
