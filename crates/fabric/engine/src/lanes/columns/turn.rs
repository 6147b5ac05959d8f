//! Branch-free round robin among the lanes of a port, for 64 switches at once.

/// Selects a lane in each switch. `after` marks the lanes above each switch's last served lane; it
/// is updated in switches with a candidate.
#[inline(always)]
pub(crate) fn round_robin<const L: usize>(lanes: &[u64; L], after: &mut [u64; L]) -> [u64; L] {
    let first = first_in_turn(lanes, after);
    move_on(after, &first);
    first
}

#[inline(always)]
pub(crate) fn first_in_turn<const N: usize>(of: &[u64; N], after: &[u64; N]) -> [u64; N] {
    let any_onward = (0..N).fold(0, |any, number| any | of[number] & after[number]);
    let mut first = [0; N];
    let mut found = 0;
    for number in 0..N {
        first[number] = of[number] & (after[number] | !any_onward) & !found;
        found |= first[number];
    }
    first
}

#[inline(always)]
pub(crate) fn move_on<const N: usize>(after: &mut [u64; N], served: &[u64; N]) {
    let any = served.iter().fold(0, |any, one| any | one);
    let mut passed = 0;
    for number in 0..N {
        after[number] = after[number] & !any | passed;
        passed |= served[number];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::layout;
    use gingham_kernel::{Purpose, Stream};

    #[test]
    fn columnar_round_robin_matches_a_single_port() {
        let mut draw = Stream::new(1, "turns", Purpose::Shuffle);
        let mut after = [u64::MAX; 8];
        let mut alone = [u16::MAX; 64];
        for _ in 0..2_000 {
            let mut lanes = [0; 8];
            for lane in &mut lanes {
                *lane = draw.below(u64::MAX) & draw.below(u64::MAX);
            }
            let first = round_robin(&lanes, &mut after);
            for (bit, alone) in alone.iter_mut().enumerate() {
                let column = |words: &[u64; 8]| {
                    let bits = words.iter().enumerate();
                    bits.fold(0, |set, (lane, word)| set | u16::from(word >> bit & 1 == 1) << lane)
                };
                let able = column(&lanes);
                let expected = if able == 0 { 0 } else { 1 << layout::round_robin(able, alone) };
                assert_eq!(column(&first), expected);
            }
        }
    }
}
