//! Round robin among the lanes of a port, in 64 switches at once and without a branch.

/// The first, round robin, of some lanes of each switch, given those after the last that was
/// served; remembers it. Where a switch has none nothing changes.
#[inline(always)]
pub(crate) fn round_robin<const L: usize>(lanes: &[u64; L], after: &mut [u64; L]) -> [u64; L] {
    let any_onward = (0..L).fold(0, |any, lane| any | lanes[lane] & after[lane]);
    let mut first = [0; L];
    let mut found = 0;
    for lane in 0..L {
        first[lane] = lanes[lane] & (after[lane] | !any_onward) & !found;
        found |= first[lane];
    }
    let mut passed = 0;
    for lane in 0..L {
        after[lane] = after[lane] & !found | passed;
        passed |= first[lane];
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::layout;
    use gingham_kernel::{Purpose, Stream};

    /// Beside the round robin of one port.
    #[test]
    fn each_switch_serves_what_a_port_alone_would() {
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
