//! A channel that reorders datagrams.

use std::net::{SocketAddr, UdpSocket};

use gingham_stripe_udp::now;

use crate::pair::{LONGEST_BYTES, Numbers, TIMEOUT, any, end};

/// Relay that swaps each pair of packets from the left.
struct Swap {
    socket: UdpSocket,
    left: SocketAddr,
    right: SocketAddr,
    held: Option<Vec<u8>>,
}

impl Swap {
    fn pass_on(&mut self) {
        let mut datagram = [0; 2 * LONGEST_BYTES];
        while let Ok((length, from)) = self.socket.recv_from(&mut datagram) {
            let datagram = &datagram[..length];
            let send = |bytes: &[u8], to| assert!(self.socket.send_to(bytes, to).is_ok());
            // The low half of the first byte is 0 for packets.
            if from == self.right {
                send(datagram, self.left);
            } else if datagram[0] & 0xf != 0 {
                send(datagram, self.right);
            } else if let Some(held) = self.held.take() {
                send(datagram, self.right);
                send(&held, self.right);
            } else {
                self.held = Some(datagram.to_vec());
            }
        }
    }
}

#[test]
fn overtaken_packets_are_not_lost() {
    let [local, _] = any();
    let (mut left, mut right) = (end(&[local]), end(&[local]));
    let socket = UdpSocket::bind(local).expect("a socket");
    socket.set_nonblocking(true).expect("it can be so");
    let middle = socket.local_addr().expect("an address");
    let locals = [left.local(0).expect("a socket"), right.local(0).expect("a socket")];
    let mut swap = Swap { socket, left: locals[0], right: locals[1], held: None };
    left.set_remote(0, middle);
    right.set_remote(0, middle);
    let (mut numbers, mut came) = (Numbers((0..2_000).collect()), Vec::new());
    let ends_at = now().after(TIMEOUT);
    while came.len() < 2_000 {
        assert!(now() < ends_at, "{} came", came.len());
        for end in [&mut left, &mut right] {
            end.receive();
            while let Some(packet) = end.next_packet() {
                let number = packet.bytes.first_chunk().expect("a number");
                came.push(usize::from_be_bytes(*number));
            }
        }
        left.transmit(&mut numbers);
        right.transmit(&mut Numbers::default());
        swap.pass_on();
    }
    assert!(came.into_iter().eq(0..2_000));
    assert_eq!(right.reception().given_up, 0);
    assert!(!right.reordering_window(0).is_zero() && left.reordering_window(0).is_zero());
}
