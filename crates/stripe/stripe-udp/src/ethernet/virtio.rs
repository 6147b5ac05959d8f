//! Segmentation metadata of the kernel, converted between packets and frames.
//!
//! ```text
//!   | flags 1 | kind 1 | header length 2 | segment 2 | checksum start 2 | checksum offset 2 |
//! ```
//!
//! Header length and checksum start are relative to the packet on a TUN interface, and to the
//! Ethernet header on a packet socket. Invalid fields stay unchanged.
//!
//! Source: virtio 1.3, section 5.1.6; words have native byte order (`TUNSETVNETLE` unset).

pub(crate) const VIRTIO_BYTES: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const HEADER_LENGTH: usize = 2;
const CHECKSUM_FROM: usize = 6;

/// Converts a packet's metadata to that of its frame; `before` is the number of bytes before the
/// packet.
pub(super) fn of_frame(mut metadata: [u8; VIRTIO_BYTES], before: u16) -> [u8; VIRTIO_BYTES] {
    shift(&mut metadata, |word| word.wrapping_add(before));
    metadata
}

pub(super) fn of_packet(mut metadata: [u8; VIRTIO_BYTES], before: u16) -> [u8; VIRTIO_BYTES] {
    shift(&mut metadata, |word| word.saturating_sub(before));
    metadata
}

fn shift(metadata: &mut [u8; VIRTIO_BYTES], by: impl Fn(u16) -> u16) {
    let needs_checksum = metadata[0] & NEEDS_CHECKSUM != 0;
    let is_segmented = metadata[1] != 0;
    for (at, is_there) in [(HEADER_LENGTH, is_segmented), (CHECKSUM_FROM, needs_checksum)] {
        if is_there {
            let word = u16::from_ne_bytes([metadata[at], metadata[at + 1]]);
            metadata[at..at + 2].copy_from_slice(&by(word).to_ne_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(flags: u8, kind: u8, words: [u16; 4]) -> [u8; VIRTIO_BYTES] {
        let mut metadata = [0; VIRTIO_BYTES];
        metadata[..2].copy_from_slice(&[flags, kind]);
        for (bytes, word) in metadata[2..].chunks_mut(2).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        metadata
    }

    #[test]
    fn offsets_shift_by_ethernet_header_length() {
        let packet = metadata(1, 1, [40, 1_448, 20, 16]);
        assert_eq!(of_frame(packet, 14), metadata(1, 1, [54, 1_448, 34, 16]));
        assert_eq!(of_packet(of_frame(packet, 14), 14), packet);
        let short = metadata(1, 0, [0, 0, 20, 16]);
        assert_eq!(of_frame(short, 14), metadata(1, 0, [0, 0, 34, 16]));
        assert_eq!(of_frame([0; VIRTIO_BYTES], 14), [0; VIRTIO_BYTES]);
    }
}
