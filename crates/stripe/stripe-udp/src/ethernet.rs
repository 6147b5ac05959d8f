//! A channel over Ethernet, with unmodified packets.
//!
//! ```text
//!   | to 6 | from 6 | EtherType of packets 2  | IP packet            |
//!   | to 6 | from 6 | EtherType of messages 2 | protocol message     |
//! ```
//!
//! With offload (veth), packets are coalesced by the kernel and carry segmentation metadata
//! (`PACKET_VNET_HDR`). The kernel segments only frames of a socket with an IP EtherType; the frame
//! itself has the EtherType of packets.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 6.1; packet(7).

mod address;
mod filter;
mod interface;
mod options;
mod receiving;
mod sending;
mod virtio;

use std::io;
use std::os::fd::BorrowedFd;

use socket2::{Domain, Protocol, Socket, Type};

use crate::error::full;
use crate::link::{Arrival, Batches};
use crate::run::Run;
use crate::socket::BufferPlan;

pub use address::{EtherTypes, MacAddress};
pub use interface::{EtherTypeUse, Interface};
pub(crate) use virtio::VIRTIO_BYTES;

use receiving::Receiver;
use sending::Sender;

const HEADER_BYTES: usize = 14;
const MESSAGE_ROOM_BYTES: usize = 256;
/// Longest IP packet without the jumbogram option, in bytes.
const WHOLE_BYTES: usize = 65_535;
/// Maximum frames per call; 1 Gbit/s delivers them in 0.75 ms.
const FRAMES: usize = 64;
/// Maximum frames per call with offload; each has about forty segments.
const WHOLE_FRAMES: usize = 16;

/// Parameters of a channel over Ethernet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EthernetPlan {
    /// Local interface.
    pub interface: String,
    /// MAC address of the other end.
    pub peer: MacAddress,
    /// EtherTypes, identical at both ends.
    pub ether_types: EtherTypes,
    /// Longest packet in a frame, in bytes.
    pub longest_bytes: u32,
    /// Whether the interface passes frames longer than its MTU unsegmented.
    pub is_offloaded: bool,
    /// Send buffer size in bytes; transmission pauses while it is full.
    pub waiting_bytes: usize,
}

impl EthernetPlan {
    fn batches(&self) -> Batches {
        if self.is_offloaded {
            return Batches { count: WHOLE_FRAMES, bytes: VIRTIO_BYTES + WHOLE_BYTES };
        }
        let bytes = (self.longest_bytes as usize).max(MESSAGE_ROOM_BYTES);
        Batches { count: FRAMES, bytes }
    }
}

#[derive(Debug)]
pub(crate) struct EthernetLink {
    plan: EthernetPlan,
    buffers: BufferPlan,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    sender: Sender,
    receiver: Receiver,
    _claims: [Socket; 2],
}

impl EthernetLink {
    pub(crate) fn open(plan: EthernetPlan, buffers: BufferPlan) -> io::Result<Self> {
        let open = Some(Open::new(&plan, &buffers)?);
        Ok(Self { plan, buffers, open })
    }

    pub(crate) fn reopen(&mut self) -> io::Result<()> {
        self.open = Some(Open::new(&self.plan, &self.buffers)?);
        Ok(())
    }

    pub(crate) fn close(&mut self) {
        self.open = None;
    }

    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.open.as_ref().map(|open| open.receiver.as_fd())
    }

    pub(crate) fn full_fd(&self) -> Option<BorrowedFd<'_>> {
        self.open.as_ref().map(|open| open.sender.full_fd())
    }

    pub(crate) fn batches(&self) -> Batches {
        self.plan.batches()
    }

    pub(crate) fn send(&mut self, run: &Run, from: usize) -> io::Result<usize> {
        let open = self.open.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        match open.sender.send(run, from)? {
            0 => Err(full()),
            frames => Ok(frames),
        }
    }

    pub(crate) fn receive(
        &mut self,
        bytes: &mut [u8],
        arrivals: &mut [Arrival],
    ) -> io::Result<usize> {
        let open = self.open.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        open.receiver.receive(bytes, arrivals)
    }
}

impl Open {
    fn new(plan: &EthernetPlan, buffers: &BufferPlan) -> io::Result<Self> {
        let interface = Interface::named(&plan.interface)?;
        let claim = |ether_type| muted(&interface, ether_type);
        Ok(Self {
            sender: Sender::open(plan, &interface)?,
            receiver: Receiver::open(plan, &interface, buffers)?,
            _claims: [claim(plan.ether_types.packets)?, claim(plan.ether_types.messages)?],
        })
    }
}

fn muted(interface: &Interface, ether_type: u16) -> io::Result<Socket> {
    // The kernel expects network byte order (packet(7)).
    let protocol = Protocol::from(i32::from(ether_type.to_be()));
    let socket = Socket::new(Domain::PACKET, Type::RAW, Some(protocol))?;
    socket.attach_filter(&filter::nothing())?;
    interface.bind(&socket)?;
    Ok(socket)
}
