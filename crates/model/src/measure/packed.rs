//! Counts of all channels in one section, packed.
//!
//! ```text
//!   channel 7: 20 data flits, 300 flit-ps     lengths 1 0 0 0 2 0, then 20, then 300 in two bytes
//!   channels 8 to 90: nothing                 lengths 0 0 0 0 0 0, then 83 in eight bytes
//! ```
//!
//! A section of a large fabric is mostly small numbers and zeros. So a channel is three bytes that
//! say how long each of its counts is, four bits each, and those, the lowest byte first, without zeros
//! at their end; a sum over flits and time is two words. Channels in a row with nothing are one entry.
//! It is exact, however large a count, and written without a branch a byte.

use super::ChannelCount;

/// Words of the counts of a channel.
const WORDS: usize = 6;
/// Bytes that tell how long they are.
const HEADER: usize = WORDS / 2;
const WORD: usize = size_of::<u64>();
/// By length: the bits beyond a number of so many bytes.
const BEYOND: [u64; WORD + 1] = {
    let mut bits = [u64::MAX; WORD + 1];
    let mut length = 1;
    while length < WORD {
        bits[length] = u64::MAX << (8 * length);
        length += 1;
    }
    bits[WORD] = 0;
    bits
};

/// What every channel did in a section, by channel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Packed {
    bytes: Vec<u8>,
    /// Channels with nothing that are not written yet.
    idle: u64,
}

impl Packed {
    /// No channels yet, with room for as much as another section took.
    pub(super) fn like(other: Option<&Self>) -> Self {
        let bytes = Vec::with_capacity(other.map_or(0, |other| other.bytes.len()));
        Self { bytes, idle: 0 }
    }

    /// Takes the next channel.
    #[inline]
    pub(super) fn push(&mut self, count: &ChannelCount) {
        if *count == ChannelCount::default() {
            self.idle += 1;
        } else {
            self.write_idle();
            self.write(words(count));
        }
    }

    /// No more channels follow.
    pub(super) fn finish(mut self) -> Self {
        self.write_idle();
        self
    }

    fn write_idle(&mut self) {
        if self.idle > 0 {
            self.bytes.extend_from_slice(&[0; HEADER]);
            self.bytes.extend_from_slice(&self.idle.to_le_bytes());
            self.idle = 0;
        }
    }

    fn write(&mut self, words: [u64; WORDS]) {
        let mut entry = [0; HEADER + WORDS * WORD];
        let (mut header, mut end) = (0_u32, HEADER);
        for (place, word) in words.into_iter().enumerate() {
            // A word is written whole, and the next over the zeros at its end.
            entry[end..end + WORD].copy_from_slice(&word.to_le_bytes());
            let length = (u64::BITS - word.leading_zeros()).div_ceil(u8::BITS);
            header |= length << (4 * place);
            end += length as usize;
        }
        entry[..HEADER].copy_from_slice(&header.to_le_bytes()[..HEADER]);
        self.bytes.extend_from_slice(&entry[..end]);
    }

    /// The channels in order.
    pub(super) fn read(&self) -> Reader<'_> {
        Reader { bytes: &self.bytes, idle: 0 }
    }
}

/// Reads a section channel by channel.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// Channels with nothing that come before the next byte.
    idle: u64,
}

impl Reader<'_> {
    /// The next channel. Panics behind the last.
    pub(super) fn next(&mut self) -> ChannelCount {
        if self.idle == 0 {
            let header = self.number(HEADER);
            if header != 0 {
                return self.read(header);
            }
            self.idle = self.number(WORD);
        }
        self.idle -= 1;
        ChannelCount::default()
    }

    fn read(&mut self, header: u64) -> ChannelCount {
        let mut words = [0; WORDS];
        for (place, word) in words.iter_mut().enumerate() {
            *word = self.number((header >> (4 * place) & 0xf) as usize);
        }
        let [data_flits, control_flits, stops, stopped_ps, low, high] = words;
        let occupancy_flit_ps = u128::from(high) << u64::BITS | u128::from(low);
        ChannelCount { data_flits, control_flits, stops, stopped_ps, occupancy_flit_ps }
    }

    /// A number of so many bytes.
    #[inline]
    fn number(&mut self, length: usize) -> u64 {
        let number = if let Some(word) = self.bytes.first_chunk::<WORD>() {
            // What a whole word has beyond it belongs to the next number.
            u64::from_le_bytes(*word) & !BEYOND[length]
        } else {
            let mut word = [0; WORD];
            word[..length].copy_from_slice(&self.bytes[..length]);
            u64::from_le_bytes(word)
        };
        self.bytes = &self.bytes[length..];
        number
    }
}

fn words(count: &ChannelCount) -> [u64; WORDS] {
    let ChannelCount { data_flits, control_flits, stops, stopped_ps, occupancy_flit_ps } = *count;
    #[expect(clippy::cast_possible_truncation, reason = "it is taken apart")]
    let [low, high] = [occupancy_flit_ps as u64, (occupancy_flit_ps >> u64::BITS) as u64];
    [data_flits, control_flits, stops, stopped_ps, low, high]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed(counts: &[ChannelCount]) -> Packed {
        let mut packed = Packed::default();
        for count in counts {
            packed.push(count);
        }
        packed.finish()
    }

    fn any_count() -> impl Strategy<Value = ChannelCount> {
        let number = || prop_oneof![Just(0), 0..1_000_u64, any::<u64>()];
        let wide = prop_oneof![Just(0), 0..1_000_u128, any::<u128>()];
        (number(), number(), number(), number(), wide).prop_map(
            |(data_flits, control_flits, stops, stopped_ps, occupancy_flit_ps)| ChannelCount {
                data_flits,
                control_flits,
                stops,
                stopped_ps,
                occupancy_flit_ps,
            },
        )
    }

    #[test]
    fn a_section_by_hand() {
        let busy =
            ChannelCount { data_flits: 20, occupancy_flit_ps: 300, ..ChannelCount::default() };
        let idle = ChannelCount::default();
        let bytes = packed(&[idle, busy, idle, idle, idle]).bytes;
        // Lengths 1 and 2 at places 0 and 4; 300 = 256 + 44.
        let before = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        let after = [0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(bytes, [&before[..], &[0x01, 0x00, 0x02, 20, 44, 1], &after[..]].concat());
        assert_eq!(packed(&vec![idle; 1_000]).bytes.len(), 11);
    }

    proptest! {
        #[test]
        fn what_was_packed_is_read(counts in proptest::collection::vec(
            prop_oneof![any_count(), Just(ChannelCount::default())], 0..50)) {
            let section = packed(&counts);
            let mut reader = section.read();
            for count in &counts {
                prop_assert_eq!(&reader.next(), count);
            }
        }
    }
}
