//! Known source addresses of each peer. A datagram from a known address is first offered to that
//! peer's end.
//!
//! Invariant: an end has at most one address per channel and port, plus `SPARE_MAX`.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use crate::end::Origin;
use crate::port::plain;

/// Maximum number of former addresses and handshake sources per end, in addition to its channels'
/// addresses. Datagrams from forgotten addresses are identified by their keys.
const SPARE_MAX: usize = 8;

type Place = (u64, SocketAddr);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) end: usize,
    /// Whether the owner did not send the last datagram from the address; a NAT may have reassigned
    /// it.
    pub(super) is_doubtful: bool,
}

#[derive(Debug, Default)]
pub(super) struct Places {
    owners: BTreeMap<Place, Owner>,
    places: Vec<VecDeque<Place>>,
}

impl Places {
    pub(super) fn place(origin: Origin<'_>) -> Place {
        (origin.port.borrow().id, plain(origin.from))
    }

    pub(super) fn owner(&self, place: Place) -> Option<Owner> {
        self.owners.get(&place).copied()
    }

    pub(super) fn set_doubtful(&mut self, place: Place, is_doubtful: bool) {
        if let Some(owner) = self.owners.get_mut(&place) {
            owner.is_doubtful = is_doubtful;
        }
    }

    /// Assigns an address to a single end. `is_used` returns whether a channel uses the address.
    pub(super) fn learn(&mut self, place: Place, end: usize, is_used: impl Fn(SocketAddr) -> bool) {
        match self.owners.insert(place, Owner { end, is_doubtful: false }) {
            Some(before) if before.end == end => return,
            Some(before) => self.places[before.end].retain(|one| *one != place),
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
    fn place_belongs_to_latest_end_and_few_are_kept_per_end() {
        let mut places = Places::default();
        let used = |address: SocketAddr| address.port() == 0;
        for port in 0..20 {
            places.learn(place(port), 3, used);
        }
        let known = |places: &Places| -> Vec<u16> {
            let is_its = |port: &u16| places.owner(place(*port)).is_some_and(|one| one.end == 3);
            (0..20).filter(is_its).collect()
        };
        assert_eq!(known(&places), [0, 12, 13, 14, 15, 16, 17, 18, 19]);
        places.set_doubtful(place(15), true);
        assert!(places.owner(place(15)).is_some_and(|one| one.is_doubtful));
        places.learn(place(15), 0, used);
        let others = Some(Owner { end: 0, is_doubtful: false });
        assert_eq!(places.owner(place(15)), others);
        places.forget(3);
        assert_eq!((places.owners.len(), places.owner(place(15))), (1, others));
        places.forget(0);
        assert!(places.owners.is_empty());
    }
}
