//! Fate of a packet: it arrives, possibly twice, or is dropped for a reason.

use gingham_kernel::Time;

/// Arrival of one copy of a packet at the far end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Arrival time of the last byte.
    pub at: Time,
    /// First damaged bit, counted from 0, the highest bit of the first byte; `None` if intact.
    pub flipped_bit: Option<u64>,
    /// Whether it was held back, so that later packets may have overtaken it.
    pub held_back: bool,
}

impl Arrival {
    /// Whether it is damaged.
    pub const fn is_corrupted(&self) -> bool {
        self.flipped_bit.is_some()
    }
}

/// Reason why a packet does not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropReason {
    /// The packet exceeded the policer's rate and burst.
    Policed,
    /// The queue was full.
    QueueFull,
    /// The packet was in transit during an outage.
    Outage,
    /// The packet was lost.
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
    /// The packet and its duplicate arrive, the duplicate later unless the first was held back.
    ArrivesTwice(Arrival, Arrival),
    /// No copy arrives. For a duplicated packet the reason is that of the first copy.
    Dropped(DropReason),
}

impl Fate {
    /// Returns the arrivals in the order of the copies.
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
