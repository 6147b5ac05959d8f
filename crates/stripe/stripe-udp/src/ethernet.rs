//! A channel in frames of Ethernet: what is above its header is the packet, untouched.
//!
//! ```text
//!   | to 6 | from 6 | EtherType of packets 2  | a packet of IP                  |
//!   | to 6 | from 6 | EtherType of messages 2 | a message of the protocol       |
//! ```
//!
//! Where the interface passes frames whole, as one of a pair of virtual ones does, packets go as
//! long as the kernel puts them together, with what it says of their segments beside them
//! (`PACKET_VNET_HDR`). Such a frame is told to the kernel as one of IP, which alone it can look
//! into; on the wire it has the EtherType of packets.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 6.1; packet(7); RFC 9542, section 2.1
//! (EtherTypes for local experiments); virtio 1.3, section 5.1.6 (the header of segments).

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

/// The header of Ethernet.
const HEADER_BYTES: usize = 14;
/// Room for a message, where packets are short.
const MESSAGE_ROOM_BYTES: usize = 256;
/// The longest packet of IP but for jumbograms.
const WHOLE_BYTES: usize = 65_535;
/// Frames that are taken or given in a call: at 1 Gbit/s as many come in three quarters of a
/// millisecond.
const FRAMES: usize = 64;
/// The same where frames are whole, each of some forty segments.
const WHOLE_FRAMES: usize = 16;

/// Where a channel begins and ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EthernetPlan {
    /// The interface here.
    pub interface: String,
    /// The address of the interface at the other end.
    pub peer: MacAddress,
    /// What tells packets and messages from all else, the same at both ends.
    pub ether_types: EtherTypes,
    /// The longest packet that comes out in one frame.
    pub longest_bytes: u32,
    /// Whether the interface passes frames whole, however long.
    pub is_offloaded: bool,
    /// So much waits in the kernel until the interface takes it; the pipe waits for more.
    pub waiting_bytes: usize,
}

impl EthernetPlan {
    /// How what comes is taken.
    fn batches(&self) -> Batches {
        if self.is_offloaded {
            return Batches { count: WHOLE_FRAMES, bytes: VIRTIO_BYTES + WHOLE_BYTES };
        }
        let bytes = (self.longest_bytes as usize).max(MESSAGE_ROOM_BYTES);
        Batches { count: FRAMES, bytes }
    }
}

/// A channel over Ethernet: its sockets, as long as there are any.
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
    /// They say to others that the EtherTypes are in use; nothing comes on them.
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

    /// Sends frames of a run from one on; how many went.
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

/// A socket on an interface, of this EtherType, on which nothing comes.
fn muted(interface: &Interface, ether_type: u16) -> io::Result<Socket> {
    // The kernel has it in the order of the network (packet(7)).
    let protocol = Protocol::from(i32::from(ether_type.to_be()));
    let socket = Socket::new(Domain::PACKET, Type::RAW, Some(protocol))?;
    socket.attach_filter(&filter::nothing())?;
    interface.bind(&socket)?;
    Ok(socket)
}
