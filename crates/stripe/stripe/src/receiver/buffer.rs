//! Buffer for the received packets and markers of a channel, in order.
//!
//! Invariants: no marker is at the head, and the later of two adjacent markers replaces the earlier
//! one: there are at most two items per packet. Memory is allocated on first use, so that idle
//! pipes use none.

use std::collections::VecDeque;

use gingham_fairq::Standing;

use crate::tag::ahead;
use crate::{Charge, Instant};

#[derive(Clone, Debug)]
enum Item<P> {
    Packet { length_bytes: u32, sequence: u32, packet: P },
    Marker(Standing),
}

/// Capacity kept for reuse, in items: more than the packets that arrive in 30 ms at 1 Gbit/s.
const PLACES_KEPT: usize = 4_096;

/// Makes room for one item. The capacity grows by a quarter, but at least by 64 items, so that the
/// memory used exceeds the charge only slightly (see [`Charge::BYTES`]).
#[inline]
pub(super) fn make_place<T>(places: &mut VecDeque<T>) {
    if places.len() == places.capacity() {
        grow(places);
    }
}

#[cold]
#[inline(never)]
fn grow<T>(places: &mut VecDeque<T>) {
    places.reserve_exact((places.len() / 4).max(64));
}

#[cold]
#[inline(never)]
fn shrink<T>(places: &mut VecDeque<T>) {
    places.shrink_to(PLACES_KEPT);
}

#[derive(Clone, Debug)]
pub(super) struct Buffer<P> {
    items: VecDeque<Item<P>>,
    packets: usize,
    bytes: u64,
    first_since: Instant,
}

impl<P> Buffer<P> {
    pub(super) const fn new() -> Self {
        Self { items: VecDeque::new(), packets: 0, bytes: 0, first_since: Instant::ORIGIN }
    }

    pub(super) const fn packets(&self) -> usize {
        self.packets
    }

    pub(super) const fn held(&self, charge: Charge) -> u64 {
        charge.of_both(self.packets as u64, self.bytes)
    }

    pub(super) fn head(&self) -> Option<u32> {
        match self.items.front() {
            Some(Item::Packet { sequence, .. }) => Some(*sequence),
            _ => None,
        }
    }

    pub(super) fn has(&self, sequence: u32) -> bool {
        let number = |place: usize| match self.items.get(place) {
            Some(Item::Packet { sequence, .. }) => Some(*sequence),
            _ => None,
        };
        let (mut low, mut high) = (0, self.items.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match number(middle).or_else(|| number(middle + 1)).map(|one| ahead(one, sequence)) {
                Some(0) => return true,
                Some(..0) => low = middle + 1,
                _ => high = middle,
            }
        }
        false
    }

    pub(super) fn waiting_since(&self) -> Option<Instant> {
        (self.packets > 0).then_some(self.first_since)
    }

    pub(super) fn push_packet(&mut self, now: Instant, length_bytes: u32, packet: P) {
        self.push_numbered(now, 0, length_bytes, packet);
    }

    #[inline]
    pub(super) fn push_numbered(
        &mut self,
        now: Instant,
        sequence: u32,
        length_bytes: u32,
        packet: P,
    ) {
        if self.packets == 0 {
            self.first_since = now;
        }
        self.packets += 1;
        self.bytes = self.bytes.wrapping_add(length_bytes.into());
        make_place(&mut self.items);
        self.items.push_back(Item::Packet { length_bytes, sequence, packet });
    }

    pub(super) fn push_marker(&mut self, standing: Standing) {
        debug_assert!(self.packets > 0, "a marker at the head is read, not kept");
        if let Some(Item::Marker(last)) = self.items.back_mut() {
            *last = standing;
        } else {
            make_place(&mut self.items);
            self.items.push_back(Item::Marker(standing));
        }
    }

    #[inline]
    pub(super) fn pop(&mut self, now: Instant) -> Option<(u32, P, Option<Standing>)> {
        let Some(Item::Packet { length_bytes, packet, .. }) = self.items.pop_front() else {
            (self.packets, self.bytes) = (0, 0);
            return None;
        };
        self.packets = self.packets.saturating_sub(1);
        self.bytes = self.bytes.wrapping_sub(length_bytes.into());
        self.first_since = now;
        if self.items.is_empty() {
            // After clearing, the ring buffer starts at its first slot, which is likely to be in
            // the cache.
            self.items.clear();
            if self.items.capacity() > PLACES_KEPT {
                shrink(&mut self.items);
            }
        }
        let marker = match self.items.front() {
            Some(Item::Marker(standing)) => Some(*standing),
            _ => None,
        };
        if marker.is_some() {
            self.items.pop_front();
        }
        Some((length_bytes, packet, marker))
    }

    pub(super) fn repair_state(&mut self, now: Instant, longest_bytes: u32) {
        // A wrong count can let a marker reach the head and hide the packets behind it.
        if matches!(self.items.front(), Some(Item::Marker(_))) {
            self.items.pop_front();
        }
        let items = self.items.len();
        let packets = self.packets as u64;
        let can_be = packets..=packets.saturating_mul(longest_bytes.into());
        if self.packets > items
            || items > self.packets.saturating_mul(2)
            || !can_be.contains(&self.bytes)
        {
            self.count_anew();
        }
        self.first_since = self.first_since.min(now);
    }

    fn count_anew(&mut self) {
        (self.packets, self.bytes) = (0, 0);
        for item in &self.items {
            if let Item::Packet { length_bytes, .. } = item {
                self.packets += 1;
                self.bytes += u64::from(*length_bytes);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.items.clear();
        (self.packets, self.bytes) = (0, 0);
    }
}

#[cfg(test)]
crate::corruption::corrupt!(Buffer<P>: packets, first_since, bytes);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_at_the_head_after_a_wrong_count_is_removed() {
        let mut buffer = Buffer::new();
        buffer.packets = 1;
        buffer.push_marker(Standing::out(gingham_fairq::Round::new(1)));
        buffer.push_packet(Instant::ORIGIN, 100, 7);
        assert_eq!(buffer.head(), None);
        buffer.repair_state(Instant::ORIGIN, 100);
        assert_eq!((buffer.head(), buffer.packets(), buffer.bytes), (Some(0), 1, 100));
    }
}
