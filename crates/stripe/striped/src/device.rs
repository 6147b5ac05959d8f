//! TUN device with segmentation offload.
//!
//! With `IFF_VNET_HDR` the kernel passes a run of TCP or UDP segments as one large packet. This
//! module splits and coalesces such runs, so that a system call transfers about forty packets in
//! either direction.
//!
//! Invariant: the interface exists while the [`Tun`] value does.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use tun_rs::{DeviceBuilder, GROTable, IDEAL_BATCH_SIZE, Layer, SyncDevice, VIRTIO_NET_HDR_LEN};

use crate::config::Config;

const RAW_BYTES: usize = VIRTIO_NET_HDR_LEN + 65_535;
/// Longest packet read, in bytes: the MTU of many jumbo-frame networks. Packets above the MTU of
/// the interface are read so that an ICMP error can be returned.
const READ_BYTES: usize = 9_216;
/// Length of the kernel's queue: about 20 ms at 1 Gbit/s and 1,400 bytes. Longer backlogs belong in
/// our per-flow queues.
const QUEUE_PACKETS: u32 = 2_000;

pub(crate) struct Tun {
    device: SyncDevice,
    raw: Vec<u8>,
    segments: Vec<Vec<u8>>,
    sizes: Vec<usize>,
    gro: GROTable,
    outgoing: Outgoing,
    /// Whether packets stay unsplit, each preceded by the kernel's virtio header.
    is_whole: bool,
    pub(crate) refused: u64,
}

impl Tun {
    pub(crate) fn new(config: &Config) -> io::Result<Self> {
        let mut builder = DeviceBuilder::new()
            .name(config.name.as_str())
            .layer(Layer::L3)
            .mtu(config.mtu)
            .tx_queue_len(QUEUE_PACKETS)
            .offload(true)
            .enable(true);
        for prefix in &config.addresses {
            builder = match prefix.address() {
                IpAddr::V4(address) => builder.ipv4(address, prefix.bits(), None),
                IpAddr::V6(address) => builder.ipv6(address, prefix.bits()),
            };
        }
        let device = builder.build_sync()?;
        device.set_nonblocking(true)?;
        Ok(Self {
            device,
            raw: vec![0; RAW_BYTES],
            segments: vec![vec![0; READ_BYTES.max(config.mtu.into())]; IDEAL_BATCH_SIZE],
            sizes: vec![0; IDEAL_BATCH_SIZE],
            gro: GROTable::default(),
            outgoing: Outgoing::default(),
            is_whole: config.offload,
            refused: 0,
        })
    }

    pub(crate) const fn prefix_bytes_of(config: &Config) -> usize {
        if config.offload { VIRTIO_NET_HDR_LEN } else { 0 }
    }

    pub(crate) fn index(&self) -> io::Result<u32> {
        self.device.if_index()
    }

    pub(crate) fn read(&mut self, mut each: impl FnMut(&mut [u8])) -> io::Result<bool> {
        let Self { device, raw, segments, sizes, is_whole, .. } = self;
        let read = if *is_whole {
            device.recv(raw).map(|bytes| {
                each(&mut raw[..bytes]);
                0
            })
        } else {
            device.recv_multiple(raw, segments, sizes, 0)
        };
        match read {
            Ok(count) => {
                for (segment, size) in segments.iter_mut().zip(&*sizes).take(count) {
                    each(&mut segment[..*size]);
                }
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            // The packet is lost: the interface is down, or the packet is longer than `READ_BYTES`.
            Err(error) if error.raw_os_error().is_none() => {
                self.refused += 1;
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) fn write(&mut self, packet: &[u8]) {
        if self.is_whole {
            self.refused += u64::from(self.device.send(packet).is_err());
            return;
        }
        self.outgoing.push(packet);
        if self.outgoing.count == IDEAL_BATCH_SIZE {
            self.flush();
        }
    }

    pub(crate) fn flush(&mut self) {
        let outgoing = self.outgoing.take();
        if !outgoing.is_empty() {
            let written = self.device.send_multiple(&mut self.gro, outgoing, VIRTIO_NET_HDR_LEN);
            self.refused += u64::from(written.is_err());
        }
    }
}

#[derive(Default)]
struct Outgoing {
    buffers: Vec<Vec<u8>>,
    count: usize,
}

impl Outgoing {
    fn push(&mut self, packet: &[u8]) {
        if self.count == self.buffers.len() {
            self.buffers.push(Vec::with_capacity(RAW_BYTES));
        }
        let buffer = &mut self.buffers[self.count];
        buffer.clear();
        buffer.resize(VIRTIO_NET_HDR_LEN, 0);
        buffer.extend_from_slice(packet);
        self.count += 1;
    }

    fn take(&mut self) -> &mut [Vec<u8>] {
        let count = std::mem::take(&mut self.count);
        &mut self.buffers[..count]
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(first: u32, bytes: usize) -> Vec<u8> {
        let mut packet = vec![0; 40 + bytes];
        let length = u16::try_from(packet.len()).expect("short");
        packet[..2].copy_from_slice(&[0x45, 0]);
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        packet[6..10].copy_from_slice(&[0x40, 0, 64, 6]);
        packet[24..28].copy_from_slice(&first.to_be_bytes());
        packet[32..34].copy_from_slice(&[0x50, 0x10]);
        // All other fields are zero. The sum includes protocol and length (RFC 9293, section 3.1).
        let words = packet[20..].chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
        let sum: u32 = words.sum::<u32>() + 6 + u32::from(length - 20);
        let folded = (sum & 0xffff) + (sum >> 16);
        let check = !u16::try_from((folded & 0xffff) + (folded >> 16)).expect("it is folded");
        packet[36..38].copy_from_slice(&check.to_be_bytes());
        packet
    }

    /// Checks that 46 of 50 segments of 1,400 bytes fit into one IP packet.
    #[test]
    fn segments_of_a_flow_are_coalesced() {
        let (mut outgoing, mut gro) = (Outgoing::default(), GROTable::default());
        for (count, together) in [(40, 40), (40, 40), (50, 46)] {
            (0..count).for_each(|number| outgoing.push(&segment(1_400 * number, 1_400)));
            let buffers = outgoing.take();
            gro.apply_gro(buffers, VIRTIO_NET_HDR_LEN, false).expect("they are packets");
            assert_eq!(buffers[0].len(), VIRTIO_NET_HDR_LEN + 40 + 1_400 * together);
        }
        assert!(outgoing.take().is_empty());
    }
}
