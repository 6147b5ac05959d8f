//! Any bytes as a tag and what follows it.
#![no_main]

#[path = "../../crates/stripe/stripe/tests/hostile/wire.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod wire;

libfuzzer_sys::fuzz_target!(|data: &[u8]| wire::tag(data));
