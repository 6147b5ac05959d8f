use thiserror::Error;

use crate::wire::WireError;

/// Reason for discarding a received packet or message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Discard {
    /// The bytes are not a valid message.
    #[error("no message: {0}")]
    Malformed(WireError),
    /// The channel index is out of range.
    #[error("there is no such channel")]
    NoSuchChannel,
    /// The message arrived on a channel other than the one it names.
    #[error("the message names another channel")]
    OtherChannel,
    /// The two ends disagree on the number of channels.
    #[error("the other end has another number of channels")]
    OtherCount,
    /// The message is intended for the other end.
    #[error("the message is meant for the other end")]
    OtherEnd,
    /// The message belongs to an earlier epoch.
    #[error("the epoch is over")]
    StaleEpoch,
    /// The reset names the present epoch, which has already started.
    #[error("the epoch of the reset has begun already")]
    RepeatedReset,
    /// The channel has not carried a message of the present epoch yet.
    #[error("the channel has not named the present epoch yet")]
    Unsynchronised,
    /// The packet is empty or too long.
    #[error("no packet has that length")]
    BadLength,
    /// The channel's buffer has no room.
    #[error("the buffer of the channel is full")]
    BufferFull,
    /// The marker carries an impossible deficit.
    #[error("no packet has that number")]
    BadNumber,
    /// The marker is too many rounds away from the present round.
    #[error("the marker is too far from the round")]
    FarMarker,
    /// The epoch ended before the packet was delivered.
    #[error("a new epoch began")]
    Reset,
    /// The channel is inactive, or the marker predates the channel's deactivation.
    #[error("the channel is out")]
    ChannelOut,
    /// The message is a NACK, but the sender does not retransmit.
    #[error("nothing is sent again here")]
    NotRepairing,
    /// The copy or acknowledgement was not requested.
    #[error("it answers nothing that was asked")]
    NotAsked,
    /// Only one of the two ends uses guaranteed order.
    #[error("only one of the ends guarantees order")]
    OtherMode,
    /// The packet was received before.
    #[error("the packet has come before")]
    Repeated,
    /// The packet arrived after its sequence number was skipped.
    #[error("the turn of the packet is over")]
    TooLate,
    /// The copy exceeds the memory limit.
    #[error("there is no room for another copy")]
    CopiesFull,
    /// The reset request follows the last accepted request too closely.
    #[error("a reset was begun a moment ago")]
    TooSoon,
    /// The report contains impossible counts.
    #[error("it counts more than was sent, or less than was counted before")]
    BadCounts,
}

impl Discard {
    /// Number of discard reasons.
    pub const COUNT: usize = 22;

    const fn index(self) -> usize {
        match self {
            Self::Malformed(_) => 0,
            Self::NoSuchChannel => 1,
            Self::OtherChannel => 2,
            Self::OtherCount => 3,
            Self::OtherEnd => 4,
            Self::StaleEpoch => 5,
            Self::RepeatedReset => 6,
            Self::Unsynchronised => 7,
            Self::BadLength => 8,
            Self::BufferFull => 9,
            Self::BadNumber => 10,
            Self::FarMarker => 11,
            Self::Reset => 12,
            Self::ChannelOut => 13,
            Self::NotRepairing => 14,
            Self::NotAsked => 15,
            Self::OtherMode => 16,
            Self::Repeated => 17,
            Self::TooLate => 18,
            Self::CopiesFull => 19,
            Self::TooSoon => 20,
            Self::BadCounts => 21,
        }
    }
}

/// Discard counters, one per reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discards([u64; Discard::COUNT]);

impl Discards {
    /// Returns the number of discards for a reason.
    pub const fn of(&self, reason: Discard) -> u64 {
        self.0[reason.index()]
    }

    /// Returns the number of discards for all reasons.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub(crate) fn add(&mut self, reason: Discard, count: u64) {
        self.0[reason.index()] += count;
    }

    pub(crate) fn count<T>(&mut self, result: Result<T, Discard>) -> Result<T, Discard> {
        match result {
            Ok(taken) => Ok(taken),
            Err(reason) => Err(self.refuse(reason)),
        }
    }

    #[cold]
    #[inline(never)]
    fn refuse(&mut self, reason: Discard) -> Discard {
        self.add(reason, 1);
        reason
    }
}
