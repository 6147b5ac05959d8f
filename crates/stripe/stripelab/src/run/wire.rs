//! Message lengths, marker numbers and corruption.

use gingham_fairq::Number;
use gingham_stripe::{Kind as MessageKind, Message};

pub(super) fn small(channel: usize) -> u8 {
    u8::try_from(channel).expect("at most 64 channels")
}

pub(super) fn length_of(message: &Message) -> u32 {
    u32::try_from(message.to_bytes().len()).expect("messages are short")
}

pub(super) const fn marker_number(message: &Message) -> Option<Number> {
    match message.kind {
        MessageKind::Marker(marker) => Some(marker.standing.next),
        _ => None,
    }
}

pub(super) fn damaged(message: Message, flipped_bit: Option<u64>) -> Vec<u8> {
    let mut bytes = message.to_bytes().to_vec();
    if let Some(bit) = flipped_bit {
        let byte = usize::try_from(bit / 8).expect("messages are short");
        bytes[byte] ^= 0x80 >> (bit % 8);
    }
    bytes
}
