//! Recycled packet buffers, which return to the pool when dropped.
//!
//! The buffer length is the packet length, rounded up to [`STEP_BYTES`], so that short packets use
//! little of the memory limits (`gingham_stripe::Charge`).
//!
//! Invariant: a buffer is only allocated if no free buffer has the required length.

use std::cell::RefCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// Maximum bytes of free buffers: 130 ms of data at 1 Gbit/s, more than the wait for a lost packet
/// on most paths.
const FREE_BYTES_MAX: usize = 16 << 20;

/// Allocation granularity in bytes on 64-bit machines.
const STEP_BYTES: usize = 16;

/// Shortest buffer: two steps, minus the allocator's header of 8 bytes.
const SHORTEST_BYTES: usize = 2 * STEP_BYTES - 8;

#[derive(Clone)]
pub(crate) struct Pool(Rc<RefCell<Free>>);

struct Free {
    buffers: Vec<Vec<Vec<u8>>>,
    bytes: usize,
    oldest: usize,
    longest_bytes: usize,
}

impl Free {
    const fn place(bytes: usize) -> usize {
        bytes.saturating_sub(SHORTEST_BYTES).div_ceil(STEP_BYTES)
    }

    fn make_room(&mut self, place: usize, bytes: usize) -> bool {
        while self.bytes + bytes > FREE_BYTES_MAX {
            if self.buffers[place].len() * bytes >= self.bytes {
                return false;
            }
            self.oldest = (self.oldest + 1) % self.buffers.len();
            if self.oldest != place
                && let Some(other) = self.buffers[self.oldest].pop()
            {
                self.bytes -= other.capacity();
            }
        }
        true
    }
}

impl Pool {
    pub(crate) fn new(longest_bytes: usize) -> Self {
        let buffers = vec![Vec::new(); Free::place(longest_bytes) + 1];
        Self(Rc::new(RefCell::new(Free { buffers, bytes: 0, oldest: 0, longest_bytes })))
    }

    pub(crate) fn copy(&self, packet: &[u8]) -> Buffer {
        let mut free = self.0.borrow_mut();
        let packet = &packet[..packet.len().min(free.longest_bytes)];
        let place = Free::place(packet.len());
        let mut bytes = if let Some(bytes) = free.buffers[place].pop() {
            free.bytes -= bytes.capacity();
            bytes
        } else {
            Vec::with_capacity(SHORTEST_BYTES + place * STEP_BYTES)
        };
        bytes.extend_from_slice(packet);
        Buffer { bytes, pool: self.clone() }
    }

    pub(crate) fn shrink(&self) {
        let mut free = self.0.borrow_mut();
        free.buffers.iter_mut().for_each(|buffers| *buffers = Vec::new());
        free.bytes = 0;
    }

    fn put_back(&self, mut bytes: Vec<u8>) {
        let (mut free, length) = (self.0.borrow_mut(), bytes.capacity());
        let place = Free::place(length);
        if free.make_room(place, length) {
            bytes.clear();
            free.bytes += length;
            free.buffers[place].push(bytes);
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let free = self.0.borrow();
        f.debug_struct("Pool").field("free", &free.bytes).finish_non_exhaustive()
    }
}

/// Packet buffer, which returns to the pool when dropped.
pub struct Buffer {
    bytes: Vec<u8>,
    pool: Pool,
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.pool.put_back(std::mem::take(&mut self.bytes));
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Buffer").field(&self.bytes).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(pool: &Pool) -> usize {
        pool.0.borrow().buffers.iter().map(Vec::len).sum()
    }

    #[test]
    fn freed_buffer_is_reused_for_packet_of_same_length() {
        let pool = Pool::new(100);
        let first = pool.copy(b"first");
        let at = first.as_ptr();
        assert_eq!((&*first, free(&pool)), (&b"first"[..], 0));
        drop(first);
        assert_eq!(free(&pool), 1);
        let other = pool.copy(&[7; 25]);
        assert_eq!((&*other, free(&pool)), (&[7; 25][..], 1));
        let next = pool.copy(b"next");
        assert_eq!((&*next, next.as_ptr(), free(&pool)), (&b"next"[..], at, 0));
    }

    #[test]
    fn buffer_capacity_exceeds_packet_by_less_than_a_step() {
        let pool = Pool::new(1_500);
        for length in 1..=1_500 {
            let capacity = pool.copy(&vec![0; length]).bytes.capacity();
            let is_least = capacity == SHORTEST_BYTES || capacity < length + STEP_BYTES;
            assert!(capacity >= length && is_least, "{capacity} for {length}");
            assert_eq!((Free::place(capacity), capacity % STEP_BYTES), (Free::place(length), 8));
        }
    }

    #[test]
    fn free_buffers_are_bounded() {
        let third = FREE_BYTES_MAX / 3 - STEP_BYTES;
        let pool = Pool::new(third);
        let buffers: Vec<_> = (0..5).map(|_| pool.copy(&vec![0; third])).collect();
        let short: Vec<_> = (0..9).map(|_| pool.copy(&vec![0; third / 2])).collect();
        drop(buffers);
        assert_eq!(free(&pool), 3);
        drop(short);
        let lengths = |length| pool.0.borrow().buffers[Free::place(length)].len();
        assert_eq!((lengths(third), lengths(third / 2)), (0, 6));
    }

    #[test]
    fn shrink_releases_free_buffers() {
        let pool = Pool::new(100);
        (0..3).for_each(|_| drop([pool.copy(b"short"), pool.copy(&[7; 90])]));
        pool.shrink();
        assert_eq!((free(&pool), pool.0.borrow().bytes), (0, 0));
        drop(pool.copy(b"again"));
        assert_eq!(free(&pool), 1);
    }

    #[test]
    fn oversized_packet_is_truncated() {
        let pool = Pool::new(4);
        assert_eq!(&*pool.copy(b"123456"), b"1234");
    }
}
