//! From where which end's other side was heard: what comes from there is given to that end first.
//!
//! Invariant: of an end so many places are known as it has channels there, and a few more.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use crate::end::Origin;
use crate::port::plain;

/// Places of an end that are those of no channel: where a handshake came from, and where channels
/// were before. What comes from one that was forgotten is told by keys.
const SPARE_MAX: usize = 8;

/// A port of ours, and an address that sends to it.
type Place = (u64, SocketAddr);

/// Whose place is where.
#[derive(Debug, Default)]
pub(super) struct Places {
    owners: BTreeMap<Place, usize>,
    /// Of each end, the oldest first.
    places: Vec<VecDeque<Place>>,
}

impl Places {
    pub(super) fn place(origin: Origin<'_>) -> Place {
        (origin.port.borrow().id, plain(origin.from))
    }

    pub(super) fn owner(&self, place: Place) -> Option<usize> {
        self.owners.get(&place).copied()
    }

    /// An end's other side is there from now on, and no other's. `is_used` says whether an address is
    /// that of a channel of the end.
    pub(super) fn learn(&mut self, place: Place, end: usize, is_used: impl Fn(SocketAddr) -> bool) {
        match self.owners.insert(place, end) {
            Some(before) if before == end => return,
            Some(before) => self.places[before].retain(|one| *one != place),
            None => {}
        }
        if self.places.len() <= end {
            self.places.resize_with(end + 1, VecDeque::new);
        }
        let places = &mut self.places[end];
        let spare = places.iter().filter(|one| !is_used(one.1)).count();
        if spare >= SPARE_MAX
            && let Some(oldest) = places.iter().position(|one| !is_used(one.1))
            && let Some(oldest) = places.remove(oldest)
        {
            self.owners.remove(&oldest);
        }
        places.push_back(place);
    }

    /// Nothing is that end's.
    pub(super) fn forget(&mut self, end: usize) {
        for place in self.places.get_mut(end).into_iter().flat_map(std::mem::take) {
            self.owners.remove(&place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(port: u16) -> Place {
        (1, SocketAddr::from(([192, 0, 2, 1], port)))
    }

    #[test]
    fn a_place_is_of_who_was_heard_there_last_and_few_are_kept() {
        let mut places = Places::default();
        let used = |address: SocketAddr| address.port() == 0;
        for port in 0..20 {
            places.learn(place(port), 3, used);
        }
        let known = |places: &Places| -> Vec<u16> {
            (0..20).filter(|port| places.owner(place(*port)) == Some(3)).collect()
        };
        assert_eq!(known(&places), [0, 12, 13, 14, 15, 16, 17, 18, 19]);
        places.learn(place(15), 0, used);
        assert_eq!(places.owner(place(15)), Some(0));
        places.forget(3);
        assert_eq!((places.owners.len(), places.owner(place(15))), (1, Some(0)));
        places.forget(0);
        assert!(places.owners.is_empty());
    }
}
