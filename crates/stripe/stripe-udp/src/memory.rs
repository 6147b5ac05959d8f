//! Ports in memory, for whoever drives ends in a time of his own and stands in for what is between
//! them: an end does with one what it does with a socket of UDP.
//!
//! ```text
//!   end ── send ──► sent ──► [`MemoryPort`], whoever drives it
//!       ◄─ receive ─ came ◄──
//! ```
//!
//! Invariant: nothing here reads a clock, or waits.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use gingham_stripe::Instant;
use nix::errno::Errno;

use crate::link::{Arrival, Payload};

/// Where a link in memory begins and ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    /// What stands in for its socket.
    pub port: MemoryPort,
    /// The address at the other end; unspecified where it is learned.
    pub remote: SocketAddr,
}

impl MemoryPlan {
    /// It counts as IPv4 and UDP do.
    pub(crate) const HEADER_BYTES: u32 = 20 + 8;
}

/// A datagram: where it goes to or came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The other address.
    pub address: SocketAddr,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// What stands in for a socket; its clones are one.
#[derive(Clone, Debug)]
pub struct MemoryPort(Rc<RefCell<Queues>>);

#[derive(Debug)]
struct Queues {
    is_there: bool,
    datagram_bytes_max: usize,
    sent: Vec<Datagram>,
    came: VecDeque<(Instant, Datagram)>,
}

impl PartialEq for MemoryPort {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for MemoryPort {}

impl MemoryPort {
    /// One whose interface takes datagrams of this length at most.
    pub fn new(datagram_bytes_max: usize) -> Self {
        let (sent, came) = (Vec::new(), VecDeque::new());
        Self(Rc::new(RefCell::new(Queues { is_there: true, datagram_bytes_max, sent, came })))
    }

    /// Its interface is there from now on, or gone.
    pub fn set_there(&self, is_there: bool) {
        self.0.borrow_mut().is_there = is_there;
    }

    /// A datagram has come from this address, at a time not before that of the last one.
    pub fn put(&self, at: Instant, datagram: Datagram) {
        self.0.borrow_mut().came.push_back((at, datagram));
    }

    /// What has come and was not taken is gone, as with the process that had the socket.
    pub fn forget(&self) {
        self.0.borrow_mut().came.clear();
    }

    /// What was sent since this was asked for last, in its order.
    pub fn take(&self) -> Vec<Datagram> {
        std::mem::take(&mut self.0.borrow_mut().sent)
    }

    /// As long as its interface is there it can be had.
    pub(crate) fn open(&self) -> io::Result<()> {
        if self.0.borrow().is_there { Ok(()) } else { Err(Errno::ENODEV.into()) }
    }

    pub(crate) fn send(
        &self,
        to: SocketAddr,
        bytes: &[u8],
        segment_bytes: usize,
    ) -> io::Result<()> {
        let mut queues = self.0.borrow_mut();
        if !queues.is_there {
            return Err(Errno::ENETDOWN.into());
        }
        for one in bytes.chunks(segment_bytes) {
            if one.len() > queues.datagram_bytes_max {
                return Err(Errno::EMSGSIZE.into());
            }
            queues.sent.push(Datagram { address: to, bytes: one.to_vec() });
        }
        Ok(())
    }

    /// Takes what has come, a datagram a buffer: how many.
    pub(crate) fn receive(
        &self,
        bytes: &mut [u8],
        buffer_bytes: usize,
        arrivals: &mut [Arrival],
    ) -> io::Result<usize> {
        let mut queues = self.0.borrow_mut();
        if !queues.is_there {
            queues.came.clear();
        }
        let count = arrivals.len().min(queues.came.len());
        if count == 0 {
            return Err(Errno::EAGAIN.into());
        }
        let buffers = bytes.chunks_mut(buffer_bytes).zip(arrivals);
        for ((at, datagram), (buffer, arrival)) in queues.came.drain(..count).zip(buffers) {
            let length = datagram.bytes.len().min(buffer.len());
            buffer[..length].copy_from_slice(&datagram.bytes[..length]);
            *arrival = Arrival {
                stamp: Some(Duration::from_nanos(at.nanoseconds())),
                bytes: length,
                stride: length.max(1),
                payload: Payload::Packets,
                is_ours: false,
                from: Some(datagram.address),
                ecn: 0,
            };
        }
        Ok(count)
    }
}
