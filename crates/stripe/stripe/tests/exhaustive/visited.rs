//! What has been searched: a state that can do no more than one that was, and of which no more is
//! promised, is left alone.
//!
//! ```text
//!   the same ends and the same on every channel, and
//!     as much left that may happen, or less  |  nothing can come of it that was not seen
//!     as much promised, or less              |  nothing is wrong that was not wrong there
//! ```
//!
//! So most of what a fault does not change is searched once, without it.
//!
//! Invariant: what has been entered is explored, or the search ends with a failure.

use std::collections::BTreeMap;

use crate::event::Left;
use crate::ledger::Ledger;

/// What is known of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Nothing,
    /// The same with no less promised, with less left.
    Recovers,
    /// The same with no less promised, and no less left.
    Explored,
}

/// States by the fingerprint of ends and channels, numbered where they have the same.
#[derive(Debug, Default)]
pub(crate) struct Visited(BTreeMap<(u128, u32), (Left, Ledger)>);

impl Visited {
    pub(crate) fn states(&self) -> usize {
        self.0.len()
    }

    /// A state is explored now, unless it was.
    pub(crate) fn enter(&mut self, print: u128, left: Left, ledger: Ledger) -> Known {
        let (mut known, mut number) = (Known::Nothing, 0);
        for (_, (other, promised)) in self.0.range((print, 0)..=(print, u32::MAX)) {
            number += 1;
            if promised.covers(&ledger) {
                if other.covers(left) {
                    return Known::Explored;
                }
                known = Known::Recovers;
            }
        }
        self.0.insert((print, number), (left, ledger));
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_explored_again_if_more_may_happen_or_more_is_promised() {
        let one = Left {
            packets: 1,
            faults: 1,
            losses: 1,
            repeats: 0,
            restarts: 0,
            outages: 0,
            pauses: 0,
        };
        let (none, more) = (Left { faults: 0, ..one }, Left { packets: 2, ..one });
        let whole = Ledger::new(true);
        let mut lossy = whole;
        lossy.lose(None);
        let mut visited = Visited::default();
        assert_eq!(visited.enter(7, one, lossy), Known::Nothing);
        assert_eq!(visited.enter(7, none, lossy), Known::Explored);
        assert_eq!(visited.enter(7, more, lossy), Known::Recovers);
        assert_eq!(visited.enter(7, none, whole), Known::Nothing);
        assert_eq!(visited.enter(8, one, lossy), Known::Nothing);
        assert_eq!(visited.states(), 4);
    }
}
