//! Any bytes parse to a message or a tag, or an error; parsing and writing again yields the same
//! bytes.

use gingham_stripe::{HEADER_BYTES, MESSAGE_BYTES_MAX, Message, Messages, Tag};

/// By the table of `gingham_stripe::wire`.
const BODY_AT: usize = 12;

/// Also with a valid checksum, which random bytes do not have.
pub(crate) fn message(data: &[u8]) {
    try_message(data);
    for body_bytes in [0, 4, 12, 16, 52, 60] {
        if let Some(sealed) = sealed(data, body_bytes) {
            try_message(&sealed);
        }
    }
}

fn try_message(data: &[u8]) {
    if let Ok(message) = Message::parse(data) {
        let written = message.to_bytes();
        assert!(written.len() <= MESSAGE_BYTES_MAX);
        assert_eq!(&data[..written.len()], &written[..], "written as it was read");
        assert_eq!(Message::parse(&written), Ok(message));
    }
}

/// Also with each chunk made a valid message of the kind in its byte, if possible.
pub(crate) fn messages(data: &[u8]) {
    try_messages(data);
    let mut bytes = Vec::new();
    for chunk in data.chunks(BODY_AT + 60) {
        let kind = chunk.get(3).map_or(0, |kind| usize::from(*kind % 9));
        let body_bytes = [0, 60, 4, 0, 0, 16, 16, 60, 12][kind];
        bytes.extend(sealed(chunk, body_bytes).unwrap_or_else(|| chunk.to_vec()));
    }
    try_messages(&bytes);
}

fn try_messages(data: &[u8]) {
    let (mut left, mut is_over) = (data, false);
    for message in Messages::new(data) {
        assert!(!is_over, "nothing is behind an error");
        match message {
            Ok(message) => {
                let written = message.to_bytes();
                assert_eq!(&left[..written.len()], &written[..]);
                left = &left[written.len()..];
            }
            Err(error) => {
                assert_eq!(Message::parse(left), Err(error));
                is_over = true;
            }
        }
    }
    assert!(is_over || left.first().is_none_or(|first| *first == 0), "padding");
}

/// With a valid magic number, version and checksum.
pub(crate) fn sealed(data: &[u8], body_bytes: usize) -> Option<Vec<u8>> {
    let mut bytes = data.get(..BODY_AT + body_bytes)?.to_vec();
    bytes[..3].copy_from_slice(b"GS\x04");
    let checksum = crc32c(&bytes).to_be_bytes();
    bytes.extend(checksum);
    Some(bytes)
}

/// Also with the present version.
pub(crate) fn tag(data: &[u8]) {
    try_tag(data);
    if let [first, rest @ ..] = data {
        try_tag(&[&[0x40 | *first & 1], rest].concat());
    }
}

fn try_tag(data: &[u8]) {
    match Tag::parse(data) {
        Ok((tag, payload)) => {
            let written = tag.to_bytes();
            assert_eq!(written[..], data[..tag.length()]);
            assert_eq!(payload, &data[tag.length()..]);
            assert_eq!(tag.header().to_bytes()[..], data[..HEADER_BYTES]);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn crc32c(bytes: &[u8]) -> u32 {
    let shift = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), shift))
}
