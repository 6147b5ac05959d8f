//! Transmission of datagrams.
//!
//! Class and segment length are passed in control messages, as they differ between runs.
//!
//! Source: ip(7), ipv6(7) and udp(7); RFC 2474 (DSCP), RFC 3168 (ECN).

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use nix::cmsg_space;
use nix::errno::Errno;
use nix::libc::c_int;
use nix::sys::socket::{ControlMessage, MsgFlags, MultiHeaders, SockaddrStorage, sendmmsg};
use socket2::Socket;

use crate::error::Meaning;

#[derive(Debug)]
pub(super) struct Sending {
    /// Message headers for the class alone, and for class and segment length; the kernel rejects
    /// unused control space.
    headers: [MultiHeaders<SockaddrStorage>; 2],
    segments_max: usize,
}

impl Sending {
    pub(super) fn new(segments_max: usize) -> Self {
        let headers = [cmsg_space!(c_int), cmsg_space!(c_int, u16)];
        let headers = headers.map(|room| MultiHeaders::preallocate(1, Some(room)));
        Self { headers, segments_max }
    }

    pub(super) const fn segments_max(&self) -> usize {
        self.segments_max
    }

    pub(super) fn send(
        &mut self,
        socket: &Socket,
        to: (SocketAddr, u8),
        run: &[u8],
        segment_bytes: usize,
    ) -> io::Result<()> {
        let sent = self.send_as_one(socket, to, run, segment_bytes);
        // Only these errors indicate that an interface does not support segmentation.
        let may_be_cut =
            run.len() > segment_bytes && matches!(sent, Err(Errno::EIO | Errno::EINVAL));
        if !may_be_cut {
            return Ok(sent?);
        }
        let mut one_by_one = run.chunks(segment_bytes);
        let sent: io::Result<()> =
            one_by_one.try_for_each(|one| Ok(self.send_as_one(socket, to, one, segment_bytes)?));
        if !sent.as_ref().is_err_and(|error| Meaning::of(error) == Meaning::TooLong) {
            self.segments_max = 1;
        }
        sent
    }

    fn send_as_one(
        &mut self,
        socket: &Socket,
        (to, class): (SocketAddr, u8),
        run: &[u8],
        segment_bytes: usize,
    ) -> Result<(), Errno> {
        let (v6_class, length) = (c_int::from(class), u16::try_from(segment_bytes));
        let traffic_class = if to.ip().to_canonical().is_ipv4() {
            ControlMessage::Ipv4Tos(&class)
        } else {
            ControlMessage::Ipv6TClass(&v6_class)
        };
        let is_cut = run.len() > segment_bytes;
        let length = length.map_err(|_| Errno::EMSGSIZE)?;
        let controls = [traffic_class, ControlMessage::UdpGsoSegments(&length)];
        let (controls, headers) = if is_cut {
            (&controls[..], &mut self.headers[1])
        } else {
            (&controls[..1], &mut self.headers[0])
        };
        let (slices, to) = ([[IoSlice::new(run)]], [Some(SockaddrStorage::from(to))]);
        loop {
            let (fd, nothing) = (socket.as_raw_fd(), MsgFlags::empty());
            match sendmmsg(fd, headers, &slices, to, controls, nothing) {
                Err(Errno::EINTR) => {}
                sent => return sent.map(drop),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::IoSliceMut;
    use std::net::UdpSocket;

    use quinn_udp::RecvMeta;

    use super::*;
    use crate::socket::ChannelSocket;

    #[test]
    fn datagrams_have_the_requested_class() {
        let ends =
            [("127.0.0.1:0", "127.0.0.1:0"), ("[::1]:0", "[::1]:0"), ("[::]:0", "127.0.0.1:0")];
        for (from, at) in ends {
            let socket = |at| UdpSocket::bind(at).expect("a socket");
            let (sender, receiver) = (Socket::from(socket(from)), socket(at));
            let mut to = receiver.local_addr().expect("an address");
            if from.starts_with("[::]") {
                to = format!("[::ffff:127.0.0.1]:{}", to.port()).parse().expect("an address");
            }
            let receiver = ChannelSocket::new(receiver).expect("options");
            receiver.socket.set_nonblocking(false).expect("a socket");
            let mut sending = Sending::new(64);
            for (class, datagrams) in [(0b10, 1), (0b1011_1011, 1), (0, 3), (0b01, 3), (0b11, 3)] {
                let run = [7; 30];
                sending.send(&sender, (to, class), &run[..10 * datagrams], 10).expect("it goes");
                let (mut came, mut bytes) = (0, vec![0; 1 << 16]);
                while came < 10 * datagrams {
                    let (mut metas, mut buffers) =
                        ([RecvMeta::default()], [IoSliceMut::new(&mut bytes)]);
                    receiver.receive(&mut buffers, &mut metas).expect("it comes");
                    let ecn = metas[0].ecn.map_or(0, |ecn| ecn as u8);
                    assert_eq!(ecn, class & 0b11, "{from} {datagrams}");
                    came += metas[0].len;
                }
            }
        }
    }

    #[test]
    fn oversized_datagram_is_reported() {
        let sender = Socket::from(UdpSocket::bind("127.0.0.1:0").expect("a socket"));
        let to = (sender.local_addr().expect("bound").as_socket().expect("of IP"), 0);
        let error = Sending::new(64).send(&sender, to, &vec![0; 65_535], 65_535);
        assert_eq!(Meaning::of(&error.expect_err("it cannot")), Meaning::TooLong);
    }
}
