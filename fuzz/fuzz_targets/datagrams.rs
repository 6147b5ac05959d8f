//! Any datagrams into a whole end.
#![no_main]

#[path = "../../crates/stripe/stripe-udp/tests/hostile/datagrams.rs"]
mod datagrams;
#[path = "../../crates/stripe/stripe-udp/tests/hostile/script.rs"]
#[allow(dead_code, reason = "shared with the target of handshakes")]
mod script;
#[path = "../../crates/stripe/stripe/tests/hostile/wire.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod wire;

libfuzzer_sys::fuzz_target!(|data: &[u8]| datagrams::run(data));
