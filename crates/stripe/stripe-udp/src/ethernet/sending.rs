//! Transmission of frames.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::libc::{ETH_P_IP, ETH_P_IPV6};
use nix::sys::socket::{MsgFlags, MultiHeaders, SetSockOpt, sendmmsg};
use socket2::Socket;

use super::options::SegmentHeader;
use super::virtio::{self, VIRTIO_BYTES};
use super::{EthernetPlan, FRAMES, HEADER_BYTES, Interface, muted};
use crate::link::Payload;
use crate::run::Run;

const HEAD_BYTES: usize = VIRTIO_BYTES + HEADER_BYTES;

#[derive(Debug)]
pub(super) struct Sender {
    sockets: Vec<Socket>,
    headers: [[u8; HEADER_BYTES]; 2],
    messages: MultiHeaders<()>,
    is_offloaded: bool,
    last: usize,
}

impl Sender {
    pub(super) fn open(plan: &EthernetPlan, interface: &Interface) -> io::Result<Self> {
        // The kernel only segments and parses frames with an IP EtherType.
        let known = [ETH_P_IP, ETH_P_IPV6].map(|one| u16::try_from(one).expect("two bytes"));
        let types = if plan.is_offloaded { &known[..] } else { &[plan.ether_types.packets] };
        let open = |ether_type: &u16| -> io::Result<Socket> {
            let socket = muted(interface, *ether_type)?;
            if plan.is_offloaded {
                SegmentHeader.set(&socket, &true)?;
            }
            socket.set_send_buffer_size(plan.waiting_bytes)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let header = |ether_type: u16| {
            let mut header = [0; HEADER_BYTES];
            header[..6].copy_from_slice(&plan.peer.0);
            header[6..12].copy_from_slice(&interface.mac.0);
            header[12..].copy_from_slice(&ether_type.to_be_bytes());
            header
        };
        Ok(Self {
            sockets: types.iter().map(open).collect::<Result<_, _>>()?,
            headers: [plan.ether_types.packets, plan.ether_types.messages].map(header),
            messages: MultiHeaders::preallocate(FRAMES, None),
            is_offloaded: plan.is_offloaded,
            last: 0,
        })
    }

    pub(super) fn full_fd(&self) -> BorrowedFd<'_> {
        self.sockets[self.last].as_fd()
    }

    pub(super) fn send(&mut self, run: &Run, from: usize) -> io::Result<usize> {
        let header = self.headers[usize::from(run.payload == Payload::Messages)];
        let skipped = if self.is_offloaded { 0 } else { VIRTIO_BYTES };
        let mut heads = [[0; HEAD_BYTES]; FRAMES];
        let mut slices = [[IoSlice::new(&[]); 2]; FRAMES];
        let mut frames = 0;
        let left = run.bytes.chunks(run.segment_bytes).skip(from);
        let places = heads.iter_mut().zip(&mut slices);
        for (frame, (head, slice)) in left.zip(places) {
            let (metadata, packet) = self.parted(frame, run.payload);
            let socket = self.socket_of(packet);
            if frames > 0 && socket != self.last {
                break;
            }
            self.last = socket;
            head[..VIRTIO_BYTES].copy_from_slice(&metadata);
            head[VIRTIO_BYTES..].copy_from_slice(&header);
            *slice = [IoSlice::new(&head[skipped..]), IoSlice::new(packet)];
            frames += 1;
        }
        let sent = sendmmsg(
            self.sockets[self.last].as_raw_fd(),
            &mut self.messages,
            &slices[..frames],
            [None; FRAMES],
            [],
            MsgFlags::empty(),
        )?;
        Ok(sent.count())
    }

    fn parted<'a>(&self, frame: &'a [u8], payload: Payload) -> ([u8; VIRTIO_BYTES], &'a [u8]) {
        let nothing = ([0; VIRTIO_BYTES], frame);
        if !self.is_offloaded || payload == Payload::Messages {
            return nothing;
        }
        let before = u16::try_from(HEADER_BYTES).expect("it is short");
        let parts = frame.split_first_chunk();
        parts.map_or(nothing, |(metadata, packet)| (virtio::of_frame(*metadata, before), packet))
    }

    fn socket_of(&self, packet: &[u8]) -> usize {
        let is_v6 = packet.first().is_some_and(|first| first >> 4 == 6);
        usize::from(is_v6 && self.sockets.len() > 1)
    }
}
