//! In-memory ports that replace UDP sockets, for tests and simulations in virtual time.
//!
//! Invariant: no function reads a clock or blocks.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use gingham_stripe::Instant;
use nix::errno::Errno;

use crate::link::{Arrival, Payload};

/// Parameters of an in-memory link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Port.
    pub port: MemoryPort,
    /// Address of the other end, unspecified if unknown.
    pub remote: SocketAddr,
}

impl MemoryPlan {
    /// Length of IPv4 and UDP headers, counted although they are absent.
    pub(crate) const HEADER_BYTES: u32 = 20 + 8;
}

/// Datagram of an in-memory port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Destination of a sent datagram, or source of a received datagram.
    pub address: SocketAddr,
    /// Payload.
    pub bytes: Vec<u8>,
}

/// Port that replaces a socket; clones share its queues.
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
    /// Creates a port for datagrams of at most `datagram_bytes_max` bytes.
    pub fn new(datagram_bytes_max: usize) -> Self {
        let (sent, came) = (Vec::new(), VecDeque::new());
        Self(Rc::new(RefCell::new(Queues { is_there: true, datagram_bytes_max, sent, came })))
    }

    /// Simulates adding or removing the network interface.
    pub fn set_there(&self, is_there: bool) {
        self.0.borrow_mut().is_there = is_there;
    }

    /// Delivers a datagram, which must not arrive earlier than the previous one.
    pub fn put(&self, at: Instant, datagram: Datagram) {
        self.0.borrow_mut().came.push_back((at, datagram));
    }

    /// Discards received datagrams, as at the end of a process.
    pub fn forget(&self) {
        self.0.borrow_mut().came.clear();
    }

    /// Removes and returns the datagrams sent since the last call.
    pub fn take(&self) -> Vec<Datagram> {
        std::mem::take(&mut self.0.borrow_mut().sent)
    }

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
