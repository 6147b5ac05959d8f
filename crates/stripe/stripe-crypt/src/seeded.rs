//! Deterministic randomness for reproducible tests, excluded from builds without debug assertions.

use std::cell::Cell;

#[cfg(not(debug_assertions))]
compile_error!("deterministic randomness is for tests: build without the feature told-randomness");

std::thread_local! {
    static STATE: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Seeds this thread's random bytes (SplitMix64); `None` restores those of the operating system.
pub fn seed_randomness(seed: Option<u64>) {
    STATE.set(seed);
}

pub(crate) fn fill(bytes: &mut [u8]) -> bool {
    let Some(mut state) = STATE.get() else { return false };
    for chunk in bytes.chunks_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        chunk.copy_from_slice(&(word ^ (word >> 31)).to_be_bytes()[..chunk.len()]);
    }
    STATE.set(Some(state));
    true
}
