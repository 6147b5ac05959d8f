//! Round robin: the first from the one after the last winner on.

/// A pointer into a round of numbers from 0 on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundRobin {
    last_winner: Option<usize>,
}

impl RoundRobin {
    /// The first of the numbers below `count` that can go, from the one after the last winner on;
    /// from 0 on if nobody won yet.
    pub(crate) fn first(self, count: usize, can_go: impl Fn(usize) -> bool) -> Option<usize> {
        let start = self.last_winner.map_or(0, |winner| winner + 1);
        (0..count).map(|step| (start + step) % count).find(|number| can_go(*number))
    }

    /// A number has won.
    pub(crate) fn won(&mut self, winner: usize) {
        self.last_winner = Some(winner);
    }
}
