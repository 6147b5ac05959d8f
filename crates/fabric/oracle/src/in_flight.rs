//! Packets in flight, by id.

use gingham_kernel::id_type;

id_type!(
    /// Id of a packet in flight; reused after arrival.
    InFlightId
);

#[derive(Clone, Debug)]
pub(crate) struct InFlight<T> {
    slots: Vec<Option<T>>,
    free: Vec<InFlightId>,
}

impl<T> Default for InFlight<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> InFlight<T> {
    pub(crate) fn insert(&mut self, packet: T) -> InFlightId {
        if let Some(id) = self.free.pop() {
            self.slots[id.index()] = Some(packet);
            return id;
        }
        self.slots.push(Some(packet));
        InFlightId::new(self.slots.len() - 1)
    }

    pub(crate) fn remove(&mut self, id: InFlightId) -> T {
        self.free.push(id);
        self.slots[id.index()].take().expect("a packet arrives once")
    }

    pub(crate) fn get(&self, id: InFlightId) -> &T {
        self.slots[id.index()].as_ref().expect("the packet is under way")
    }

    pub(crate) fn get_mut(&mut self, id: InFlightId) -> &mut T {
        self.slots[id.index()].as_mut().expect("the packet is under way")
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
