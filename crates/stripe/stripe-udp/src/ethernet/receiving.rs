//! Reception of frames, with kernel timestamps.
//!
//! A single socket receives packets and messages, which preserves their order.

use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

use nix::cmsg_space;
use nix::libc::ETH_P_ALL;
use nix::sys::socket::sockopt::ReceiveTimestampns;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, MultiHeaders, SetSockOpt, recvmmsg};
use nix::sys::time::TimeSpec;
use socket2::Socket;

use super::options::{IgnoreOutgoing, SegmentHeader};
use super::virtio::{self, VIRTIO_BYTES};
use super::{EtherTypes, EthernetPlan, FRAMES, HEADER_BYTES, Interface, filter, muted};
use crate::link::{Arrival, Payload};
use crate::socket::BufferPlan;

const HEAD_BYTES: usize = VIRTIO_BYTES + HEADER_BYTES;

#[derive(Debug)]
pub(super) struct Receiver {
    socket: Socket,
    messages: MultiHeaders<()>,
    ether_types: EtherTypes,
    batch_bytes: usize,
    prefix_bytes: usize,
}

impl Receiver {
    pub(super) fn open(
        plan: &EthernetPlan,
        interface: &Interface,
        buffers: &BufferPlan,
    ) -> io::Result<Self> {
        let every = u16::try_from(ETH_P_ALL).expect("two bytes");
        let socket = muted(interface, every)?;
        if plan.is_offloaded {
            SegmentHeader.set(&socket, &true)?;
        }
        IgnoreOutgoing.set(&socket, &true)?;
        ReceiveTimestampns.set(&socket, &true)?;
        socket.set_recv_buffer_size(buffers.bytes())?;
        // Until the filter is attached, the socket receives no frames.
        socket.attach_filter(&filter::of(interface.mac, plan.peer, plan.ether_types))?;
        let space = cmsg_space!(TimeSpec);
        Ok(Self {
            socket,
            messages: MultiHeaders::preallocate(FRAMES, Some(space)),
            ether_types: plan.ether_types,
            batch_bytes: plan.batches().bytes,
            prefix_bytes: if plan.is_offloaded { VIRTIO_BYTES } else { 0 },
        })
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    pub(super) fn receive(
        &mut self,
        bytes: &mut [u8],
        arrivals: &mut [Arrival],
    ) -> io::Result<usize> {
        let mut heads = [[0; HEAD_BYTES]; FRAMES];
        let count = self.take(&mut heads, bytes, arrivals)?;
        let buffers = bytes.chunks_mut(self.batch_bytes);
        for ((arrival, head), buffer) in arrivals[..count].iter_mut().zip(&heads).zip(buffers) {
            self.describe(arrival, head, buffer);
        }
        Ok(count)
    }

    fn take(
        &mut self,
        heads: &mut [[u8; HEAD_BYTES]; FRAMES],
        bytes: &mut [u8],
        arrivals: &mut [Arrival],
    ) -> io::Result<usize> {
        let (head_bytes, prefix_bytes) = (self.prefix_bytes + HEADER_BYTES, self.prefix_bytes);
        let mut places = heads.iter_mut().zip(bytes.chunks_mut(self.batch_bytes));
        let mut slices: [_; FRAMES] = std::array::from_fn(|_| {
            let (head, buffer) = places.next().map_or_else(Default::default, |(head, buffer)| {
                (&mut head[..head_bytes], &mut buffer[prefix_bytes..])
            });
            [IoSliceMut::new(head), IoSliceMut::new(buffer)]
        });
        let fd = self.socket.as_raw_fd();
        let buffers = slices[..arrivals.len().min(FRAMES)].iter_mut();
        let came = recvmmsg(fd, &mut self.messages, buffers, MsgFlags::MSG_DONTWAIT, None)?;
        let mut count = 0;
        for (message, arrival) in came.zip(arrivals) {
            let stamp = message.cmsgs()?.find_map(|one| match one {
                ControlMessageOwned::ScmTimestampns(stamp) => Some(Duration::from(stamp)),
                _ => None,
            });
            let bytes = message.bytes.saturating_sub(head_bytes);
            *arrival = Arrival { stamp, bytes, is_ours: true, ..Arrival::default() };
            count += 1;
        }
        Ok(count)
    }

    fn describe(&self, arrival: &mut Arrival, head: &[u8; HEAD_BYTES], buffer: &mut [u8]) {
        let (metadata, header) = head.split_at(self.prefix_bytes);
        if let Some(metadata) = metadata.first_chunk() {
            let before = u16::try_from(HEADER_BYTES).expect("it is short");
            buffer[..VIRTIO_BYTES].copy_from_slice(&virtio::of_packet(*metadata, before));
        }
        if header[12..HEADER_BYTES] == self.ether_types.messages.to_be_bytes() {
            arrival.payload = Payload::Messages;
        }
        arrival.bytes += self.prefix_bytes;
        arrival.stride = arrival.bytes.max(1);
    }
}
