//! The searched states: a state is skipped if its budget and its guarantees are covered by a
//! searched one.
//!
//! ```text
//!   equal ends and equal channels, and
//!     an equal or smaller budget     |  no new successors
//!     equal or fewer guarantees      |  no new errors
//! ```
//!
//! Most states that a fault does not change are searched once, without it.

use std::collections::BTreeMap;

use crate::event::Left;
use crate::ledger::Ledger;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Nothing,
    /// A state with at least its guarantees was searched, with a smaller budget.
    Recovers,
    /// A state with at least its guarantees and its budget was searched.
    Explored,
}

/// By the fingerprint of ends and channels, numbered within equal fingerprints.
#[derive(Debug, Default)]
pub(crate) struct Visited(BTreeMap<(u128, u32), (Left, Ledger)>);

impl Visited {
    pub(crate) fn states(&self) -> usize {
        self.0.len()
    }

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
    fn state_is_explored_again_with_more_events_or_guarantees() {
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
