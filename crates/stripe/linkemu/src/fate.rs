//! Fate of a packet.

use gingham_kernel::Time;

/// Arrival of one copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Arrival time of the last byte.
    pub at: Time,
    /// Position of the first damaged bit, counted from the highest bit of the first byte.
    pub flipped_bit: Option<u64>,
    /// Whether later packets may have overtaken it.
    pub held_back: bool,
}

impl Arrival {
    /// Whether the copy is damaged.
    pub const fn is_corrupted(&self) -> bool {
        self.flipped_bit.is_some()
    }
}

/// Reason why a packet is dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropReason {
    /// Above the policer's rate and burst.
    Policed,
    /// Full queue.
    QueueFull,
    /// Outage during transit.
    Outage,
    /// Random loss.
    Lost,
    /// Above the MTU.
    TooLong,
}

/// Fate of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use = "a packet arrives only if its fate is handled"]
pub enum Fate {
    /// One copy arrives.
    Arrives(Arrival),
    /// Both copies arrive.
    ArrivesTwice(Arrival, Arrival),
    /// No copy arrives; the reason is that of the first copy.
    Dropped(DropReason),
}

impl Fate {
    /// Arrivals in the order of the copies.
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
