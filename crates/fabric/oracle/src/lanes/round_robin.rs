//! Round robin: selection of the first candidate after the last winner.

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundRobin {
    last_winner: Option<usize>,
}

impl RoundRobin {
    /// Returns the first number that satisfies `can_go`, starting after the last winner, or
    /// initially from 0.
    pub(crate) fn first(self, count: usize, can_go: impl Fn(usize) -> bool) -> Option<usize> {
        let start = self.last_winner.map_or(0, |winner| winner + 1);
        (0..count).map(|step| (start + step) % count).find(|number| can_go(*number))
    }

    pub(crate) fn won(&mut self, winner: usize) {
        self.last_winner = Some(winner);
    }
}
