//! Preallocated packet slots, linked into lists.

pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Waiting<P> {
    pub(crate) packet: P,
    pub(crate) bytes: u32,
    pub(crate) markable: bool,
    pub(crate) came_ns: u64,
}

#[derive(Debug)]
struct Place<P> {
    waiting: Option<Waiting<P>>,
    next: u32,
}

#[derive(Debug)]
pub(crate) struct Slab<P> {
    places: Vec<Place<P>>,
    free: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    first: u32,
    last: u32,
}

impl List {
    pub(crate) const EMPTY: Self = Self { first: NONE, last: NONE };

    pub(crate) const fn is_empty(self) -> bool {
        self.first == NONE
    }
}

impl<P> Slab<P> {
    pub(crate) fn new(places: u32) -> Self {
        assert!(places < NONE, "a list needs an end");
        let place = |index| Place {
            waiting: None,
            next: if index + 1 < places { index + 1 } else { NONE },
        };
        Self { places: (0..places).map(place).collect(), free: if places > 0 { 0 } else { NONE } }
    }

    pub(crate) fn push(&mut self, list: &mut List, waiting: Waiting<P>) {
        let index = self.free;
        assert!(index != NONE, "there is a place for one more than the limit");
        let place = &mut self.places[index as usize];
        self.free = place.next;
        (place.waiting, place.next) = (Some(waiting), NONE);
        if list.is_empty() {
            list.first = index;
        } else {
            self.places[list.last as usize].next = index;
        }
        list.last = index;
    }

    pub(crate) fn pop(&mut self, list: &mut List) -> Option<Waiting<P>> {
        let index = list.first;
        if index == NONE {
            return None;
        }
        let place = &mut self.places[index as usize];
        let waiting = place.waiting.take();
        list.first = place.next;
        place.next = self.free;
        self.free = index;
        waiting
    }
}
