//! Bit errors: the position of a packet's first damaged bit.
//!
//! The number of intact bits before the first damaged bit has a geometric distribution and is drawn
//! once per packet. At a bit error rate `e`, a packet is damaged with probability 1 - (1 - e)^bits.
//! Flipping only the first damaged bit suffices, as every checksum detects a single flipped bit.

use crate::Probability;
use crate::draws::{Draw, Draws};
use gingham_kernel::Purpose;

#[derive(Clone, Debug)]
pub(crate) struct Corruption {
    bit_errors: Probability,
    log_intact: f64,
    draws: Draws,
}

impl Corruption {
    pub(crate) fn new(bit_errors: Probability, seed: u64, direction: &str) -> Self {
        let draws = Draws::new(seed, direction, Purpose::Corruption);
        Self { bit_errors, log_intact: libm::log1p(-bit_errors.value()), draws }
    }

    pub(crate) fn first_flipped_bit(&self, draw: Draw, length_bytes: u32) -> Option<u64> {
        if !self.bit_errors.is_possible() {
            return None;
        }
        let intact_bits = libm::floor(libm::log1p(-self.draws.unit(draw)) / self.log_intact);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "non-negative; saturation lies far behind the end of any packet"
        )]
        let bit = intact_bits as u64;
        (bit < u64::from(length_bytes) * 8).then_some(bit)
    }
}
