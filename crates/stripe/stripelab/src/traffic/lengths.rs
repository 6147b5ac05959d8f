//! Packet lengths of a source.

use crate::plan::Lengths;
use gingham_kernel::Stream;

#[derive(Debug)]
pub(super) struct Drawn {
    lengths: Lengths,
    words: Stream,
    next: usize,
}

impl Drawn {
    pub(super) const fn new(lengths: Lengths, words: Stream) -> Self {
        Self { lengths, words, next: 0 }
    }

    pub(super) fn draw(&mut self) -> u32 {
        match &self.lengths {
            Lengths::InTurn(lengths) => {
                let length = lengths[self.next];
                self.next = (self.next + 1) % lengths.len();
                length
            }
            Lengths::Mixture(parts) => {
                let drawn = self.words.unit();
                let part = parts.iter().find(|(_, share)| drawn < *share).or(parts.last());
                part.expect("a mixture has a part").0
            }
            Lengths::Uniform(from, to) => {
                let drawn = self.words.below(u64::from(to - from) + 1);
                from + u32::try_from(drawn).expect("at most the longest")
            }
        }
    }

    pub(super) fn in_turn(&self) -> usize {
        match &self.lengths {
            Lengths::InTurn(lengths) => lengths.len(),
            Lengths::Mixture(_) | Lengths::Uniform(..) => usize::MAX,
        }
    }
}
