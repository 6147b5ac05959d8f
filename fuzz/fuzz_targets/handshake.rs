//! Any sequence of operations on handshakes of two peers.
#![no_main]

#[path = "../../crates/stripe/stripe-udp/tests/hostile/handshake.rs"]
mod handshake;
#[path = "../../crates/stripe/stripe-udp/tests/hostile/script.rs"]
mod script;

libfuzzer_sys::fuzz_target!(|data: &[u8]| handshake::run(data));
