//! What came and was not used, and why: a closed list, each with its count.

use thiserror::Error;

use crate::wire::WireError;

/// Why something that came was not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Discard {
    /// Bytes that are no message.
    #[error("no message: {0}")]
    Malformed(WireError),
    /// There is no such channel here.
    #[error("there is no such channel")]
    NoSuchChannel,
    /// The message names another channel than that on which it came.
    #[error("the message names another channel")]
    OtherChannel,
    /// The message is of an end with another number of channels.
    #[error("the other end has another number of channels")]
    OtherCount,
    /// The message is meant for the other end.
    #[error("the message is meant for the other end")]
    OtherEnd,
    /// The message is of an epoch that is over.
    #[error("the epoch is over")]
    StaleEpoch,
    /// A reset to the present epoch, after that had begun on the channel.
    #[error("the epoch of the reset has begun already")]
    RepeatedReset,
    /// Nothing on the channel has named the present epoch yet.
    #[error("the channel has not named the present epoch yet")]
    Unsynchronised,
    /// A packet without bytes, or longer than the longest.
    #[error("no packet has that length")]
    BadLength,
    /// The channel's buffer is full.
    #[error("the buffer of the channel is full")]
    BufferFull,
    /// A marker with a deficit that no packet can have.
    #[error("no packet has that number")]
    BadNumber,
    /// A marker further from the round than is believed.
    #[error("the marker is too far from the round")]
    FarMarker,
    /// A packet was waiting when a new epoch began.
    #[error("a new epoch began")]
    Reset,
    /// A packet on a channel that is out (in guaranteed order only without room), or a marker
    /// from before it left.
    #[error("the channel is out")]
    ChannelOut,
    /// A NACK to an end that keeps none to send again.
    #[error("nothing is sent again here")]
    NotRepairing,
    /// An answer to what was not asked, or not any more.
    #[error("it answers nothing that was asked")]
    NotAsked,
    /// A packet with a tag where order is not guaranteed, or without one where it is.
    #[error("only one of the ends guarantees order")]
    OtherMode,
    /// A packet, or a copy of one, that has come before.
    #[error("the packet has come before")]
    Repeated,
    /// A packet whose turn is over.
    #[error("the turn of the packet is over")]
    TooLate,
    /// There is no room for another copy.
    #[error("there is no room for another copy")]
    CopiesFull,
    /// A reset is asked for again right after one was begun.
    #[error("a reset was begun a moment ago")]
    TooSoon,
    /// A report of more than was sent, or of less than was said before.
    #[error("it counts more than was sent, or less than was counted before")]
    BadCounts,
}

impl Discard {
    /// How many reasons there are.
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

/// How often each reason has come up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discards([u64; Discard::COUNT]);

impl Discards {
    /// Discards for this reason; of malformed messages, for whatever was wrong with them.
    pub const fn of(&self, reason: Discard) -> u64 {
        self.0[reason.index()]
    }

    /// All discards.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub(crate) fn add(&mut self, reason: Discard, count: u64) {
        self.0[reason.index()] += count;
    }

    /// Counts a refusal, and hands the result on.
    pub(crate) fn count<T>(&mut self, result: Result<T, Discard>) -> Result<T, Discard> {
        match result {
            Ok(taken) => Ok(taken),
            Err(reason) => Err(self.refuse(reason)),
        }
    }

    /// A refusal is the exception: what is taken has the straight way.
    #[cold]
    #[inline(never)]
    fn refuse(&mut self, reason: Discard) -> Discard {
        self.add(reason, 1);
        reason
    }
}
