//! What the kernel says of the segments of a packet, as of a packet and as of a frame.
//!
//! ```text
//!   | flags 1 | kind 1 | header length 2 | segment 2 | checksum from 2 | checksum at 2 |
//! ```
//!
//! Two of them count from where the bytes begin: at the packet for an interface of packets, at the
//! header of Ethernet for a socket of frames. What is not known to be there is not moved.
//!
//! Source: virtio 1.3, section 5.1.6; words are in the order of the machine (`TUNSETVNETLE` unset).

/// How long that is.
pub(crate) const VIRTIO_BYTES: usize = 10;

/// There is a checksum to be worked out.
const NEEDS_CHECKSUM: u8 = 1;
/// Where the words are that count from the beginning.
const HEADER_LENGTH: usize = 2;
const CHECKSUM_FROM: usize = 6;

/// What is said of a packet, as of the frame in which so many bytes stand before it.
pub(super) fn of_frame(mut said: [u8; VIRTIO_BYTES], before: u16) -> [u8; VIRTIO_BYTES] {
    shift(&mut said, |word| word.wrapping_add(before));
    said
}

/// What is said of a frame, as of the packet before which so many bytes stand.
pub(super) fn of_packet(mut said: [u8; VIRTIO_BYTES], before: u16) -> [u8; VIRTIO_BYTES] {
    shift(&mut said, |word| word.saturating_sub(before));
    said
}

fn shift(said: &mut [u8; VIRTIO_BYTES], by: impl Fn(u16) -> u16) {
    let needs_checksum = said[0] & NEEDS_CHECKSUM != 0;
    let is_segmented = said[1] != 0;
    for (at, is_there) in [(HEADER_LENGTH, is_segmented), (CHECKSUM_FROM, needs_checksum)] {
        if is_there {
            let word = u16::from_ne_bytes([said[at], said[at + 1]]);
            said[at..at + 2].copy_from_slice(&by(word).to_ne_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(flags: u8, kind: u8, words: [u16; 4]) -> [u8; VIRTIO_BYTES] {
        let mut said = [0; VIRTIO_BYTES];
        said[..2].copy_from_slice(&[flags, kind]);
        for (bytes, word) in said[2..].chunks_mut(2).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        said
    }

    #[test]
    fn lengths_move_by_the_header_of_ethernet() {
        let packet = said(1, 1, [40, 1_448, 20, 16]);
        assert_eq!(of_frame(packet, 14), said(1, 1, [54, 1_448, 34, 16]));
        assert_eq!(of_packet(of_frame(packet, 14), 14), packet);
        let short = said(1, 0, [0, 0, 20, 16]);
        assert_eq!(of_frame(short, 14), said(1, 0, [0, 0, 34, 16]));
        assert_eq!(of_frame([0; VIRTIO_BYTES], 14), [0; VIRTIO_BYTES]);
    }
}
