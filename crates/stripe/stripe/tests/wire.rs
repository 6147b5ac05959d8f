//! Messages as bytes: the layout by hand, every error, and arbitrary bytes.

use gingham_fairq::{Change, Number, Round, Standing};
use gingham_stripe::{
    Departure, Epoch, Instant, Kind, MESSAGE_BYTES_MAX, Marker, Message, MessageNumbers, Messages,
    Nack, RepairOf, Report, Tag, WireError,
};
use proptest::prelude::*;

fn message(kind: Kind) -> Message {
    Message { epoch: Epoch::new(0xa0b0_c0d0), channel: 2, channels: 5, kind }
}

fn marker() -> Message {
    let next = Number { round: Round::new(0x0102_0304), deficit_bytes: 1_400 };
    let change = Change { from: Round::new(0x0102_0405), quantum_bytes: 3_000 };
    message(Kind::Marker(Marker {
        standing: Standing { next, quantum_bytes: 1_500, coming: Some(change) },
        sent_packets: 0x1112_1314,
        sent_bytes: 0x2122_2324_2526_2728,
        next_sequence: 0x3132_3334,
        sent_at: Instant::from_nanoseconds(0x4142_4344_4546_4748),
        round_trip_ns: 0x5152_5354,
        out_after_ns: 0x6162_6364,
        lowered: false,
    }))
}

fn report() -> Message {
    message(Kind::Report(Report {
        limit_bytes: 0x0102_0304,
        lowered: true,
        accounted_packets: 0x1112_1314,
        accounted_bytes: 0x2122_2324_2526_2728,
        received_packets: 0x3132_3334,
        received_bytes: 0x4142_4344_4546_4748,
        received_at: Instant::from_nanoseconds(0x8182_8384_8586_8788),
        coming_from: Some(Round::new(0x5152_5354)),
        echo: Instant::from_nanoseconds(0x6162_6364_6566_6768),
        held_ns: 0x7172_7374,
        received_ago_ns: 0x9192_9394,
        longest_bytes: 0xa1a2_a3a4,
    }))
}

fn departure() -> Departure {
    Departure {
        channel: 4,
        since: Round::new(0x0102_0304),
        sent_packets: 0x1112_1314,
        next_sequence: 0x2122_2324,
    }
}

fn every_kind() -> [Kind; 8] {
    [
        marker().kind,
        Kind::Reset { quantum: 0x0102_0304 },
        Kind::Acknowledged,
        Kind::ResetRequested,
        Kind::Left(departure()),
        Kind::LeftAcknowledged(departure()),
        report().kind,
        Kind::Nack(Nack { channel: 3, first: 0x0102_0304, count: 0x0506, left_ns: 0x1112_1314 }),
    ]
}

/// CRC-32C bit by bit from the highest, unlike the tested function.
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

fn fit_checksum(bytes: &mut [u8]) {
    let checked = bytes.len() - 4;
    let sum = checksum(&bytes[..checked]);
    bytes[checked..].copy_from_slice(&sum.to_be_bytes());
}

/// With a matching checksum.
fn parse_changed(message: Message, change: impl FnOnce(&mut [u8])) -> Result<Message, WireError> {
    let mut bytes = message.to_bytes().to_vec();
    change(&mut bytes);
    fit_checksum(&mut bytes);
    Message::parse(&bytes)
}

fn assert_layout(kind: Kind, code: u8, flags: u8, body: &[u8]) {
    let mut expected = b"GS\x04.\x02\x05\0.\xa0\xb0\xc0\xd0".to_vec();
    (expected[3], expected[7]) = (code, flags);
    expected.extend(body);
    expected.extend([0; 4]);
    fit_checksum(&mut expected);
    assert_eq!(message(kind).to_bytes()[..], expected);
}

#[test]
fn every_kind_has_its_layout() {
    let [marker, reset, acknowledged, requested, left, left_acknowledged, report, nack] =
        every_kind();
    assert_layout(
        marker,
        1,
        1,
        b"\x01\x02\x03\x04\0\0\x05\x78\0\0\x05\xdc\x01\x02\x04\x05\0\0\x0b\xb8\
          \x11\x12\x13\x14\x21\x22\x23\x24\x25\x26\x27\x28\x31\x32\x33\x34\
          \x41\x42\x43\x44\x45\x46\x47\x48\x51\x52\x53\x54\x61\x62\x63\x64",
    );
    assert_layout(reset, 2, 0, b"\x01\x02\x03\x04");
    assert_layout(acknowledged, 3, 0, b"");
    assert_layout(requested, 4, 0, b"");
    assert_layout(left, 5, 0, b"\x04\0\0\0\x01\x02\x03\x04\x11\x12\x13\x14\x21\x22\x23\x24");
    assert_layout(
        left_acknowledged,
        6,
        0,
        b"\x04\0\0\0\x01\x02\x03\x04\x11\x12\x13\x14\x21\x22\x23\x24",
    );
    assert_layout(
        report,
        7,
        3,
        b"\x01\x02\x03\x04\x11\x12\x13\x14\x21\x22\x23\x24\x25\x26\x27\x28\
          \x31\x32\x33\x34\x41\x42\x43\x44\x45\x46\x47\x48\x81\x82\x83\x84\x85\x86\x87\x88\
          \x51\x52\x53\x54\x61\x62\x63\x64\x65\x66\x67\x68\x71\x72\x73\x74\x91\x92\x93\x94\xa1\xa2\xa3\xa4",
    );
    assert_layout(nack, 8, 0, b"\x01\x02\x03\x04\x05\x06\x03\0\x11\x12\x13\x14");
}

/// Plain, with an AEAD tag of 16 bytes (RFC 5116), and with the headers of UDP (8) and IP (20 and
/// 40).
#[test]
fn per_packet_overhead_matches_the_documentation() {
    let costs = |plain| [plain, plain + 16, plain + 16 + 8 + 20, plain + 16 + 8 + 40];
    let data = Tag::default();
    let copy = Tag { repair_of: Some(RepairOf::default()), ..data };
    let before = MessageNumbers::default().header(2, Epoch::new(7)).to_bytes();
    assert_eq!(costs(data.to_bytes().len()), [12, 28, 56, 76]);
    assert_eq!(costs(copy.to_bytes().len()), [20, 36, 64, 84]);
    assert_eq!(costs(before.len()), [8, 24, 52, 72]);
}

/// The first eight bytes form a nonce.
#[test]
fn first_eight_bytes_of_datagrams_are_unique() {
    let mut numbers = MessageNumbers::default();
    let mut seen = std::collections::BTreeSet::new();
    for channel_sequence in 0..10 {
        let data = Tag { channel: 2, session: 7, channel_sequence, ..Tag::default() };
        let copy = Tag { repair_of: Some(RepairOf::default()), ..data };
        for header in [data.header(), copy.header(), numbers.header(2, Epoch::new(7))] {
            assert_eq!((header.session, header.number), (7, channel_sequence));
            assert!(seen.insert(header.to_bytes()), "{header:?}");
        }
    }
}

#[test]
fn every_kind_round_trips() {
    let out = Kind::Marker(Marker { standing: Standing::default(), ..Marker::default() });
    let lowered = Kind::Marker(Marker { lowered: true, ..Marker::default() });
    for kind in every_kind().into_iter().chain([out, lowered, Kind::Report(Report::default())]) {
        let message = message(kind);
        assert_eq!(Message::parse(&message.to_bytes()), Ok(message));
    }
}

#[test]
fn padding_is_ignored() {
    for kind in every_kind() {
        let mut padded = message(kind).to_bytes().to_vec();
        padded.resize(MESSAGE_BYTES_MAX + 1, 0xff);
        assert_eq!(Message::parse(&padded), Ok(message(kind)));
    }
}

/// Nothing is read behind a corrupt message.
#[test]
fn concatenated_messages_are_parsed() {
    let all: Vec<_> = every_kind().into_iter().map(|kind| Ok(message(kind))).collect();
    let bytes = |messages: &[Result<Message, WireError>]| -> Vec<u8> {
        messages.iter().flat_map(|message| message.expect("one").to_bytes().to_vec()).collect()
    };
    let mut padded = bytes(&all);
    assert!(Messages::new(&padded).eq(all.clone()));
    padded.extend([0; 40]);
    assert!(Messages::new(&padded).eq(all.clone()));
    let third_at = bytes(&all[..2]).len();
    padded[third_at] = b'g';
    assert!(Messages::new(&padded).eq([all[0], all[1], Err(WireError::BadMagic)]));
    assert_eq!(Messages::new(&[0; 40]).next(), None);
    assert_eq!(Messages::new(&[]).next(), None);
}

#[test]
fn truncated_message_is_rejected() {
    for kind in every_kind() {
        let bytes = message(kind).to_bytes();
        for length in 0..bytes.len() {
            let cut = Message::parse(&bytes[..length]);
            assert_eq!(cut, Err(WireError::Truncated { length }));
        }
    }
}

#[test]
fn each_marker_field_has_its_own_error() {
    let changed = |change: fn(&mut [u8])| parse_changed(marker(), change);
    assert_eq!(changed(|bytes| bytes[0] = b'g'), Err(WireError::BadMagic));
    assert_eq!(changed(|bytes| bytes[2] = 1), Err(WireError::BadVersion { version: 1 }));
    assert_eq!(changed(|bytes| bytes[3] = 9), Err(WireError::BadKind { kind: 9 }));
    assert_eq!(changed(|bytes| bytes[7] = 5), Err(WireError::NotZero));
    assert_eq!(changed(|bytes| bytes[7] = 2), Err(WireError::NotZero));
    // A change without its flag.
    assert_eq!(changed(|bytes| bytes[7] = 0), Err(WireError::NotZero));
    let bad_channel = |channel, channels| Err(WireError::BadChannel { channel, channels });
    assert_eq!(changed(|bytes| bytes[4] = 5), bad_channel(5, 5));
    assert_eq!(changed(|bytes| bytes[5] = 65), bad_channel(2, 65));
    assert_eq!(changed(|bytes| bytes[4..6].fill(0)), bad_channel(0, 0));
    let bad_deficit =
        |deficit_bytes, quantum_bytes| Err(WireError::BadDeficit { deficit_bytes, quantum_bytes });
    assert_eq!(changed(|bytes| bytes[16..20].fill(0)), bad_deficit(0, 1_500));
    assert_eq!(changed(|bytes| bytes[18] = 6), bad_deficit(1_656, 1_500));
    assert_eq!(changed(|bytes| bytes[20..24].fill(0)), bad_deficit(1_400, 0));
}

#[test]
fn fields_of_other_kinds_are_checked() {
    let changed = |kind, at: usize, byte| {
        parse_changed(message(kind), |bytes: &mut [u8]| bytes[at] = byte).unwrap_err()
    };
    let nack = Kind::Nack(Nack { count: 1, ..Nack::default() });
    assert_eq!(changed(Kind::Reset { quantum: 1 }, 7, 1), WireError::NotZero);
    assert_eq!(changed(Kind::Reset { quantum: 1 }, 7, 2), WireError::NotZero);
    assert_eq!(changed(report().kind, 7, 0), WireError::NotZero);
    assert_eq!(changed(report().kind, 7, 7), WireError::NotZero);
    assert_eq!(changed(nack, 17, 0), WireError::EmptyNack);
    assert_eq!(changed(nack, 19, 1), WireError::NotZero);
    assert_eq!(changed(Kind::Left(departure()), 13, 1), WireError::NotZero);
    let bad_channel = WireError::BadChannel { channel: 5, channels: 5 };
    assert_eq!(changed(Kind::LeftAcknowledged(departure()), 12, 5), bad_channel);
}

/// CRC-32C detects every change of one or two bits in messages of this length.
#[test]
fn changes_of_one_or_two_bits_are_detected() {
    for kind in every_kind() {
        let bytes = message(kind).to_bytes();
        let bits = 8 * bytes.len();
        for (first, second) in
            (0..bits).flat_map(|first| (first..bits).map(move |bit| (first, bit)))
        {
            let mut changed = bytes.to_vec();
            changed[first / 8] ^= 1 << (first % 8);
            if second != first {
                changed[second / 8] ^= 1 << (second % 8);
            }
            assert!(Message::parse(&changed).is_err(), "bits {first} and {second}");
        }
    }
}

proptest! {
    #[test]
    fn parsed_messages_are_written_back_unchanged(
        mut bytes in prop::collection::vec(any::<u8>(), 0..80),
        begins: bool, fields in prop::array::uniform4(0_u8..10), sparse: bool, fits: bool,
    ) {
        if let Some(head) = bytes.first_chunk_mut::<12>().filter(|_| begins) {
            head[..3].copy_from_slice(b"GS\x04");
            head[3..6].copy_from_slice(&fields[..3]);
            head[6..8].copy_from_slice(&[0, fields[3] % 4]);
        }
        if sparse {
            bytes.iter_mut().skip(12).filter(|byte| **byte > 40).for_each(|byte| *byte = 0);
        }
        let body = [0, 52, 4, 0, 0, 16, 16, 60, 12, 0][usize::from(fields[0])];
        if let Some(whole) = bytes.get_mut(..12 + body + 4).filter(|_| fits) {
            fit_checksum(whole);
        }
        if let Ok(message) = Message::parse(&bytes) {
            let written = message.to_bytes();
            prop_assert_eq!(&bytes[..written.len()], &written[..]);
        }
    }
}
