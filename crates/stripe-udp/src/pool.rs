//! Buffers of packets: each comes back when it is let go, whoever lets it go.
//!
//! ```text
//!   free | | | |   at most so many     packets that came, were kept to be sent again, or were given out
//!        ▲       └─ a packet is written ─► buffer ─┐
//!        └──────── given out, discarded, too late ─┘
//! ```
//!
//! Most packets that are discarded are let go within the protocol, which knows no buffers.
//!
//! Invariants: no more than so many bytes are free; none is allocated as long as some are.

use std::cell::RefCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// What is free at most: what 1 Gbit/s brings in 130 ms, which is longer than a lost packet is
/// waited for on most paths. Where more is let go at once it goes back to the system.
const FREE_BYTES_MAX: usize = 16 << 20;

/// Where buffers come from, and go to.
#[derive(Clone)]
pub(crate) struct Pool(Rc<RefCell<Free>>);

struct Free {
    buffers: Vec<Vec<u8>>,
    buffers_max: usize,
    longest_bytes: usize,
}

impl Pool {
    /// Of buffers for packets of at most this length.
    pub(crate) fn new(longest_bytes: usize) -> Self {
        let buffers_max = (FREE_BYTES_MAX / longest_bytes.max(1)).max(1);
        Self(Rc::new(RefCell::new(Free { buffers: Vec::new(), buffers_max, longest_bytes })))
    }

    /// A copy of a packet, which is no longer than the longest.
    pub(crate) fn copy(&self, packet: &[u8]) -> Buffer {
        let mut free = self.0.borrow_mut();
        let longest_bytes = free.longest_bytes;
        let mut bytes = free.buffers.pop().unwrap_or_else(|| Vec::with_capacity(longest_bytes));
        bytes.extend_from_slice(&packet[..packet.len().min(longest_bytes)]);
        Buffer { bytes, pool: self.clone() }
    }

    /// What is free goes back to the system.
    pub(crate) fn shrink(&self) {
        self.0.borrow_mut().buffers = Vec::new();
    }

    fn put_back(&self, mut bytes: Vec<u8>) {
        let mut free = self.0.borrow_mut();
        if free.buffers.len() < free.buffers_max {
            bytes.clear();
            free.buffers.push(bytes);
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let free = self.0.borrow();
        f.debug_struct("Pool").field("free", &free.buffers.len()).finish_non_exhaustive()
    }
}

/// The bytes of a packet. Their buffer serves another packet once this is dropped.
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
        pool.0.borrow().buffers.len()
    }

    #[test]
    fn a_buffer_that_is_let_go_serves_the_next_packet() {
        let pool = Pool::new(100);
        let first = pool.copy(b"first");
        let at = first.as_ptr();
        assert_eq!((&*first, free(&pool)), (&b"first"[..], 0));
        drop(first);
        assert_eq!(free(&pool), 1);
        let next = pool.copy(b"next");
        assert_eq!((&*next, next.as_ptr(), free(&pool)), (&b"next"[..], at, 0));
    }

    #[test]
    fn no_more_is_free_than_the_bound_says() {
        let pool = Pool::new(FREE_BYTES_MAX / 3);
        let buffers: Vec<_> = (0..5).map(|_| pool.copy(b"five")).collect();
        drop(buffers);
        assert_eq!(free(&pool), 3);
    }

    #[test]
    fn what_is_too_long_takes_no_more_room() {
        let pool = Pool::new(4);
        assert_eq!(&*pool.copy(b"123456"), b"1234");
    }
}
