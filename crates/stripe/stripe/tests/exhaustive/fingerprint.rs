//! Fingerprints of states: 128 bits of their `Debug` output.
//!
//! Deriving `Hash` and `Eq` for a test alone would affect some twenty types of three crates;
//! `Debug` is derived on all of them, and covers every field, including new ones. The text is
//! folded as it is written.
//!
//! Fields without influence are left out: counters, constants, and time measurements. States that
//! differ only in their history coincide.

use std::fmt::{self, Debug, Write};
use std::hash::{Hash, Hasher};

fn is_left_out(field: &str) -> bool {
    // Counters that are never read; grants, since memory is ample and credits are not used; initial
    // schedulers and options; channel numbers, which are constant when every message goes on its
    // own channel.
    let constant =
        matches!(field, "reception" | "sending" | "pool" | "initial" | "options" | "numbering");
    // Times, and the round trips and rates derived from them.
    let measured = matches!(
        field,
        "marker_at"
            | "sent_at"
            | "echo"
            | "received_at"
            | "received_ago_ns"
            | "held_ns"
            | "round_trip"
            | "reported"
            | "paths"
            | "now"
    );
    constant || measured
}

/// Only the pauses that end waits are this long.
pub(crate) const INSTANT_NS: u64 = 200_000_000;

const SEED: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FACTOR: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

struct Fold {
    state: u128,
    /// Number of open brackets within a field that is left out.
    skipped: Option<u32>,
    /// Whether an instant follows.
    instant: bool,
}

impl Fold {
    const NEW: Self = Self { state: SEED, skipped: None, instant: false };

    fn word(&mut self, word: u64) {
        self.state = (self.state ^ u128::from(word)).wrapping_mul(FACTOR);
        self.state ^= self.state >> 67;
    }

    fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        for chunk in text.as_bytes().chunks(8) {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(bytes));
        }
    }

    /// Up to the next field or the bracket around both.
    fn skip(&mut self, text: &str, mut open: u32) {
        let mut ends = open == 0 && text == ", ";
        for byte in text.bytes() {
            match byte {
                b'{' | b'(' | b'[' => open += 1,
                b'}' | b')' | b']' if open == 0 => ends = true,
                b'}' | b')' | b']' => open -= 1,
                _ => {}
            }
        }
        self.skipped = Some(open).filter(|_| !ends);
        if ends {
            self.text(text);
        }
    }
}

impl Write for Fold {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if let Some(open) = self.skipped {
            self.skip(text, open);
        } else if is_left_out(text) {
            self.skipped = Some(0);
        } else if let Some(number) = text.parse::<u64>().ok().filter(|_| self.instant) {
            self.word(number / INSTANT_NS);
            self.instant = false;
        } else {
            self.instant |= text == "Instant";
            self.text(text);
        }
        Ok(())
    }
}

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    fn finish(&self) -> u64 {
        unreachable!("all 128 bits are wanted")
    }
}

pub(crate) fn of(value: &impl Debug) -> u128 {
    let mut fold = Fold::NEW;
    write!(fold, "{value:?}").expect("nothing refuses text");
    assert!(fold.skipped.is_none(), "what is left out ends");
    fold.state
}

pub(crate) fn hash(value: &impl Hash) -> u128 {
    let mut fold = Fold::NEW;
    value.hash(&mut fold);
    fold.state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug)]
    #[expect(dead_code, reason = "their text is all that counts")]
    struct End {
        epoch: u32,
        reception: (u32, [Option<u32>; 2]),
        echo: u32,
        after: (u32, [Option<u32>; 2]),
    }

    #[test]
    fn fingerprint_covers_all_but_excluded_fields() {
        let end = End { epoch: 7, reception: (1, [None; 2]), echo: 3, after: (1, [None; 2]) };
        let other = (1, [Some(2), None]);
        assert_eq!(of(&end), of(&End { reception: other, echo: 4, ..end }));
        assert_ne!(of(&end), of(&End { after: other, ..end }));
        assert_ne!(of(&end), of(&End { epoch: 70, ..end }));
        assert_ne!(of(&[end, end]), of(&[end]));
    }
}
