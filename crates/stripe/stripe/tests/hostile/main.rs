//! Hostile input: the fuzzer's corpora, and pseudo-random inputs.
//!
//! `fuzz/README.md` describes the search for more; inputs found are added to the corpus.

mod ends;
mod wire;

use std::fs;
use std::path::Path;

#[expect(clippy::print_stdout, reason = "the harness shows it if the input fails")]
fn replay(target: &str, least: usize, run: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus").join(target);
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.sort();
    assert!(paths.len() >= least, "{} inputs in {}", paths.len(), folder.display());
    for path in paths {
        let data = fs::read(&path).expect("it can be read");
        println!("{}", path.display());
        run(&data);
    }
}

/// SplitMix64, identical in every run.
#[expect(clippy::print_stdout, reason = "the harness shows it if the input fails")]
fn by_chance(inputs: u64, bytes_max: usize, run: impl Fn(&[u8])) {
    for seed in 0..inputs {
        let mut state = seed << 32;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^ (word >> 31)
        };
        let length = usize::try_from(next()).expect("64 bits") % (bytes_max + 1);
        let data: Vec<u8> = (0..length).map(|_| next().to_be_bytes()[0]).collect();
        println!("seed {seed}");
        run(&data);
    }
}

#[test]
fn corpora_are_handled() {
    replay("message", 20, wire::message);
    replay("messages", 4, wire::messages);
    replay("tag", 4, wire::tag);
    replay("ends", 100, ends::run);
}

#[test]
fn arbitrary_bytes_are_handled() {
    by_chance(20_000, 80, wire::message);
    by_chance(5_000, 300, wire::messages);
    by_chance(5_000, 20, wire::tag);
}

#[test]
fn arbitrary_operations_are_handled() {
    by_chance(1_000, 1_500, ends::run);
}
