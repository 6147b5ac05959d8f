//! Which packets are damaged, and where.
//!
//! The bits before the first damaged one are a geometric number. It is drawn once a packet: if it
//! falls within the packet, that bit is flipped, which happens with exactly 1 - (1 - e)^bits for an
//! error rate of `e` a bit. Only the first damaged bit is told: one flipped bit is what the weakest
//! checksum shall find.

use crate::Probability;
use crate::draws::{Draw, Draws};
use gingham_kernel::Purpose;

#[derive(Clone, Debug)]
pub(crate) struct Corruption {
    bit_errors: Probability,
    /// ln(1 - e), which is kept because it costs as much as all the rest.
    log_intact: f64,
    draws: Draws,
}

impl Corruption {
    pub(crate) fn new(bit_errors: Probability, seed: u64, direction: &str) -> Self {
        let draws = Draws::new(seed, direction, Purpose::Corruption);
        Self { bit_errors, log_intact: libm::log1p(-bit_errors.value()), draws }
    }

    /// The first damaged bit of a packet, if one is.
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
