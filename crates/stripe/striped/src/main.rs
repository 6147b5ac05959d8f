//! The program `striped`. Its code is in the library, which the fuzzer also links.

use std::process::ExitCode;

/// Allocator that overwrites freed memory with zeros, so that no key remains in it.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: zeroizing_alloc::ZeroAlloc<std::alloc::System> =
    zeroizing_alloc::ZeroAlloc(std::alloc::System);

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    gingham_striped::run()
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::print_stderr, reason = "a program says why it ends")]
fn main() -> ExitCode {
    eprintln!("striped: TUN devices are Linux's: it runs there only");
    ExitCode::from(6)
}
