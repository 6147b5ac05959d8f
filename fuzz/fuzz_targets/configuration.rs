//! Any text as a file of the daemon.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gingham_striped::any_configuration(data));
