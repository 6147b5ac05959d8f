//! Chunk header.
//!
//! ```text
//!   free      number (u64) | length (u32)
//!   strict                   length (u32)      order determined by the scheduler
//! ```
//!
//! A length of zero marks the end of the stream.

const NUMBER_BYTES: usize = 8;
const LENGTH_BYTES: usize = 4;
pub(crate) const HEADER_BYTES_MAX: usize = NUMBER_BYTES + LENGTH_BYTES;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkHeader {
    /// Sequence number; `None` in strict order.
    pub(crate) number: Option<u64>,
    pub(crate) length_bytes: u32,
}

impl ChunkHeader {
    pub(crate) const fn bytes(is_strict: bool) -> usize {
        if is_strict { LENGTH_BYTES } else { HEADER_BYTES_MAX }
    }

    pub(crate) fn write_to(self, buffer: &mut Vec<u8>) {
        buffer.extend(self.number.into_iter().flat_map(u64::to_be_bytes));
        buffer.extend(self.length_bytes.to_be_bytes());
    }

    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let (number, length) = bytes.split_at(bytes.len() - LENGTH_BYTES);
        let number = number.first_chunk().map(|number| u64::from_be_bytes(*number));
        let length = length.first_chunk().expect("it was split there");
        Self { number, length_bytes: u32::from_be_bytes(*length) }
    }
}
