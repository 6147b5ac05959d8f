//! Fate of a packet.

use gingham_kernel::Time;

/// Arrival of one copy of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Arrival time of the last byte.
    pub at: Time,
    /// Index of the first damaged bit, from the most significant bit of the first byte; `None` if
    /// intact.
    pub flipped_bit: Option<u64>,
    /// Whether the copy had the extra delay of [`Reordering`](crate::Reordering).
    pub held_back: bool,
}

impl Arrival {
    /// Returns whether the copy is damaged.
    pub const fn is_corrupted(&self) -> bool {
        self.flipped_bit.is_some()
    }
}

/// Reason why a packet is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropReason {
    /// The packet exceeded the policer's rate and burst.
    Policed,
    /// The queue was full.
    QueueFull,
    /// An outage overlapped the packet's transit.
    Outage,
    /// The packet was lost at random.
    Lost,
    /// The packet exceeded the MTU.
    TooLong,
}

/// Fate of an offered packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use = "a packet arrives only if its fate is handled"]
pub enum Fate {
    /// One copy arrives.
    Arrives(Arrival),
    /// The packet and its duplicate arrive.
    ArrivesTwice(Arrival, Arrival),
    /// No copy arrives; the reason applies to the first copy.
    Dropped(DropReason),
}

impl Fate {
    /// Returns the arrivals, the packet before its duplicate.
    pub fn arrivals(self) -> impl Iterator<Item = Arrival> {
        let arrivals = match self {
            Self::Arrives(arrival) => [Some(arrival), None],
            Self::ArrivesTwice(first, second) => [Some(first), Some(second)],
            Self::Dropped(_) => [None, None],
        };
        arrivals.into_iter().flatten()
    }

    pub(crate) fn of_copies(
        first: Result<Arrival, DropReason>,
        second: Result<Arrival, DropReason>,
    ) -> Self {
        match (first, second) {
            (Ok(first), Ok(second)) => Self::ArrivesTwice(first, second),
            (Ok(arrival), Err(_)) | (Err(_), Ok(arrival)) => Self::Arrives(arrival),
            (Err(reason), Err(_)) => Self::Dropped(reason),
        }
    }
}

impl From<Result<Arrival, DropReason>> for Fate {
    fn from(only: Result<Arrival, DropReason>) -> Self {
        match only {
            Ok(arrival) => Self::Arrives(arrival),
            Err(reason) => Self::Dropped(reason),
        }
    }
}
