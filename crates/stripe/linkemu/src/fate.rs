//! What becomes of a packet: it arrives, perhaps twice, or is dropped for a reason.

use gingham_kernel::Time;

/// One copy of a packet at the far end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When its last byte is there.
    pub at: Time,
    /// The first of its bits that is damaged, counted from 0, the first byte's highest; none if it
    /// is intact.
    pub flipped_bit: Option<u64>,
    /// Whether it was held back, so that later packets may have overtaken it.
    pub held_back: bool,
}

impl Arrival {
    /// Whether it differs from what was offered.
    pub const fn is_corrupted(&self) -> bool {
        self.flipped_bit.is_some()
    }
}

/// Why a packet does not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropReason {
    /// It came faster than the policer lets through.
    Policed,
    /// It found no room in the queue.
    QueueFull,
    /// It was on its way during an outage.
    Outage,
    /// It was lost.
    Lost,
    /// It was longer than what crosses.
    TooLong,
}

/// What becomes of a packet that was offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use = "a packet whose fate nobody looks at arrives nowhere"]
pub enum Fate {
    /// One copy of it arrives.
    Arrives(Arrival),
    /// It was duplicated, and both arrive: the packet and its duplicate, which is the later one
    /// unless the first was held back.
    ArrivesTwice(Arrival, Arrival),
    /// It does not arrive; of a duplicated packet neither does, and the reason is that of the
    /// first.
    Dropped(DropReason),
}

impl Fate {
    /// The arrivals, in the order of copies.
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
