//! Any text as a configuration of the daemon.
#![no_main]

#[path = "../../crates/striped/src/config.rs"]
#[allow(dead_code, unused_imports, reason = "the daemon uses the rest")]
mod config;
#[path = "../../crates/striped/src/config/hostile.rs"]
#[allow(dead_code, reason = "shared with the tests")]
mod hostile;

use config::Config;

libfuzzer_sys::fuzz_target!(|data: &[u8]| hostile::run(data));
