//! Counts of all channels in one section, packed.
//!
//! ```text
//!   channel 7: 20 data flits, 300 flit-ps     mask 0b10001, 20, 300 in two bytes
//!   channels 8 to 90: nothing                 mask 0, 82
//! ```
//!
//! A section of a large fabric is mostly small numbers and zeros. So a channel is a byte that says
//! which of its counts are not zero, and those, each in as few bytes as it needs (LEB128: seven bits a
//! byte, the lowest first, the highest bit set in all but the last). Channels in a row with nothing
//! are one byte and their number less one. It is exact, however large a count.

use super::ChannelCount;

/// Counts of a channel.
const COUNTS: usize = 5;

/// What every channel did in a section, by channel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Packed {
    bytes: Vec<u8>,
    /// Channels with nothing that are not written yet.
    idle: u64,
}

impl Packed {
    /// Takes the next channel.
    pub(super) fn push(&mut self, count: &ChannelCount) {
        let counts = counts(count);
        let mask = (0..COUNTS).filter(|place| counts[*place] > 0).fold(0, |mask, p| mask | 1 << p);
        if mask == 0 {
            self.idle += 1;
            return;
        }
        self.write_idle();
        self.bytes.push(mask);
        for count in counts.into_iter().filter(|count| *count > 0) {
            write(&mut self.bytes, count);
        }
    }

    /// No more channels follow.
    pub(super) fn finish(mut self) -> Self {
        self.write_idle();
        self.bytes.shrink_to_fit();
        self
    }

    fn write_idle(&mut self) {
        if let Some(more) = self.idle.checked_sub(1) {
            self.bytes.push(0);
            write(&mut self.bytes, more.into());
            self.idle = 0;
        }
    }

    /// The channels in order.
    pub(super) fn read(&self) -> Reader<'_> {
        Reader { bytes: self.bytes.iter(), idle: 0 }
    }
}

/// Reads a section channel by channel.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    bytes: std::slice::Iter<'a, u8>,
    /// Channels with nothing that come before the next byte.
    idle: u128,
}

impl Reader<'_> {
    /// The next channel. Panics behind the last.
    pub(super) fn next(&mut self) -> ChannelCount {
        if let Some(left) = self.idle.checked_sub(1) {
            self.idle = left;
            return ChannelCount::default();
        }
        let mask = self.byte();
        if mask == 0 {
            self.idle = self.number();
            return ChannelCount::default();
        }
        let mut counts = [0; COUNTS];
        for (place, count) in counts.iter_mut().enumerate() {
            if mask >> place & 1 == 1 {
                *count = self.number();
            }
        }
        let [data_flits, control_flits, stops, stopped_ps] =
            [0, 1, 2, 3].map(|place| u64::try_from(counts[place]).expect("it was one"));
        let occupancy_flit_ps = counts[4];
        ChannelCount { data_flits, control_flits, stops, stopped_ps, occupancy_flit_ps }
    }

    fn number(&mut self) -> u128 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= u128::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }

    fn byte(&mut self) -> u8 {
        *self.bytes.next().expect("there are as many channels as were taken")
    }
}

fn counts(count: &ChannelCount) -> [u128; COUNTS] {
    let ChannelCount { data_flits, control_flits, stops, stopped_ps, occupancy_flit_ps } = *count;
    let [data_flits, control_flits, stops, stopped_ps] =
        [data_flits, control_flits, stops, stopped_ps].map(u128::from);
    [data_flits, control_flits, stops, stopped_ps, occupancy_flit_ps]
}

fn write(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        bytes.push(u8::try_from(number & 0x7f).expect("seven bits") | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).expect("seven bits"));
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
        // 300 = 2 x 128 + 44, which is 0b10_1100.
        assert_eq!(bytes, [0, 0, 0b10001, 20, 0b1010_1100, 2, 0, 2]);
        let all_idle = packed(&vec![idle; 1_000]).bytes;
        assert_eq!(all_idle, [0, 0b1110_0111, 7], "999 = 7 x 128 + 103, which is 0b110_0111");
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
