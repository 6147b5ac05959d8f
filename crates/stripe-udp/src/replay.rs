//! Which numbers have been used: none is taken twice.
//!
//! ```text
//!   too old: taken as used  |  a bit for each of the last 4,032 or more  |  new
//!   ------------------------+--------------------------------------------+----->
//!                                                                       top
//! ```
//!
//! Source: RFC 6479 (words are cleared as the window moves on, nothing is shifted).
//!
//! Invariant: a number that was marked is never fresh again.

/// Words of 64 numbers. A channel keeps the order of what it carries but for what its network
/// mixes: WireGuard has 8,192 numbers.
const WORDS: usize = 64;
const WORD_BITS: u64 = u64::BITS as u64;

/// The numbers of one kind on one channel.
#[derive(Clone, Debug)]
pub(crate) struct ReplayWindow {
    /// One more than the highest number that was marked.
    top: u64,
    words: [u64; WORDS],
}

impl Default for ReplayWindow {
    fn default() -> Self {
        Self { top: 0, words: [0; WORDS] }
    }
}

impl ReplayWindow {
    /// Whether a number has not been marked, as far as is known.
    pub(crate) fn is_fresh(&self, number: u64) -> bool {
        number >= self.top || {
            let words_behind = self.top / WORD_BITS - number / WORD_BITS;
            words_behind < WORDS as u64 && self.words[place(number)] & bit(number) == 0
        }
    }

    /// A number is used.
    pub(crate) fn mark(&mut self, number: u64) {
        if number >= self.top {
            let (last, next) = (self.top / WORD_BITS, (number + 1) / WORD_BITS);
            for word in (last + 1..=next).take(WORDS) {
                self.words[place(word * WORD_BITS)] = 0;
            }
            self.top = number + 1;
        }
        self.words[place(number)] |= bit(number);
    }
}

fn place(number: u64) -> usize {
    usize::try_from(number / WORD_BITS % WORDS as u64).expect("a place")
}

const fn bit(number: u64) -> u64 {
    1 << (number % WORD_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_fresh_once() {
        let mut window = ReplayWindow::default();
        for number in [0, 5, 3, 63, 64, 127, 128, 4_000, 129, 1 << 40, (1 << 40) - 3_000] {
            assert!(window.is_fresh(number), "{number}");
            window.mark(number);
            assert!(!window.is_fresh(number), "{number}");
        }
        assert!(window.is_fresh((1 << 40) - 4_032));
        assert!(!window.is_fresh((1 << 40) - 4_096));
        assert!(!window.is_fresh(4));
    }

    /// Against a set, in an order that jumps to and fro.
    #[test]
    fn nothing_is_taken_twice_whatever_the_order() {
        let (mut window, mut taken) = (ReplayWindow::default(), std::collections::BTreeSet::new());
        let mut number = 0_u64;
        for step in 0..20_000_u64 {
            number = (number + step * 2_654_435_761 % 151).saturating_sub(step * 40_503 % 139);
            if window.is_fresh(number) {
                assert!(taken.insert(number), "{number} twice");
                window.mark(number);
            } else {
                assert!(taken.contains(&number) || number + 4_032 < window.top);
            }
        }
    }
}
