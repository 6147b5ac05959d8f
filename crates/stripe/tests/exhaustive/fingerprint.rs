//! What tells states apart: 128 bits of what `Debug` shows of them.
//!
//! The ends are neither `Hash` nor `Eq`, and what is derived of them for a test alone would stand in
//! a score of types of three crates. `Debug` is derived on all of them, shows every field, and one
//! that is added shows without anybody thinking of it. The text is written nowhere: its parts are
//! folded as they come.
//!
//! Left out is what nothing depends on: what has been counted, and what never changes. So states
//! that differ in their history alone are one.
//!
//! Invariant: what has the same text but for these fields has the same fingerprint.

use std::fmt::{self, Debug, Write};

/// Counts that nothing reads; schedulers and options of the start; the numbers of channels, which
/// stay as they are where every message goes on its own channel.
const LEFT_OUT: [&str; 5] = ["reception", "sending", "initial", "options", "numbering"];

const SEED: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FACTOR: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

struct Fold {
    state: u128,
    /// Within a field that is left out, how many braces are open.
    skipped: Option<u32>,
}

impl Fold {
    fn word(&mut self, word: u64) {
        self.state = (self.state ^ u128::from(word)).wrapping_mul(FACTOR);
        self.state ^= self.state >> 67;
    }

    /// Goes on within a field that is left out; its last brace ends it.
    fn skip(&mut self, text: &str, mut open: u32) {
        for byte in text.bytes() {
            match byte {
                b'{' => open += 1,
                b'}' => open -= 1,
                _ => {}
            }
        }
        self.skipped = (open > 0 || !text.contains('}')).then_some(open);
    }
}

impl Write for Fold {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if let Some(open) = self.skipped {
            self.skip(text, open);
        } else if LEFT_OUT.contains(&text) {
            self.skipped = Some(0);
        } else {
            self.word(text.len() as u64);
            for chunk in text.as_bytes().chunks(8) {
                let mut bytes = [0; 8];
                bytes[..chunk.len()].copy_from_slice(chunk);
                self.word(u64::from_le_bytes(bytes));
            }
        }
        Ok(())
    }
}

/// The fingerprint of something.
pub(crate) fn of(value: &impl Debug) -> u128 {
    let mut fold = Fold { state: SEED, skipped: None };
    write!(fold, "{value:?}").expect("nothing refuses text");
    assert!(fold.skipped.is_none(), "what is left out ends");
    fold.state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug)]
    struct Counts {
        _seen: u32,
    }

    #[derive(Clone, Copy, Debug)]
    struct End {
        _now: u64,
        reception: Counts,
        after: u32,
    }

    #[test]
    fn all_but_what_is_left_out_tells_states_apart() {
        let end = End { _now: 7, reception: Counts { _seen: 1 }, after: 3 };
        assert_eq!(of(&end), of(&End { reception: Counts { _seen: 2 }, ..end }));
        assert_ne!(of(&end), of(&End { after: 4, ..end }));
        assert_ne!(of(&end), of(&End { _now: 70, ..end }));
    }
}
