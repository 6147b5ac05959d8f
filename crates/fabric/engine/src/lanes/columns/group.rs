//! Branch-free switch allocation for up to 64 switches at once: the separable, output-first,
//! iterative allocator of [`crate::lanes::crossbar`].
//!
//! ```text
//!   requested   input 0:  output 0 1 2 ...     one bit per switch: a lane of the input can send
//!                                              to the output
//!   turn        input 0:  output 0 1 2 ...     the input comes after the last input matched with
//!                                              the output
//!   iteration   each output grants the first input in turn; each input accepts one lane of the
//!               outputs that granted it
//! ```
//!
//! Another iteration is needed only if an input received two grants. Otherwise all grants were
//! accepted, and every output with requests is matched. Allocators whose inputs select outputs by
//! round robin ([`Allocator`]) accept other grants, run a different number of iterations, and may
//! move pointers only after the first iteration. With input-first allocators, each input requests
//! only one output.
//!
//! Invariant: for each lane that holds an output lane, `towards` marks the output of that output
//! lane.

use super::column::Column;
use super::turn::{first_in_turn, move_on, round_robin};
use crate::lanes::queues::Coming;
use gingham_net::Allocator;

pub(crate) const RADIX_MAX: usize = 16;

pub(crate) type Row = [u64; RADIX_MAX];

#[derive(Clone, Debug)]
pub(crate) struct Group<const L: usize> {
    pub(crate) inputs: Vec<Input>,
    pub(crate) put: [[u64; L]; RADIX_MAX],
    pub(crate) heads: Heads<L>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    pub(crate) may: u16,
    pub(crate) level: u16,
    pub(crate) onward: Coming,
}

impl Head {
    #[inline]
    pub(crate) fn new(may: u16, level: usize, onward: Coming) -> Self {
        Self { may, level: u16::try_from(level).expect("levels are few"), onward }
    }
}

/// Heads, indexed by requester (input times `L`, plus lane) and switch.
#[derive(Clone, Debug)]
pub(crate) struct Heads<const L: usize>(Box<[[[Head; 64]; L]; RADIX_MAX]>);

impl<const L: usize> Heads<L> {
    pub(crate) fn new() -> Self {
        let inputs = vec![[[Head::new(0, 0, Coming::none()); 64]; L]; RADIX_MAX];
        Self(inputs.try_into().expect("there is one for each input"))
    }

    #[inline(always)]
    pub(crate) fn get(&self, asker: usize, bit: usize) -> &Head {
        debug_assert!(asker < RADIX_MAX * L && bit < 64, "a switch has this lane");
        &self.0.as_flattened()[asker & (RADIX_MAX * L - 1)][bit & 63]
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, asker: usize, bit: usize, head: Head) {
        debug_assert!(asker < RADIX_MAX * L && bit < 64, "a switch has this lane");
        self.0.as_flattened_mut()[asker & (RADIX_MAX * L - 1)][bit & 63] = head;
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Input {
    turn: Row,
    /// Round-robin pointer over outputs, if inputs select outputs by round robin: the outputs after
    /// the last matched output.
    outputs_after: Row,
    requested: Row,
    matched: Row,
}

impl<const L: usize> Group<L> {
    pub(crate) fn new(radix: usize) -> Self {
        let input = Input {
            turn: [u64::MAX; RADIX_MAX],
            outputs_after: [u64::MAX; RADIX_MAX],
            requested: [0; RADIX_MAX],
            matched: [0; RADIX_MAX],
        };
        Self { inputs: vec![input; radix], put: [[0; L]; RADIX_MAX], heads: Heads::new() }
    }

    #[inline(always)]
    pub(crate) fn allocate(&mut self, columns: &mut [Column<L>], allocator: Allocator) {
        match self.inputs.len() {
            0..=4 => self.allocate_of::<4>(columns, allocator),
            5 => self.allocate_of::<5>(columns, allocator),
            6 => self.allocate_of::<6>(columns, allocator),
            7..=8 => self.allocate_of::<8>(columns, allocator),
            _ => self.allocate_of::<RADIX_MAX>(columns, allocator),
        }
    }

    #[inline(always)]
    fn allocate_of<const N: usize>(&mut self, columns: &mut [Column<L>], allocator: Allocator) {
        if !self.request::<N>(columns) {
            return;
        }
        let in_turn = allocator.takes_outputs_in_turn();
        if !in_turn {
            while self.iterate::<N>(columns, false) {}
            return self.move_pointers::<N>();
        }
        if allocator.is_input_first() {
            for input in &mut self.inputs {
                let requested = row::<N>(&mut input.requested);
                *requested = first_in_turn(requested, row(&mut input.outputs_after));
            }
        }
        let mut goes_on = self.iterate::<N>(columns, true);
        for input in &mut self.inputs {
            move_on(row::<N>(&mut input.outputs_after), row(&mut input.matched));
        }
        self.move_pointers::<N>();
        let mut iterations = 1;
        while goes_on && iterations < allocator.iterations() {
            goes_on = self.iterate::<N>(columns, true);
            iterations += 1;
        }
        for input in &mut self.inputs {
            input.matched = [0; RADIX_MAX];
        }
    }

    #[inline(always)]
    fn move_pointers<const N: usize>(&mut self) {
        let mut any = [0; N];
        for input in &self.inputs {
            for output in 0..N {
                any[output] |= input.matched[output];
            }
        }
        let mut passed = [0; N];
        for input in &mut self.inputs {
            for output in 0..N {
                input.turn[output] = input.turn[output] & !any[output] | passed[output];
                passed[output] |= input.matched[output];
                input.matched[output] = 0;
            }
        }
    }

    #[inline(always)]
    fn request<const N: usize>(&mut self, columns: &[Column<L>]) -> bool {
        let mut any_able = 0;
        for (input, column) in self.inputs.iter_mut().zip(columns) {
            let mut requested = [0; N];
            for lane in 0..L {
                let able = column.able[lane];
                any_able |= able;
                for output in 0..N {
                    requested[output] |= able & column.towards[lane][output];
                }
            }
            input.requested[..N].copy_from_slice(&requested);
        }
        any_able != 0
    }

    #[inline(always)]
    fn iterate<const N: usize>(&mut self, columns: &mut [Column<L>], by_output: bool) -> bool {
        let mut any_onward = [0; N];
        for input in &self.inputs {
            for output in 0..N {
                any_onward[output] |= input.requested[output] & input.turn[output];
            }
        }
        let (mut found, mut taken, mut any_twice) = ([0; N], [0; N], 0);
        for (input, column) in self.inputs.iter_mut().zip(columns) {
            let mut grants = [0; N];
            for output in 0..N {
                let is_turn = input.turn[output] | !any_onward[output];
                grants[output] = input.requested[output] & is_turn & !found[output];
                found[output] |= grants[output];
            }
            any_twice |= input.accept(&mut grants, column, by_output);
            for output in 0..N {
                taken[output] |= grants[output];
            }
        }
        if any_twice != 0 {
            for input in &mut self.inputs {
                for output in 0..N {
                    input.requested[output] &= !taken[output];
                }
            }
        }
        any_twice != 0
    }
}

impl Input {
    /// Accepts one grant for a lane of the input, and removes all other grants. Returns the
    /// switches with more than one grant.
    #[inline(always)]
    fn accept<const N: usize, const L: usize>(
        &mut self,
        grants: &mut [u64; N],
        column: &mut Column<L>,
        by_output: bool,
    ) -> u64 {
        let granted = grants.iter().fold(0, |any, grant| any | grant);
        if granted == 0 {
            return 0;
        }
        let twice = several(grants);
        if by_output && twice != 0 {
            *grants = first_in_turn(grants, row(&mut self.outputs_after));
        }
        let mut lanes = [0; L];
        for lane in 0..L {
            let mut may = 0;
            for output in 0..N {
                may |= grants[output] & column.towards[lane][output];
            }
            lanes[lane] = may & column.able[lane];
        }
        let first = round_robin(&lanes, &mut column.input_after);
        for lane in 0..L {
            column.crossed[lane] |= first[lane];
        }
        if twice != 0 {
            for output in 0..N {
                let mut crossing = 0;
                for lane in 0..L {
                    crossing |= first[lane] & column.towards[lane][output];
                }
                grants[output] &= crossing;
            }
        }
        for output in 0..N {
            self.matched[output] |= grants[output];
            self.requested[output] &= !granted;
        }
        twice
    }
}

/// Returns the bits that are set in more than one word. Each step halves the list, which lets wide
/// registers combine several words at once.
#[inline(always)]
fn several<const N: usize>(words: &[u64; N]) -> u64 {
    let (mut once, mut twice) = (*words, [0; N]);
    let mut left = N;
    while left > 1 {
        let half = left.div_ceil(2);
        for number in 0..left - half {
            twice[number] |= twice[number + half] | once[number] & once[number + half];
            once[number] |= once[number + half];
        }
        left = half;
    }
    twice[0]
}

#[inline(always)]
fn row<const N: usize>(row: &mut Row) -> &mut [u64; N] {
    row.first_chunk_mut().expect("no switch has more ports")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::{Purpose, Stream};

    #[test]
    fn bits_set_in_several_words_are_found() {
        fn check<const N: usize>(draw: &mut Stream) {
            let words: [u64; N] =
                std::array::from_fn(|_| draw.below(u64::MAX) & draw.below(u64::MAX));
            let several = several(&words);
            for bit in 0..64 {
                let count = words.iter().filter(|word| *word >> bit & 1 == 1).count();
                assert_eq!(several >> bit & 1 == 1, count > 1);
            }
        }
        let mut draw = Stream::new(1, "words", Purpose::Shuffle);
        for _ in 0..200 {
            check::<1>(&mut draw);
            check::<5>(&mut draw);
            check::<6>(&mut draw);
            check::<8>(&mut draw);
            check::<16>(&mut draw);
        }
    }
}
