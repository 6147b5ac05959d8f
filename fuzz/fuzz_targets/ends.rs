//! Any sequence of operations on both ends.
#![no_main]

#[path = "../../crates/stripe/stripe/tests/hostile/ends.rs"]
mod ends;
#[path = "../../crates/stripe/stripe/tests/hostile/wire.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod wire;

libfuzzer_sys::fuzz_target!(|data: &[u8]| ends::run(data));
