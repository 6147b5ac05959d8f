//! Messages as bytes: the layout by hand, every refusal, and any bytes at all.

use gingham_fairq::{Number, Round};
use gingham_stripe::{Epoch, Kind, MESSAGE_BYTES, Message, WireError};
use proptest::prelude::*;

fn marker() -> Message {
    let number = Number { round: Round::new(0x0102_0304), deficit_bytes: 1_500 };
    Message { epoch: Epoch::new(0xa0b0_c0d0), channel: 2, channels: 5, kind: Kind::Marker(number) }
}

/// CRC-32C bit by bit from the highest, unlike the one under test.
fn checksum(bytes: &[u8]) -> u32 {
    let mut rest = u32::MAX;
    for byte in bytes {
        rest ^= u32::from(byte.reverse_bits()) << 24;
        for _ in 0..8 {
            rest = if rest >> 31 == 1 { (rest << 1) ^ 0x1edc_6f41 } else { rest << 1 };
        }
    }
    !rest.reverse_bits()
}

/// The bytes with some changed and the checksum made to fit.
fn parse_changed(change: impl FnOnce(&mut [u8; MESSAGE_BYTES])) -> Result<Message, WireError> {
    let mut bytes = marker().to_bytes();
    change(&mut bytes);
    let sum = checksum(&bytes[..20]);
    bytes[20..].copy_from_slice(&sum.to_be_bytes());
    Message::parse(&bytes)
}

#[test]
fn a_marker_has_its_layout() {
    let mut expected = *b"GS\x01\x01\x02\x05\0\0\xa0\xb0\xc0\xd0\x01\x02\x03\x04\0\0\x05\xdc....";
    let sum = checksum(&expected[..20]);
    expected[20..].copy_from_slice(&sum.to_be_bytes());
    assert_eq!(marker().to_bytes(), expected);
}

#[test]
fn every_kind_comes_back() {
    for kind in [Kind::Reset, Kind::Acknowledged, Kind::ResetRequested, marker().kind] {
        let message = Message { kind, ..marker() };
        assert_eq!(Message::parse(&message.to_bytes()), Ok(message));
    }
}

#[test]
fn padding_is_not_read() {
    let mut padded = marker().to_bytes().to_vec();
    padded.resize(46, 0xff);
    assert_eq!(Message::parse(&padded), Ok(marker()));
}

#[test]
fn each_thing_wrong_has_its_error() {
    for length in 0..MESSAGE_BYTES {
        let cut = Message::parse(&marker().to_bytes()[..length]);
        assert_eq!(cut, Err(WireError::Truncated { length }));
    }
    let zero_number = |bytes: &mut [u8; MESSAGE_BYTES]| bytes[12..20].fill(0);
    assert_eq!(parse_changed(|bytes| bytes[0] = b'g'), Err(WireError::BadMagic));
    assert_eq!(parse_changed(|bytes| bytes[2] = 2), Err(WireError::BadVersion { version: 2 }));
    assert_eq!(parse_changed(|bytes| bytes[3] = 5), Err(WireError::BadKind { kind: 5 }));
    assert_eq!(parse_changed(zero_number), Err(WireError::NoDeficit));
    assert_eq!(parse_changed(|bytes| bytes[3] = 2), Err(WireError::NotZero));
    assert_eq!(parse_changed(|bytes| bytes[7] = 1), Err(WireError::NotZero));
    let bad = |channel, channels| Err(WireError::BadChannel { channel, channels });
    assert_eq!(parse_changed(|bytes| bytes[4] = 5), bad(5, 5));
    assert_eq!(parse_changed(|bytes| bytes[5] = 65), bad(2, 65));
    assert_eq!(parse_changed(|bytes| bytes[4..6].fill(0)), bad(0, 0));
}

/// CRC-32C finds every change of one or two bits in so few bytes.
#[test]
fn no_change_of_one_or_two_bits_passes() {
    let bytes = marker().to_bytes();
    let bits = 8 * MESSAGE_BYTES;
    for (first, second) in (0..bits).flat_map(|first| (first..bits).map(move |bit| (first, bit))) {
        let mut changed = bytes;
        changed[first / 8] ^= 1 << (first % 8);
        if second != first {
            changed[second / 8] ^= 1 << (second % 8);
        }
        assert!(Message::parse(&changed).is_err(), "bits {first} and {second}");
    }
}

proptest! {
    /// Any bytes: a message that is written again as it was, or an error.
    #[test]
    fn what_is_parsed_is_written_again_as_it_was(
        mut bytes in prop::collection::vec(any::<u8>(), 0..40),
        begins: bool, fields in prop::array::uniform4(0_u8..8), fits: bool,
    ) {
        if let Some(head) = bytes.first_chunk_mut::<MESSAGE_BYTES>() {
            if begins {
                head[..3].copy_from_slice(b"GS\x01");
                head[3..6].copy_from_slice(&fields[..3]);
                head[6..8].fill(0);
                if fields[3] < 4 {
                    head[12..20].fill(0);
                }
            }
            if fits {
                let sum = checksum(&head[..20]);
                head[20..].copy_from_slice(&sum.to_be_bytes());
            }
        }
        if let Ok(message) = Message::parse(&bytes) {
            prop_assert_eq!(Some(&message.to_bytes()), bytes.first_chunk());
        }
    }
}
