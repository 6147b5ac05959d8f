//! Hostile input to an end: the fuzzer's corpora, and random input.
//!
//! `fuzz/README.md` describes how to search for more. `GINGHAM_FUZZ_DATAGRAMS` sets the number of
//! random datagrams (100,000).
#![cfg(target_os = "linux")]

mod datagrams;
mod handshake;
mod script;
#[path = "../../../stripe/tests/hostile/wire.rs"]
#[expect(dead_code, reason = "shared with the tests of the protocol")]
mod wire;

use std::fs;
use std::path::Path;

use datagrams::Target;
use script::Script;

#[expect(clippy::print_stdout, reason = "the harness shows it if the input fails")]
fn replay(target: &str, least: usize, run: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus").join(target);
    let entries =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.sort();
    assert!(paths.len() >= least, "{} inputs in {}", paths.len(), folder.display());
    for path in paths {
        println!("{}", path.display());
        run(&fs::read(&path).expect("it can be read"));
    }
}

/// SplitMix64 with a fixed seed.
fn by_chance(state: &mut u64, count: usize) -> Vec<u8> {
    let mut next = || {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)).to_be_bytes()
    };
    let mut bytes: Vec<u8> = (0..count.div_ceil(8)).flat_map(|_| next()).collect();
    bytes.truncate(count);
    bytes
}

#[expect(clippy::disallowed_methods, reason = "a test run by hand takes its size from outside")]
fn datagrams_asked() -> u64 {
    let asked = std::env::var("GINGHAM_FUZZ_DATAGRAMS");
    asked.map_or(100_000, |asked| asked.parse().expect("a whole number"))
}

#[test]
fn corpora_are_handled() {
    replay("handshake", 4, handshake::run);
    replay("datagrams", 4, datagrams::run);
}

#[test]
#[expect(clippy::print_stdout, reason = "the harness shows it if the input fails")]
fn arbitrary_handshakes_are_handled() {
    for seed in 0..200 {
        println!("seed {seed}");
        handshake::run(&by_chance(&mut (seed << 32), 400));
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the harness shows it if the input fails")]
fn arbitrary_datagrams_are_handled() {
    let (asked, mut given, mut came, mut seed) = (datagrams_asked(), 0, 0, 0_u64);
    while given < asked {
        println!("seed {seed}");
        let mut target = Target::new(seed.to_be_bytes()[7]);
        let mut state = seed << 32;
        // A long life for each target: its state grows with the input.
        for _ in 0..200 {
            let data = by_chance(&mut state, 4_000);
            let mut script = Script(&data);
            while !script.0.is_empty() {
                target.step(&mut script);
            }
        }
        target.turn();
        given += target.datagrams;
        came += target.came;
        seed += 1;
    }
    println!("{given} datagrams, of which {came} came out");
    assert!(came > given / 100, "{came} of {given}");
}
